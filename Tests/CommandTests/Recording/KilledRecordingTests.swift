import Foundation
import TestPrograms
import Testing

/// Commands that are killed while they record, by each codec and into each kind of file: what was written plays.
@Suite(.serialized, .timeLimit(.minutes(3))) struct KilledRecordingTests {
  /// What is published, and the file that it goes to.
  struct Kind: CustomStringConvertible, Sendable {
    let codec: String
    let ending: String
    var description: String { "\(codec).\(ending)" }
  }

  static let players = [
    Kind(codec: "vp8", ending: "webm"), Kind(codec: "vp9", ending: "webm"),
    Kind(codec: "av1", ending: "webm"), Kind(codec: "vp8", ending: "mkv"),
    Kind(codec: "h264", ending: "mp4"), Kind(codec: "h265", ending: "mp4"),
    Kind(codec: "av1", ending: "mp4"),
  ]
  /// The server chooses the file by the codec.
  static let servers = [Kind(codec: "vp9", ending: "webm"), Kind(codec: "h264", ending: "mp4")]
  /// A file of so many bytes has several key frames' worth of pictures.
  private static let enough = 100_000

  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-killed-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func publish(_ codec: String, _ port: Int) throws -> ServedProgram {
    try ServedProgram([
      "publish", "ws://127.0.0.1:\(port)/signaling", "--channel", "c", "--video-codec", codec,
      "--resolution", "320x180", "--fps", "15", "--json",
    ])
  }

  /// The first file of an ending in the folder. Once it is long enough, who writes it is killed.
  private func file(_ ending: String, endingWith writer: ServedProgram) async throws -> String {
    defer { writer.crash() }
    while true {
      for name in FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []
      where name.hasSuffix(".\(ending)") {
        let path = folder.appendingPathComponent(name).path
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        if size ?? 0 > Self.enough { return path }
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  private func expectPlays(_ path: String, _ kind: Kind) async throws {
    let frames = try RecordedFrames(path)
    #expect(frames.video > 10, "\(kind): \(frames)")
    #expect(frames.audio > 30, "\(kind): \(frames)")
    let output = folder.appendingPathComponent("complaints")
    let status = try await TestPrograms.run(
      ["ffmpeg", "-v", "error", "-i", path, "-f", "null", "-"], output: output)
    let complaints = try String(contentsOf: output, encoding: .utf8)
    #expect(status == 0, "\(kind): \(complaints)")
    // The last picture may be cut; what lies before it is whole.
    #expect(complaints.split(separator: "\n").count <= 3, "\(kind): \(complaints)")
  }

  @Test(arguments: players) func thePlayersFilePlays(_ kind: Kind) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (server, port) = try await ServedProgram.serve()
    defer { server.interrupt() }
    let publisher = try publish(kind.codec, port)
    defer { publisher.interrupt() }
    let player = try ServedProgram([
      "play", "ws://127.0.0.1:\(port)/signaling", "--channel", "c", "--json", "--record",
      folder.appendingPathComponent("call.\(kind.ending)").path,
    ])
    try await expectPlays(try await file(kind.ending, endingWith: player), kind)
  }

  @Test(arguments: servers) func theServersFilePlays(_ kind: Kind) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (server, port) = try await ServedProgram.serve(["--record", folder.path])
    let publisher = try publish(kind.codec, port)
    defer { publisher.interrupt() }
    try await expectPlays(try await file(kind.ending, endingWith: server), kind)
  }
}
