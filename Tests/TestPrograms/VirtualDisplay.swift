import Foundation

/// A screen that is only in memory (Xvfb), with a person in front of it.
package final class VirtualDisplay: @unchecked Sendable {
  // @unchecked: everything is set by `init` alone.

  /// Whether the machine has what it takes.
  package static let isAvailable =
    TestPrograms.isInstalled("Xvfb")
    && (try? run(["-c", "import Xlib"], environment: [:])) != nil
  package static let reason = "needs Debian's xvfb and python3-xlib"

  /// What is seen.
  package struct Picture: Sendable {
    package let width: Int
    package let height: Int
    package let bytes: [UInt8]

    /// Writes it as a PPM file, for people.
    package func write(to path: String) throws {
      try (Data("P6\n\(width) \(height)\n255\n".utf8) + bytes).write(to: URL(fileURLWithPath: path))
    }

    /// Red, green and blue of a pixel.
    package subscript(x: Int, y: Int) -> [Int] {
      let start = (y * width + x) * 3
      return bytes[start..<start + 3].map(Int.init)
    }

    /// Whether a pixel has a colour, but for rounding.
    package func shows(_ color: [Int], at x: Int, _ y: Int) -> Bool {
      zip(self[x, y], color).allSatisfy { abs($0 - $1) <= 6 }
    }
  }

  package enum Failure: Error {
    case noServer
    case failed([String])
  }

  private let server = Process()
  private let number: String
  /// What programs find the screen by, and have them draw with the processor.
  package let environment: [String: String]

  /// - Parameter lacking: an extension of X11 that it is to do without.
  package init(width: Int = 800, height: Int = 600, lacking: String? = nil) throws {
    let numbers = Pipe()
    server.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    server.arguments = [
      "Xvfb", "-displayfd", "1", "-screen", "0", "\(width)x\(height)x24", "-nolisten", "tcp",
      "-noreset",
    ]
    if let lacking { server.arguments? += ["-extension", lacking] }
    server.standardInput = FileHandle.nullDevice
    server.standardOutput = numbers
    server.standardError = FileHandle.nullDevice
    try server.run()
    var number = ""
    while !number.contains("\n") {
      let data = numbers.fileHandleForReading.availableData
      guard !data.isEmpty else { throw Failure.noServer }
      number += String(decoding: data, as: UTF8.self)
    }
    self.number = number.trimmingCharacters(in: .whitespacesAndNewlines)
    environment = [
      "DISPLAY": ":\(self.number)", "SDL_VIDEODRIVER": "x11", "SDL_RENDER_DRIVER": "software",
    ]
  }

  deinit { stop() }

  /// Switches the screen off.
  package func stop() {
    guard server.isRunning else { return }
    // Threads of Dispatch block signals, and so do the programs that they start.
    kill(server.processIdentifier, SIGKILL)
    server.waitUntilExit()
    // What it would have taken away itself.
    for path in ["/tmp/.X11-unix/X\(number)", "/tmp/.X\(number)-lock"] {
      try? FileManager.default.removeItem(atPath: path)
    }
  }

  /// What is on the screen.
  package func picture() throws -> Picture {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).shot")
    defer { try? FileManager.default.removeItem(at: file) }
    try act("shot", file.path)
    let data = try Data(contentsOf: file)
    let lines = data.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false)
    guard lines.count == 3, let width = Int(String(decoding: lines[0], as: UTF8.self)),
      let height = Int(String(decoding: lines[1], as: UTF8.self)),
      lines[2].count == width * height * 3
    else { throw Failure.failed(["shot"]) }
    return Picture(width: width, height: height, bytes: Array(lines[2]))
  }

  /// Looks at the screen until it shows what is wanted, for half a minute; returns what was seen last.
  package func wait(until isThere: (Picture) -> Bool) throws -> Picture {
    var picture = try picture()
    let end = Date(timeIntervalSinceNow: 30)
    while !isThere(picture), Date() < end {
      Thread.sleep(forTimeInterval: 0.1)
      picture = try self.picture()
    }
    return picture
  }

  package func press(_ key: String) throws { try act("key", key) }
  package func closeWindow() throws { try act("close") }
  package func resizeWindow(_ width: Int, _ height: Int) throws {
    try act("resize", "\(width)", "\(height)")
  }

  /// Paints a part of the screen.
  package func fill(_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ color: [Int]) throws {
    try act(["fill"] + ([x, y, width, height] + color).map { "\($0)" })
  }
  /// Moves the pointer.
  package func point(_ x: Int, _ y: Int) throws { try act("point", "\(x)", "\(y)") }
  /// Has a monitor at a place, in place of another of its name.
  package func setMonitor(_ name: String, _ x: Int, _ y: Int, _ width: Int, _ height: Int) throws {
    try act(["monitor", name] + [x, y, width, height].map { "\($0)" })
  }
  package func unplugMonitor(_ name: String) throws { try act("unplug", name) }

  /// The display's name, such as `:97`.
  package var name: String { ":\(number)" }

  /// How many connections programs have to it, this one among them.
  package var connections: Int {
    get throws {
      // To its end: `String(contentsOfFile:)` has a page of it only.
      let table = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/net/unix")).readToEnd()
      return String(decoding: table ?? Data(), as: UTF8.self).split(separator: "\n").count {
        let fields = $0.split(separator: " ")
        // Its own ends, which alone have its name, and of which the one that listens is in another state.
        return fields.last?.hasSuffix("/.X11-unix/X\(number)") == true && fields[5] == "03"
      }
    }
  }

  private func act(_ words: String...) throws { try act(words) }

  private func act(_ words: [String]) throws {
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Display/display.py").path
    try Self.run([script] + words, environment: environment)
  }

  private static func run(_ arguments: [String], environment: [String: String]) throws {
    let process = Process()
    // Debian's own, which has Debian's modules.
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure.failed(arguments) }
  }
}
