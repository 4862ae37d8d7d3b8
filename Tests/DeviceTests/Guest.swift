import Foundation
import SoraCapture
import SoraMedia
import Testing

/// A small virtual machine with drivers that this one's kernel may lack; `Guest/` makes and runs it. What it printed is read by
/// sections.
struct Guest {
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// What one scenario printed: its lines of JSON, and its status.
  struct Section {
    var lines: [[String: Any]] = []
    var texts: [String] = []
    var status: Int?

    /// The first line of a type.
    func first(_ type: String) -> [String: Any]? { lines.first { $0["type"] as? String == type } }
  }

  static let missing: String? = {
    let tools = [
      "qemu-system-x86_64", "busybox", "cpio", "modprobe", "v4l2-ctl", "ffmpeg", "dpkg-deb", "gcc",
      "make",
    ]
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let folders = "\(path):/usr/sbin:/sbin".split(separator: ":")
    for tool in tools
    where !folders.contains(where: {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)")
    }) {
      return "\(tool) is missing: run `make deps`"
    }
    #if arch(x86_64)
      return nil
    #else
      return "the guest is an x86_64"
    #endif
  }()

  private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Guest")
  private static let folder = sources.deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent(".build/guest")

  /// Boots it with cameras, and runs a script of `Guest/` there.
  static func run(_ script: String, seconds: Int) throws -> [String: Section] {
    let exchange = folder.appendingPathComponent("exchange")
    try? FileManager.default.removeItem(at: exchange)
    try FileManager.default.createDirectory(at: exchange, withIntermediateDirectories: true)
    try copyPrograms(to: exchange)
    try makeFilms(in: exchange)
    try FileManager.default.copyItem(
      at: sources.appendingPathComponent(script), to: exchange.appendingPathComponent(script))
    let log = exchange.appendingPathComponent("make.log")
    guard
      try status(of: ["bash", sources.appendingPathComponent("make.sh").path, folder.path], log)
        == 0
    else { throw Failure(description: "no guest: \(text(of: log))") }
    let output = exchange.appendingPathComponent("output.log")
    let ended = try status(
      of: [
        "bash", sources.appendingPathComponent("run.sh").path, folder.path, exchange.path,
        "\(seconds)", "bash /exchange/\(script)",
      ], output,
      environment: [
        "VIVID": "n_devs=2,node_types=0x1+0x1,multiplanar=1+2",
        "LOOPBACK": "video_nr=40+41,card_label=A+B,exclusive_caps=1+1",
      ])
    guard ended == 0 else {
      throw Failure(description: "the guest ended with \(ended): \(text(of: output))")
    }
    return sections(of: text(of: output))
  }

  /// Programs of the build that this test belongs to lie beside it.
  private static func copyPrograms(to exchange: URL) throws {
    let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent()
    for name in ["DeviceClient", "sora"] {
      try FileManager.default.copyItem(
        at: folder.appendingPathComponent(name), to: exchange.appendingPathComponent(name))
    }
  }

  /// The stamped pattern as a camera would encode it.
  private static func makeFilms(in exchange: URL) throws {
    let raw = exchange.appendingPathComponent("film.y4m")
    let pattern = TestPattern(width: 320, height: 180)
    var bytes = Data("YUV4MPEG2 W320 H180 F30:1 Ip A1:1 C420jpeg\n".utf8)
    for index in 0..<90 as Range<UInt32> {
      bytes += Data("FRAME\n".utf8)
      let picture = pattern.frame(index: index, milliseconds: 0)
      for plane in (0..<3).map(picture.plane) {
        for y in 0..<plane.height { bytes += Data(plane.row(y)) }
      }
    }
    try bytes.write(to: raw)
    let options = [
      "film.avi": ["-c:v", "mjpeg", "-q:v", "2", "-pix_fmt", "yuvj420p"],
      "film.ts": ["-c:v", "libx264", "-g", "30", "-bf", "0"],
    ]
    for (name, options) in options {
      let log = exchange.appendingPathComponent("\(name).log")
      let command =
        ["ffmpeg", "-nostdin", "-y", "-loglevel", "error", "-i", raw.path] + options
        + [exchange.appendingPathComponent(name).path]
      guard try status(of: command, log) == 0 else {
        throw Failure(description: "no \(name): \(text(of: log))")
      }
    }
  }

  private static func status(
    of command: [String], _ log: URL, environment: [String: String] = [:]
  ) throws -> Int32 {
    _ = FileManager.default.createFile(atPath: log.path, contents: nil)
    let handle = try FileHandle(forWritingTo: log)
    defer { try? handle.close() }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = handle
    process.standardError = handle
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }

  private static func text(of file: URL) -> String {
    (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  private static func sections(of output: String) -> [String: Section] {
    var sections: [String: Section] = [:]
    var name: String?
    for line in output.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("== ") {
        name = String(line.dropFirst(3))
        sections[name ?? ""] = Section()
      } else if line.hasPrefix("-- ") {
        name.map { sections[$0]?.status = Int(line.dropFirst(3)) }
      } else if let name {
        if let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] {
          sections[name]?.lines.append(object)
        } else {
          sections[name]?.texts.append(String(line))
        }
      }
    }
    return sections
  }
}
