import Foundation
import SoraMedia
import SoraRecording
import SoraServer
import TestPrograms
import Testing

/// Recordings that the HTTP API begins, with `sora publish` in the channel.
@Suite(.serialized, .timeLimit(.minutes(2))) struct APIRecordingTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("sora-api-recording-\(UUID().uuidString)")

  private func publish(_ codec: String, to server: SoraServer, channel: String) throws -> Process {
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
    return publisher
  }

  private func post(_ server: SoraServer, _ target: String, _ body: String) async throws
    -> JSONValue
  {
    let url = try #require(server.apiURL)
    let output = folder.appendingPathComponent("answer")
    let status = try await TestPrograms.run(
      [
        "curl", "-s", "-X", "POST", "-H", "x-sora-target: Sora_20231220.\(target)", "-d", body, url,
      ], output: output)
    #expect(status == 0)
    return try JSONValue(parsing: String(decoding: Data(contentsOf: output), as: UTF8.self))
  }

  private func names(_ ending: String) -> [String] {
    let all = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    return (all ?? []).filter { $0.hasSuffix(ending) }.sorted()
  }

  private func size(_ name: String) -> Int {
    let path = folder.appendingPathComponent(name).path
    return (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
  }

  private func frames(_ name: String) throws -> (video: Int, audio: Int, isKeyFrame: Bool) {
    let reader = try MediaFileReader(path: folder.appendingPathComponent(name).path)
    var counts: [Int: Int] = [:]
    var first: Bool?
    while let frame = try reader.next() {
      counts[frame.track, default: 0] += 1
      if frame.track == reader.firstTrack(.video), first == nil { first = frame.frame.isKeyFrame }
    }
    return (
      counts[reader.firstTrack(.video) ?? -1] ?? 0, counts[reader.firstTrack(.audio) ?? -1] ?? 0,
      first ?? false
    )
  }

  /// Those that are there and those that come are recorded, in one channel and not in the other; parts begin with key frames.
  @Test(.enabled(if: TestPrograms.isInstalled("curl"), "needs curl: apt-get install curl"))
  func aChannelIsRecordedAndSplit() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = SoraServer.Configuration()
    configuration.recordingFolder = folder.path
    configuration.recordsEverything = false
    configuration.apiPort = 0
    let server = try await SoraServer.start(configuration)
    var publishers = [
      try publish("vp8", to: server, channel: "a"), try publish("vp8", to: server, channel: "b"),
    ]
    defer {
      for publisher in publishers {
        publisher.interrupt()
        publisher.waitUntilExit()
      }
    }
    while await server.connections.filter({ $0.tracks.contains { $0.packets > 50 } }).count < 2 {
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(names("").isEmpty)
    let started = try await post(
      server, "StartRecording", #"{"channel_id":"a","split_duration":1,"metadata":{"who":"me"}}"#)
    #expect(started["error_type"] == nil, "\(started)")
    while !names(".webm").contains(where: { $0.contains("_part3.") }) {
      try await Task.sleep(for: .milliseconds(20))
    }
    // One that comes later is recorded, too, in the container that holds its codec.
    publishers.append(try publish("h265", to: server, channel: "a"))
    while !names(".mp4").contains(where: { size($0) > 10_000 }) {
      try await Task.sleep(for: .milliseconds(20))
    }
    let stopped = try await post(server, "StopRecording", #"{"channel_id":"a"}"#)
    #expect(stopped["recording_id"] == started["recording_id"])
    let archives = try #require(stopped["archives"]?.arrayValue)
    #expect(
      Set(archives.compactMap { $0["filename"]?.stringValue })
        == Set(names(".webm") + names(".mp4")))
    let reports = names(".json")
    #expect(reports.count == 1 && names("").allSatisfy { $0 == "answer" || $0.hasPrefix("a_") })
    let report = try JSONValue(
      parsing: String(
        decoding: Data(contentsOf: folder.appendingPathComponent(reports[0])), as: UTF8.self))
    #expect(report["metadata"] == ["who": "me"] && report["stopped_at"] != nil)
    #expect(report["archives"]?.arrayValue?.allSatisfy { $0["failure"] == nil } == true)
    #expect(
      Set(report["archives"]?.arrayValue?.compactMap { $0["video_codec_type"]?.stringValue } ?? [])
        == ["VP8", "H265"])
    var whole = 0
    var parts = 0
    for name in names(".webm") {
      let counted = try frames(name)
      // The last part may have just begun.
      #expect(
        counted.isKeyFrame && (counted.audio > 0 || counted.video < 10), "\(name): \(counted)")
      if name.contains("_part") { parts += counted.video } else { whole += counted.video }
    }
    #expect(whole > 30 && abs(whole - parts) <= 2, "\(whole) \(parts)")
    await server.shutdown()
    // Nothing of it goes on.
    #expect(names(".json").count == 1)
  }
}
