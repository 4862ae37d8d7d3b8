import Foundation
import SoundServer
import TestPrograms
import Testing

/// A source or a sink that fails while a call runs: one line, and the rest of the call goes on.
@Suite(.timeLimit(.minutes(2))) struct FaultTests {
  /// A command of a call, with what it says on both outputs.
  private struct Running {
    let program: ServedProgram
    let errors = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).log")

    init(
      _ command: String, _ port: Int, _ options: [String], environment: [String: String] = [:]
    ) throws {
      program = try ServedProgram(
        [command, "ws://127.0.0.1:\(port)/signaling", "--channel", "c", "--json"]
          + ["--duration", "60"] + options,
        environment: environment, errors: errors)
    }

    /// The next statistics that are wanted. Waiting ends with the process, which ends by itself after a minute.
    @discardableResult
    func statistics(
      _ isWanted: @escaping @Sendable ([String: Any]) -> Bool
    ) async throws -> String {
      try #require(
        try await program.line { line in
          guard let report = Self.report(line), report["type"] as? String == "stats" else {
            return false
          }
          return isWanted(report)
        }, "it ended: \(faults)")
    }

    /// The statistics behind what it tells of an option's failure.
    func fault(of option: String) async throws -> String {
      let errors = errors
      return try await statistics { _ in
        (try? String(contentsOf: errors, encoding: .utf8))?.contains("\(option): ") == true
      }
    }

    /// Statistics after which so many more frames have come.
    func frames(more count: Int, after line: String) async throws {
      let known = FaultTests.frames(Self.report(line) ?? [:])
      try await statistics { FaultTests.frames($0) >= known + count }
    }

    /// What it has told of failures so far.
    var faults: [Substring] {
      ((try? String(contentsOf: errors, encoding: .utf8)) ?? "").split(separator: "\n")
        .filter { $0.hasPrefix("sora: --") }
    }

    /// Ends it, and looks whether one fault was told, and is that of the summary.
    func expectOneFault(_ start: String) async throws {
      program.askToEnd()
      let summary = try await program.summary()
      #expect(program.status() == 1)
      let faults = faults
      #expect(faults.count == 1, "\(faults)")
      let error = try #require(summary["error"] as? String)
      #expect(error.hasPrefix(start) && faults.first == "sora: \(error)", "\(error) \(faults)")
    }

    func close() {
      program.interrupt()
      try? FileManager.default.removeItem(at: errors)
    }

    static func report(_ line: String) -> [String: Any]? {
      try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    }
  }

  private static func frames(_ report: [String: Any]) -> Int {
    (report["video"] as? [String: Any])?["frames"] as? Int ?? 0
  }

  private static func seconds(ofSound report: [String: Any]) -> Double {
    (report["audio"] as? [String: Any])?["seconds"] as? Double ?? 0
  }

  private static let pattern = ["--resolution", "320x180", "--fps", "15", "--video-codec", "vp8"]

  @Test(.enabled(if: VirtualDisplay.isAvailable, "\(VirtualDisplay.reason)"))
  func soundGoesOnWhereTheScreenEnds() async throws {
    let (server, port) = try await ServedProgram.serve()
    defer { server.interrupt() }
    let display = try VirtualDisplay(width: 320, height: 180)
    let publisher = try Running(
      "publish", port, ["--video", "screen", "--audio", "tone", "--video-codec", "vp8"],
      environment: display.environment)
    defer { publisher.close() }
    try await publisher.statistics { Self.frames($0) > 0 }
    display.stop()
    let line = try await publisher.fault(of: "--video")
    let known = Self.seconds(ofSound: Running.report(line) ?? [:])
    try await publisher.statistics { Self.seconds(ofSound: $0) > known + 1.5 }
    try await publisher.expectOneFault("--video: the display ")
  }

  @Test(.enabled(if: VirtualDisplay.isAvailable, "\(VirtualDisplay.reason)"))
  func nothingIsLeftWhereTheScreenWasAll() async throws {
    let (server, port) = try await ServedProgram.serve()
    defer { server.interrupt() }
    let display = try VirtualDisplay(width: 320, height: 180)
    let publisher = try Running(
      "publish", port, ["--video", "screen", "--audio", "none", "--video-codec", "vp8"],
      environment: display.environment)
    defer { publisher.close() }
    try await publisher.statistics { Self.frames($0) > 0 }
    display.stop()
    let summary = try await publisher.program.summary()
    #expect(publisher.program.status() == 1)
    #expect((summary["error"] as? String)?.hasPrefix("--video: the display ") == true)
    #expect(publisher.faults.count == 1, "\(publisher.faults)")
  }

  @Test(.enabled(if: SoundServer.isInstalled, "\(SoundServer.requirement)"))
  func framesGoOnWhereTheMicrophoneGoes() async throws {
    let (server, port) = try await ServedProgram.serve()
    defer { server.interrupt() }
    let sound = try SoundServer()
    let publisher = try Running(
      "publish", port, ["--audio", "mic"] + Self.pattern, environment: sound.environment)
    defer { publisher.close() }
    try await publisher.statistics { Self.frames($0) > 0 && $0["audioDevice"] is [String: Any] }
    sound.end()
    let line = try await publisher.fault(of: "--audio")
    try await publisher.frames(more: 20, after: line)
    try await publisher.expectOneFault("--audio: ")
  }

  @Test(.enabled(if: SoundServer.isInstalled, "\(SoundServer.requirement)"))
  func framesComeOnWhereTheSpeakerGoes() async throws {
    let (server, port) = try await ServedProgram.serve()
    defer { server.interrupt() }
    let publisher = try Running("publish", port, Self.pattern)
    defer { publisher.close() }
    let sound = try SoundServer()
    let player = try Running(
      "play", port, ["--audio", "speaker"], environment: sound.environment)
    defer { player.close() }
    try await player.statistics { Self.frames($0) > 0 && $0["audioDevice"] is [String: Any] }
    sound.end()
    let line = try await player.fault(of: "--audio")
    try await player.frames(more: 20, after: line)
    try await player.expectOneFault("--audio: ")
  }

  @Test(.enabled(if: VirtualDisplay.isAvailable, "\(VirtualDisplay.reason)"))
  func statisticsGoOnWhereTheDisplayGoes() async throws {
    let (server, port) = try await ServedProgram.serve()
    defer { server.interrupt() }
    let publisher = try Running("publish", port, Self.pattern)
    defer { publisher.close() }
    let display = try VirtualDisplay(width: 640, height: 360)
    let player = try Running("play", port, ["--view"], environment: display.environment)
    defer { player.close() }
    try await player.statistics { Self.frames($0) > 0 }
    display.stop()
    let line = try await player.fault(of: "--view")
    try await player.frames(more: 20, after: line)
    try await player.expectOneFault("--view: the display is gone")
  }

  @Test func statisticsAreToldWithoutADisplay() async throws {
    let (server, port) = try await ServedProgram.serve()
    defer { server.interrupt() }
    let publisher = try Running("publish", port, Self.pattern)
    defer { publisher.close() }
    let player = try Running(
      "play", port, ["--view"], environment: ["DISPLAY": ":9999", "SDL_VIDEODRIVER": "x11"])
    defer { player.close() }
    try await player.statistics { Self.frames($0) > 0 }
    try await player.expectOneFault("--view: no ")
  }
}
