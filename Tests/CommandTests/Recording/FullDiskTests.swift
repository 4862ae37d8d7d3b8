import Foundation
import SoraServer
import TestPrograms
import Testing

/// A disk that fills in the middle of a recording: one error, a file that plays as far as it came, and a call that goes on.
@Suite(.serialized, .timeLimit(.minutes(2))) struct FullDiskTests {
  /// How a disk is kept small.
  enum Disk: String, CaseIterable {
    /// Files may not grow beyond 300 KiB.
    case fileLimit
    /// A file system of 1 MiB, in a namespace of mounts.
    case smallFileSystem

    /// Runs `command` with such a folder; what is in it is in `out` afterwards, too, where the folder goes away.
    func script(_ command: String, folder: String, out: String) -> String {
      switch self {
      // In blocks of 512 bytes.
      case .fileLimit: "trap '' XFSZ; ulimit -f 600; \(command)"
      case .smallFileSystem:
        "mount -t tmpfs -o size=1m none \(folder) || exit 99; \(command); status=$?; "
          + "cp \(folder)/* \(out); exit $status"
      }
    }

    var command: [String] {
      self == .fileLimit ? ["sh", "-c"] : ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    }

    var reason: String {
      self == .fileLimit ? "File too large" : "No space left on device"
    }

    var isAvailable: Bool {
      guard self == .smallFileSystem else { return true }
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = command + ["mount -t tmpfs -o size=1m none /mnt"]
      process.standardError = FileHandle.nullDevice
      guard (try? process.run()) != nil else { return false }
      process.waitUntilExit()
      return process.terminationStatus == 0
    }

    static var available: [Disk] { allCases.filter(\.isAvailable) }
  }

  private let folder: URL
  private var disk: URL { folder.appendingPathComponent("disk") }
  private var kept: URL { folder.appendingPathComponent("kept") }

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-full-\(UUID().uuidString)")
    for name in ["disk", "kept"] {
      try FileManager.default.createDirectory(
        at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
    }
  }

  /// Runs the command in the script of a disk; returns its status and the lines that it printed.
  private func run(_ disk: Disk, _ arguments: String) async throws -> (Int32, [String]) {
    let sora = try Run.command().path
    let output = folder.appendingPathComponent("output")
    let status = try await TestPrograms.run(
      disk.command
        + [
          disk.script("\(sora) \(arguments)", folder: self.disk.path, out: kept.path)
        ], output: output)
    let text = try String(contentsOf: output, encoding: .utf8)
    return (status, text.split(separator: "\n").map(String.init))
  }

  private func publish(to url: String, codec: String = "vp8") throws -> Process {
    let publisher = Process()
    publisher.executableURL = try Run.command()
    publisher.arguments = [
      "publish", url, "--channel", "c", "--video-codec", codec, "--resolution", "640x360", "--json",
      "--video-bit-rate", "4000",
    ]
    publisher.standardOutput = FileHandle.nullDevice
    publisher.standardError = FileHandle.nullDevice
    publisher.standardInput = FileHandle.nullDevice
    try publisher.run()
    return publisher
  }

  @Test(arguments: Disk.available, ["webm", "mp4"])
  func thePlayersCallGoesOn(_ kind: Disk, _ ending: String) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let server = try await SoraServer.start()
    let publisher = try publish(to: server.url, codec: ending == "mp4" ? "h264" : "vp8")
    let path = disk.appendingPathComponent("film.\(ending)").path
    let (status, lines) = try await run(
      kind, "play \(server.url) --channel c --duration 14 --timeout 30 --json --record \(path)")
    publisher.interrupt()
    publisher.waitUntilExit()
    await server.shutdown()
    #expect(status == 1)
    let errors = lines.filter { !$0.hasPrefix("{") }
    #expect(errors == ["sora: --record: cannot write \(path): \(kind.reason)"], "\(errors)")
    let summary = try #require(lines.last { $0.contains(#""type":"summary""#) })
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(summary.utf8)) as? [String: Any])
    let frames = (json["video"] as? [String: Any])?["frames"] as? Int ?? 0
    let file = try RecordedFrames(
      (kind == .fileLimit ? disk : kept).appendingPathComponent("film.\(ending)").path)
    #expect(file.video > 5 && file.audio > 5 && file.length > .milliseconds(200), "\(file)")
    // The call has gone on without it.
    #expect(
      frames > file.video + 60 && json["elapsedMs"] as? Int ?? 0 > 14_000, "\(frames) \(file)")
  }

  @Test func theServerForwardsOn() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let sora = try Run.command().path
    async let served = run(
      .fileLimit,
      "serve --port 0 --record \(disk.path) --json & "
        + "while [ ! -e \(folder.path)/done ]; do sleep 0.1; done; kill -INT $!; wait $!")
    // Its first line says where it listens.
    var url: String?
    while url == nil {
      let text = try? String(
        contentsOf: folder.appendingPathComponent("output"), encoding: .utf8)
      if let text, let line = text.split(separator: "\n").first, text.contains("\n") {
        let json = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        url = try #require(json?["url"] as? String)
      } else {
        try await Task.sleep(for: .milliseconds(20))
      }
    }
    let address = try #require(url)
    let publisher = try publish(to: address)
    let output = folder.appendingPathComponent("player")
    let status = try await TestPrograms.run(
      [sora, "play", address, "--channel", "c", "--duration", "6", "--timeout", "30", "--json"],
      output: output)
    publisher.interrupt()
    publisher.waitUntilExit()
    try Data().write(to: folder.appendingPathComponent("done"))
    let (_, lines) = try await served
    #expect(status == 0)
    let errors = lines.filter { !$0.hasPrefix("{") }
    #expect(errors.count == 1 && errors.first?.contains("File too large") == true, "\(errors)")
    let player = try String(contentsOf: output, encoding: .utf8)
    let summary = try #require(player.split(separator: "\n").last)
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(summary.utf8)) as? [String: Any])
    #expect((json["video"] as? [String: Any])?["frames"] as? Int ?? 0 > 100)
    let names = try FileManager.default.contentsOfDirectory(atPath: disk.path)
    let name = try #require(names.first { $0.hasSuffix(".webm") })
    let file = try RecordedFrames(disk.appendingPathComponent(name).path)
    #expect(file.video > 3 && file.length > .milliseconds(100), "\(file)")
    let report = try String(
      contentsOf: disk.appendingPathComponent(names.first { $0.hasSuffix(".json") } ?? "none"),
      encoding: .utf8)
    #expect(report.contains("File too large"), "\(report)")
  }
}
