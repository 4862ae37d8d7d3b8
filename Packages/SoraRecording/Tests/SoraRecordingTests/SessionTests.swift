import Foundation
import SoraMedia
import SoraRecording
import Synchronization
import Testing

/// Recordings of all streams of a channel.
@Suite(.timeLimit(.minutes(5))) struct SessionTests {
  private let folder: Folder
  private let source = RecordedSource(connectionID: "a")

  init() throws { folder = try Folder() }

  /// Parts of a second each.
  private var parts: SessionSettings {
    var settings = SessionSettings()
    settings.splitDuration = .seconds(1)
    settings.keepsWhole = false
    settings.patience = .milliseconds(300)
    return settings
  }

  private func recorder(_ settings: SessionSettings) throws -> SessionRecorder {
    SessionRecorder(in: try RecordingFolder(folder.url.path), channelID: "c", settings: settings)
  }

  private func video(
    _ codec: VideoCodecKind, frames: Int, from start: Duration
  ) throws -> [EncodedTrackFrame] {
    try Clips.video(codec, frames: frames).map { frame in
      var later = frame
      later.receiveTime += start
      later.frame.rtpTimestamp &+= UInt32(start.inSeconds * 90_000)
      return later
    }
  }

  /// As of a variable that a script hasn't set: the root of the file system is meant by nobody.
  @Test func aFolderWithoutANameIsNone() {
    #expect(throws: MediaFileError.self) { try RecordingFolder("") }
  }

  /// Who speaks first and shows themselves later is seen from the next part on, whatever the codec.
  @Test func picturesThatBeginLaterAreInTheNextPart() async throws {
    let recorder = try recorder(parts)
    let frames = Clips.together(
      Clips.audio(packets: 200), try video(.h264, frames: 90, from: .seconds(1)))
    for frame in frames { recorder.receive(frame, of: source) }
    let archives = await recorder.finish().archives
    #expect(archives.count >= 3 && archives.allSatisfy { $0.failure == nil }, "\(archives)")
    #expect(archives.first?.videoFrames == 0)
    for archive in archives.dropFirst() {
      #expect(archive.filename.hasSuffix(".mp4") && archive.videoCodecType == "H264")
      #expect(archive.videoFrames ?? 0 > 0 && archive.audioPackets ?? 0 > 0, "\(archive)")
    }
  }

  /// Who turns the camera off goes on being recorded in parts, and is seen from when it is on again.
  @Test func aCameraThatIsOffHoldsUpNoPart() async throws {
    let recorder = try recorder(parts)
    let frames = Clips.together(
      Clips.audio(packets: 500), try video(.vp8, frames: 45, from: .zero),
      try video(.vp8, frames: 60, from: .milliseconds(7_200)))
    for frame in frames { recorder.receive(frame, of: source) }
    let archives = await recorder.finish().archives
    #expect(archives.allSatisfy { $0.failure == nil && $0.audioPackets ?? 0 > 0 }, "\(archives)")
    #expect(archives.allSatisfy { $0.durationSeconds ?? 0 < 4 }, "\(archives)")
    let pictures = archives.map { $0.videoFrames ?? 0 }
    let dark = pictures.indices.filter { pictures[$0] == 0 }
    #expect(dark.count >= 3 && dark.allSatisfy { archives[$0].videoCodecType == nil })
    // None of them is lost.
    #expect(pictures.reduce(0, +) == 105, "\(pictures)")
    #expect(archives.last?.videoFrames ?? 0 > 0)
  }

  /// The JSON grows with each part: it isn't written anew for each where that takes long.
  @Test func aLongReportIsNotWrittenForEachPart() async throws {
    var settings = parts
    settings.metadata = String(repeating: "not JSON ", count: 250_000)
    let recorder = try recorder(settings)
    var source = source
    source.hasVideo = false
    for frame in Clips.audio(packets: 3_000) { recorder.receive(frame, of: source) }
    let report = await recorder.finish()
    #expect(report.archives.count >= 55)
    #expect(recorder.reportCount < report.archives.count)
    let name = try #require(names.first { $0.hasSuffix(".json") })
    let data = try Data(contentsOf: folder.url.appendingPathComponent(name))
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect((object["archives"] as? [Any])?.count == report.archives.count)
    #expect(object["stopped_at"] != nil)
  }

  /// The part in which the codec changes ends with that, and those after it are whole again.
  @Test func anotherCodecIsInTheNextPart() async throws {
    let recorder = try recorder(parts)
    let frames =
      try video(.vp8, frames: 45, from: .zero)
      + video(.h264, frames: 75, from: .milliseconds(1_500))
    for frame in frames { recorder.receive(frame, of: source) }
    let archives = await recorder.finish().archives
    #expect(archives.map(\.videoCodecType).first == "VP8" && archives.count >= 4, "\(archives)")
    #expect(archives.count { $0.failure != nil } == 1)
    #expect(archives.last?.videoCodecType == "H264" && archives.last?.videoFrames ?? 0 > 0)
  }

  @Test func aPartThatCannotBeCreatedIsNotTheLast() async throws {
    let recorder = try recorder(parts)
    let failures = Mutex(0)
    recorder.onFailure = { _ in failures.withLock { $0 += 1 } }
    var frames = Clips.audio(packets: 250)[...]
    var source = source
    source.hasVideo = false
    func record(_ count: Int) {
      for frame in frames.prefix(count) { recorder.receive(frame, of: source) }
      frames = frames.dropFirst(count)
    }
    record(40)
    await wait { entries == 2 }
    try FileManager.default.removeItem(at: folder.url)
    record(60)
    await wait { failures.withLock { $0 } > 0 }
    try FileManager.default.createDirectory(
      at: folder.url, withIntermediateDirectories: true)
    record(150)
    let archives = await recorder.finish().archives
    #expect(archives.count { $0.failure == nil } >= 2 && entries >= 2, "\(archives)")
    #expect(archives.last?.failure == nil && archives.last?.audioPackets ?? 0 > 0, "\(archives)")
  }

  @Test func metadataThatIsNoJSONIsText() async throws {
    var settings = SessionSettings()
    settings.metadata = "{not JSON"
    let recorder = try recorder(settings)
    for frame in Clips.audio(packets: 10) { recorder.receive(frame, of: source) }
    let report = await recorder.finish()
    let name = try #require(names.first { $0.hasSuffix(".json") })
    let data = try Data(contentsOf: folder.url.appendingPathComponent(name))
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(object["metadata"] as? String == "{not JSON")
    #expect((object["archives"] as? [Any])?.count == report.archives.count)
  }

  private var names: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? []
  }
  private var entries: Int { names.count }

  private func wait(_ isTrue: () -> Bool) async {
    while !isTrue(), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
  }
}
