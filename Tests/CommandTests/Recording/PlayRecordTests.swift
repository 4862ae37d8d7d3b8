import Foundation
import SoraMedia
import SoraRecording
import SoraServer
import Testing

/// `sora play --record` of a stream as it comes, with `sora publish` at the other end.
@Suite(.serialized, .timeLimit(.minutes(2))) struct PlayRecordTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("sora-play-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// Publishes a small picture in a codec to a server while `body` runs.
  private func publishing(
    _ codec: String, to server: SoraServer, channel: String = "c",
    _ body: () async throws -> Void
  ) async throws {
    let publisher = Process()
    publisher.executableURL = try Run.command()
    publisher.arguments = [
      "publish", server.url, "--channel", channel, "--video-codec", codec,
      "--resolution", "160x96", "--fps", "15", "--json",
    ]
    publisher.standardOutput = FileHandle.nullDevice
    publisher.standardError = FileHandle.nullDevice
    publisher.standardInput = FileHandle.nullDevice
    try publisher.run()
    defer {
      publisher.interrupt()
      publisher.waitUntilExit()
    }
    try await body()
  }

  private func publishing(_ codec: String, _ body: (String) async throws -> Void) async throws {
    let server = try await SoraServer.start()
    try await publishing(codec, to: server) { try await body(server.url) }
    await server.shutdown()
  }

  /// Runs `sora play` without holding a thread of the tests' pool.
  private func play(_ arguments: [String]) async throws -> Run {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try Run(arguments) }) }
    }
  }

  @Test(arguments: [("vp8", "webm"), ("h264", "mp4"), ("vp9", "mkv")])
  func theStreamIsInTheFile(_ codec: String, _ ending: String) async throws {
    let path = folder.appendingPathComponent("film.\(ending)").path
    try await publishing(codec) { url in
      let run = try await play([
        "play", url, "--channel", "c", "--duration", "3", "--timeout", "30", "--json", "--record",
        path,
      ])
      #expect(run.status == 0, "\(run.errors)")
    }
    let reader = try MediaFileReader(path: path)
    let track = try #require(reader.firstTrack(.video))
    #expect(reader.tracks[track].codec == MediaCodec(encodingName: codec))
    #expect(reader.tracks[track].width == 160 && reader.tracks[track].height == 96)
    let sound = try #require(reader.firstTrack(.audio))
    var times: [Int: [Duration]] = [:]
    var first: MediaFileFrame?
    while let frame = try reader.next() {
      times[frame.track, default: []].append(frame.time)
      if frame.track == track, first == nil { first = frame }
    }
    #expect(first?.frame.isKeyFrame == true)
    let (pictures, sounds) = (times[track] ?? [], times[sound] ?? [])
    #expect(pictures.count >= 20 && sounds.count >= 60, "\(pictures.count) \(sounds.count)")
    #expect(pictures == pictures.sorted() && sounds == sounds.sorted())
    let length = try #require(sounds.last)
    #expect(length > .seconds(2) && length < .seconds(10))
    #expect(abs((length - (pictures.last ?? .zero)).inSeconds) < 0.6)
  }

  /// `--record FOLDER/` gives every stream of the channel a file, whatever its codec, those that come and go included.
  @Test func allStreamsAreInTheFolder() async throws {
    let recordings = folder.appendingPathComponent("all").path
    let server = try await SoraServer.start()
    func files(_ ending: String) -> [String] {
      let all = try? FileManager.default.contentsOfDirectory(atPath: recordings)
      return (all ?? []).filter { $0.hasSuffix(ending) }
    }
    func size(_ name: String) -> Int {
      let all = try? FileManager.default.attributesOfItem(atPath: "\(recordings)/\(name)")
      return all?[.size] as? Int ?? 0
    }
    try await publishing("vp8", to: server) {
      let player = Process()
      player.executableURL = try Run.command()
      player.arguments = [
        "play", server.url, "--channel", "c", "--json", "--record", recordings + "/",
      ]
      player.standardOutput = FileHandle.nullDevice
      player.standardInput = FileHandle.nullDevice
      try player.run()
      try await publishing("h264", to: server) {
        while !files(".webm").contains(where: { size($0) > 15_000 })
          || !files(".mp4").contains(where: { size($0) > 15_000 })
        {
          try await Task.sleep(for: .milliseconds(20))
        }
      }
      // One has gone, and its file has ended.
      while !files(".json").contains(where: {
        (try? String(contentsOfFile: "\(recordings)/\($0)", encoding: .utf8))?.contains("stop_time")
          == true
      }) {
        try await Task.sleep(for: .milliseconds(20))
      }
      player.interrupt()
      player.waitUntilExit()
      #expect(player.terminationStatus == 0)
    }
    await server.shutdown()
    #expect(files(".webm").count == 1 && files(".mp4").count == 1 && files(".json").count == 1)
    for name in files(".webm") + files(".mp4") {
      let reader = try MediaFileReader(path: "\(recordings)/\(name)")
      let track = try #require(reader.firstTrack(.video))
      let sound = try #require(reader.firstTrack(.audio))
      var counts: [Int: Int] = [:]
      while let frame = try reader.next() { counts[frame.track, default: 0] += 1 }
      #expect(counts[track] ?? 0 > 10 && counts[sound] ?? 0 > 30, "\(name): \(counts)")
    }
    let report = try Data(
      contentsOf: URL(fileURLWithPath: "\(recordings)/\(files(".json").first ?? "none")"))
    let json = try #require(try JSONSerialization.jsonObject(with: report) as? [String: Any])
    #expect(json["channel_id"] as? String == "c" && json["stopped_at"] != nil)
    let archives = try #require(json["archives"] as? [[String: Any]])
    #expect(Set(archives.compactMap { $0["video_codec_type"] as? String }) == ["VP8", "H264"])
    #expect(archives.allSatisfy { $0["failure"] == nil && $0["size"] as? Int ?? 0 > 10_000 })
  }

  @Test func aCodecThatDoesNotFitIsOneError() async throws {
    let path = folder.appendingPathComponent("film.webm").path
    try await publishing("h264") { url in
      let run = try await play([
        "play", url, "--channel", "c", "--duration", "1", "--timeout", "30", "--record", path,
      ])
      #expect(run.status == 1)
      let lines = run.errors.split(separator: "\n").filter { $0.hasPrefix("sora: ") }
      #expect(
        lines == [
          "sora: --record: \(path): WebM files can't hold H264; end the name in .mkv or .mp4"
        ],
        "\(run.errors)")
    }
  }

  /// A file that is missing at the end is an error, as a snapshot is.
  @Test func aFileThatNothingCameForIsAnError() async throws {
    let (film, sound) = (
      folder.appendingPathComponent("film.y4m").path, folder.appendingPathComponent("film.wav").path
    )
    let (server, port) = try await ServedProgram.serve()
    defer { server.interrupt() }
    let url = "ws://127.0.0.1:\(port)/signaling"
    let publisher = try ServedProgram(["publish", url, "--channel", "c", "--video", "none"])
    defer { publisher.interrupt() }
    let run = try await Run.beside([
      "play", url, "--channel", "c", "--duration", "1", "--timeout", "30", "--record", film,
      "--record", sound,
    ])
    #expect(run.status == 1)
    #expect(run.errors.contains("sora: --record: no picture came for \(film)\n"), "\(run.errors)")
    #expect(FileManager.default.fileExists(atPath: sound))
  }

  /// The server's own recordings: a file for each connection, and a JSON for their session.
  @Test func theServerRecordsWhatIsPublished() async throws {
    let recordings = folder.appendingPathComponent("recordings")
    var configuration = SoraServer.Configuration()
    configuration.recordingFolder = recordings.path
    let server = try await SoraServer.start(configuration)
    func files(_ ending: String) -> [String] {
      let all = try? FileManager.default.contentsOfDirectory(atPath: recordings.path)
      return (all ?? []).filter { $0.hasSuffix(ending) }
    }
    func size(_ name: String?) -> Int {
      guard let name else { return 0 }
      let path = recordings.appendingPathComponent(name).path
      return (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }
    try await publishing("vp8", to: server, channel: "a/../b") {
      try await publishing("h264", to: server, channel: "a/../b") {
        // Both have written more than a head and a second.
        while size(files(".webm").first) < 20_000 || size(files(".mp4").first) < 20_000 {
          try await Task.sleep(for: .milliseconds(50))
        }
      }
    }
    await server.shutdown()
    #expect(files(".webm").count == 1 && files(".mp4").count == 1)
    for (ending, codec) in [(".webm", VideoCodecKind.vp8), (".mp4", .h264)] {
      let name = try #require(files(ending).first)
      #expect(name.hasPrefix("a____b_"), "\(name)")
      let reader = try MediaFileReader(path: recordings.appendingPathComponent(name).path)
      let track = try #require(reader.firstTrack(.video))
      #expect(reader.tracks[track].codec == .video(codec) && reader.tracks[track].width == 160)
      var counts: [Int: Int] = [:]
      while let frame = try reader.next() { counts[frame.track, default: 0] += 1 }
      #expect(counts[track] ?? 0 > 10, "\(counts)")
      #expect(counts[reader.firstTrack(.audio) ?? -1] ?? 0 > 30, "\(counts)")
    }
    let reports = files(".json")
    #expect(reports.count == 1)
    let report = try Data(
      contentsOf: recordings.appendingPathComponent(reports.first ?? "none"))
    let json = try #require(try JSONSerialization.jsonObject(with: report) as? [String: Any])
    #expect(json["channel_id"] as? String == "a/../b")
    let archives = try #require(json["archives"] as? [[String: Any]])
    #expect(archives.count == 2)
    for archive in archives {
      #expect(archive["stop_time"] != nil && archive["failure"] == nil)
      #expect(archive["video_frames"] as? Int ?? 0 > 10)
      #expect(archive["width"] as? Int == 160)
      #expect(files("").contains(archive["filename"] as? String ?? "-"))
    }
  }
}
