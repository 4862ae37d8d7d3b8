import Foundation
import SoraCapture
import SoraMedia
import SoraView
import TestPrograms
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
    for tool in tools where !TestPrograms.isInstalled(tool, orIn: ["/usr/sbin", "/sbin"]) {
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
  static func run(_ script: String, seconds: Int) async throws -> [String: Section] {
    let exchange = folder.appendingPathComponent("exchange")
    try? FileManager.default.removeItem(at: exchange)
    try FileManager.default.createDirectory(at: exchange, withIntermediateDirectories: true)
    try copyPrograms(to: exchange)
    try await makeFilms(in: exchange)
    try FileManager.default.copyItem(
      at: sources.appendingPathComponent(script), to: exchange.appendingPathComponent(script))
    let log = exchange.appendingPathComponent("make.log")
    let make = ["bash", sources.appendingPathComponent("make.sh").path, folder.path]
    guard try await TestPrograms.run(make, output: log) == 0 else {
      throw Failure(description: "no guest: \(text(of: log))")
    }
    let output = exchange.appendingPathComponent("output.log")
    let ended = try await TestPrograms.run(
      [
        "bash", sources.appendingPathComponent("run.sh").path, folder.path, exchange.path,
        "\(seconds)", "bash /exchange/\(script)",
      ], output: output,
      environment: [
        "VIVID": "n_devs=2,node_types=0x1+0x1,multiplanar=1+2",
        // Of the two buffers that it has by itself, the one that is being read is written to 40 ms later.
        "LOOPBACK": "video_nr=40+41+42,card_label=A+B+C,exclusive_caps=1+1+1,max_buffers=8",
      ])
    guard ended == 0 else {
      throw Failure(description: "the guest ended with \(ended): \(text(of: output))")
    }
    return sections(of: text(of: output))
  }

  private static func copyPrograms(to exchange: URL) throws {
    for name in ["DeviceClient", "sora"] {
      try FileManager.default.copyItem(
        at: TestPrograms.built(name), to: exchange.appendingPathComponent(name))
    }
  }

  /// The stamped pattern as a camera would encode it.
  private static func makeFilms(in exchange: URL) async throws {
    let raw = exchange.appendingPathComponent("film.y4m")
    let pattern = TestPattern(width: 320, height: 180)
    let writer = try Y4MWriter(path: raw.path, framesPerSecond: 30)
    for index in 0..<90 as Range<UInt32> {
      try writer.write(pattern.frame(index: index, milliseconds: 0))
    }
    try writer.flush()
    // The units of the last one as files, too.
    try FileManager.default.createDirectory(
      at: exchange.appendingPathComponent("units"), withIntermediateDirectories: true)
    let films = [
      ("film.y4m", "film.avi", ["-c:v", "mjpeg", "-q:v", "2", "-pix_fmt", "yuvj420p"]),
      ("film.y4m", "film.ts", ["-c:v", "libx264", "-g", "30", "-bf", "0"]),
      (
        "film.y4m", "film265.ts",
        ["-c:v", "libx265", "-x265-params", "keyint=30:bframes=0:log-level=error"]
      ),
      ("film265.ts", "units/%03d.h265", ["-c", "copy", "-f", "image2"]),
    ]
    let log = exchange.appendingPathComponent("films.log")
    for (source, film, options) in films {
      let command =
        ["ffmpeg", "-nostdin", "-y", "-loglevel", "error"]
        + ["-i", exchange.appendingPathComponent(source).path] + options
        + [exchange.appendingPathComponent(film).path]
      guard try await TestPrograms.run(command, output: log) == 0 else {
        throw Failure(description: "no \(film): \(text(of: log))")
      }
    }
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
