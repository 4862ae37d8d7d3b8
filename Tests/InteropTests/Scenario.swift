import Foundation
import TestPrograms
import Testing

/// A script of a folder of `Peers/` in a network namespace of its own: it starts the server, the tool and the foreign peer,
/// and writes what it saw as JSON. Its logs and results stay in `.build/interop/NAME`.
struct Scenario {
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// The script's path in `Peers/`, without its suffix.
  let name: String
  /// Seconds after which the script is ended.
  var limit = 90

  private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let build = sources.deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent(".build")
  /// The script that runs any other.
  static let runner = sources.appendingPathComponent("Peers/run.py").path

  /// Makes an empty folder for what a script writes.
  static func folder(_ name: String) throws -> URL {
    let folder = build.appendingPathComponent("interop/\(name)")
    try? FileManager.default.removeItem(at: folder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// Runs the script and reads its result.
  ///
  /// - Throws: `Failure` with what went wrong and the end of the script's log.
  func run<Outcome: Decodable>(_ type: Outcome.Type = Outcome.self) async throws -> Outcome {
    let folder = try Self.folder(name)
    let log = folder.appendingPathComponent("script.log")
    let python = try await PythonEnvironment.shared.interpreter(in: Self.build, Self.sources)
    let status = try await TestPrograms.run(
      [
        "timeout", "-k", "5", "\(limit)",
        Self.sources.appendingPathComponent("Support/namespace.sh").path, python, "-B",
        Self.runner, name,
        "--sora", TestPrograms.built("sora").path, "--client",
        TestPrograms.built("InteropClient").path,
        "--peer", TestPrograms.built("InteropPeer").path, "--emulator",
        TestPrograms.built("LinkEmulator").path,
        "--folder", folder.path,
      ], output: log)
    guard let data = try? Data(contentsOf: folder.appendingPathComponent("result.json")) else {
      let cause = status == 124 ? "did not end within \(limit) s" : "ended with status \(status)"
      throw Failure(description: "\(name) \(cause)\n\(Self.tail(log))")
    }
    if let failure = try JSONDecoder().decode(Refusal.self, from: data).failure {
      throw Failure(description: "\(name): \(failure)\n\(Self.tail(log))")
    }
    do {
      return try JSONDecoder().decode(type, from: data)
    } catch {
      throw Failure(description: "\(name): \(error)\n\(String(decoding: data, as: UTF8.self))")
    }
  }

  private struct Refusal: Decodable { var failure: String? }

  static func tail(_ log: URL) -> String {
    let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").suffix(12).joined(separator: "\n")
  }
}

/// The peers' Python, made once a machine: see `Support/environment.sh`.
actor PythonEnvironment {
  static let shared = PythonEnvironment()
  private var making: Task<String, any Error>?

  func interpreter(in build: URL, _ sources: URL) async throws -> String {
    if let making { return try await making.value }
    let task = Task {
      let output = build.appendingPathComponent("interop/environment.log")
      try FileManager.default.createDirectory(
        at: output.deletingLastPathComponent(), withIntermediateDirectories: true)
      let folder = build.appendingPathComponent("interop-venv").path
      let status = try await TestPrograms.run(
        [
          "timeout", "-k", "5", "300",
          sources.appendingPathComponent("Support/environment.sh").path, folder,
        ], output: output)
      guard status == 0 else {
        throw Scenario.Failure(
          description: "cannot install the peers from PyPI (\(status))\n\(Scenario.tail(output))")
      }
      return "\(folder)/bin/python3"
    }
    making = task
    return try await task.value
  }
}

// Calls with foreign peers whose pictures, sound and delays are looked at. Each of these runs its own one after another, two of them beside
// each other: first the two that leave most of the cores idle, and want them so (`make test-calls`).

/// Links that are narrower than a stream: frames and rates are compared.
@Suite(.serialized) enum InteropNarrow {}
/// Beside `InteropNarrow`.
@Suite(.serialized) enum InteropQuiet {}
/// Codecs, and bad links.
@Suite(.serialized) enum Interop {}
/// Beside `Interop`: pages, and other programs in browsers.
@Suite(.serialized) enum InteropBrowsers {}

// These wait more than they compute, and compare no times: two rows as well (`make test-peers`). A third would leave Chromium no time to
// repair.

/// How foreign peers find each other, encrypt, and what goes beside media.
@Suite(.serialized) enum InteropPaths {}
/// Beside `InteropPaths`: what is refused, lost or killed, and how calls go on.
@Suite(.serialized) enum InteropResilience {}

// MARK: What scripts tell

/// `--json`'s summary, as far as tests look at it.
struct Summary: Decodable {
  struct Video: Decodable {
    struct Stamps: Decodable {
      var frames: Int
      var unreadable: Int
      var missing: Int
      var outOfOrder: Int
      var restarts: Int
    }
    struct Latency: Decodable {
      var p50: Int
      var p95: Int
    }
    var codec: String?
    var width: Int
    var height: Int
    var frames: Int
    var fps: Double
    var framesDropped: Int?
    var freezeCount: Int?
    var keyFrames: Int?
    var psnrDb: Double?
    var latencyMs: Latency?
    var stamps: Stamps?
  }
  struct Audio: Decodable {
    var codec: String?
    var seconds: Double
    var concealedMs: Int?
    var levelDb: Double?
  }
  struct Stream: Decodable {
    var streamId: String
    var goneMs: Int?
    var video: Video?
    var audio: Audio?
  }
  var connectionId: String?
  var connectMs: Int?
  var firstFrameMs: Int?
  var video: Video?
  var audio: Audio?
  var rttMs: Double?
  var packetsLost: Int
  var pli: Int
  var error: String?
  var streamId: String?
  var streamsLive: Int?
  var watchedMs: Int?
  var goneMs: Int?
  var timesGone: Int?
  var streams: [Stream]?
}

/// How an official client's connection ended.
struct Ending: Decodable, Equatable {
  var code: String
  var message: String

  /// With signaling over data channels, which official clients get as they say nothing of it.
  static let succeeded = Ending(
    code: "CLOSE_SUCCEEDED", message: "Succeeded to close Websocket (DC signaling is enabled)")
  /// Without data channels, where a client wants none.
  static let succeededWithoutChannels = Ending(
    code: "CLOSE_SUCCEEDED",
    message: "Succeeded to close WebSocket (DC signaling is not enabled)")
}

/// What a foreign peer says about its transport.
struct Negotiated: Decodable {
  var srtp: String?
  var dtls: String?
  var cipher: String?
  var rttMs: Double?
  var availableKbps: Double?
}
