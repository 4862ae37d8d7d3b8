import Foundation
import SoraAudio
import SoraCapture
import SoraClock
import SoraCommandSupport
import SoraMedia
import Synchronization
import Testing

/// Collects what an input gives, and lets a test wait for some of it.
private final class Collector<Item: Sendable>: Sendable {
  private let items = Mutex<[Item]>([])
  private let (arrivals, arrived) = AsyncStream.makeStream(of: Int.self)

  func add(_ item: Item) {
    arrived.yield(
      items.withLock { items in
        items.append(item)
        return items.count
      })
  }

  func first(_ count: Int) async -> [Item] {
    for await arrival in arrivals where arrival >= count { break }
    return Array(items.withLock { $0 }.prefix(count))
  }
}

@Suite struct FileTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("sora-command-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  @Test func patternFramesAreStampedAndOnSchedule() async throws {
    let input = try #require(
      try VideoInput(
        .testPattern, resolution: Resolution(width: 160, height: 96), framesPerSecond: 200))
    let frames = Collector<RawVideoFrame>()
    input.start(at: SystemClock.now) {
      frames.add($0)
    }
    let first = await frames.first(5)
    input.stop()
    let indices = try first.map { try #require(FrameStamp(reading: $0.buffer)).index }
    #expect(indices.first == 0)
    for (a, b) in zip(first.indices, first.indices.dropFirst()) {
      let turns = Int64(indices[b]) - Int64(indices[a])
      #expect(turns >= 1)
      #expect((first[b].timestamp - first[a].timestamp) == .milliseconds(5 * turns))
    }
  }

  @Test func recordedFilesCanBePublishedAgain() async throws {
    let recorder = try #require(
      try Recorder(
        RecordFiles([path("a.y4m"), path("a.wav")]), framesPerSecond: 25))
    let pattern = TestPattern(width: 64, height: 48)
    for index in 0..<3 as Range<UInt32> {
      recorder.add(
        RawVideoFrame(
          buffer: pattern.frame(index: index, milliseconds: 5),
          timestamp: .zero + .milliseconds(40 * Int(index))))
    }
    recorder.add(
      AudioFrame(
        samples: (0..<480).map { Int16($0) }, sampleRate: 48_000, channels: 1, timestamp: .zero))
    let outcome = recorder.finish()
    #expect(outcome.failure == nil)
    #expect(outcome.frames == 3)
    #expect(outcome.audioSeconds == 0.01)

    let video = try #require(
      try VideoInput(
        .file(path("a.y4m")), resolution: Resolution(width: 16, height: 16), framesPerSecond: nil))
    #expect(video.resolution == Resolution(width: 64, height: 48))
    #expect(video.framesPerSecond == 25)
    let fast = try #require(
      try VideoInput(
        .file(path("a.y4m")), resolution: Resolution(width: 16, height: 16), framesPerSecond: 240))
    let frames = Collector<RawVideoFrame>()
    fast.start(at: .zero) { frames.add($0) }
    // Goes round: four frames of a file of three.
    #expect(await frames.first(4).allSatisfy { $0.width == 64 })
    fast.stop()

    let audio = try #require(try AudioInput(.file(path("a.wav")), framesPerSecond: 30))
    let blocks = Collector<AudioFrame>()
    audio.start(at: .zero) { blocks.add($0) }
    let block = try #require(await blocks.first(2).last)
    #expect(audio.warning == nil)
    audio.stop()
    #expect(block.sampleRate == 48_000 && block.frameCount == 480)
  }

  @Test func aFileThatWasCutPlaysWithAWarning() async throws {
    let recorder = try #require(
      try Recorder(RecordFiles([path("whole.wav")]), framesPerSecond: nil))
    for index in 0..<20 {
      recorder.add(
        AudioFrame(
          samples: [Int16](repeating: 7, count: 4_800), sampleRate: 48_000, channels: 1,
          timestamp: .zero + .milliseconds(100 * index)))
    }
    #expect(recorder.finish().audioSeconds == 2)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path("whole.wav")))
    try bytes.prefix(44 + 2 * 48_000 / 2).write(to: URL(fileURLWithPath: path("cut.wav")))

    let audio = try #require(try AudioInput(.file(path("cut.wav")), framesPerSecond: 30))
    let warning = try #require(audio.warning)
    #expect(warning.contains("says 2.0 s, 0.5 s are there"), "\(warning)")
    let blocks = Collector<AudioFrame>()
    audio.start(at: .zero) { blocks.add($0) }
    #expect(await blocks.first(60).count == 60)
    audio.stop()
    #expect(audio.failure == nil)
  }

  @Test(.timeLimit(.minutes(1))) func aFilmThatWasCutEndsWithItsName() async throws {
    let frame = Array("FRAME\n".utf8) + [UInt8](repeating: 128, count: 16 * 16 * 3 / 2)
    let bytes = Array("YUV4MPEG2 W16 H16 F240:1\n".utf8) + frame + frame.prefix(100)
    try Data(bytes).write(to: URL(fileURLWithPath: path("cut.y4m")))
    let input = try #require(
      try VideoInput(
        .file(path("cut.y4m")), resolution: Resolution(width: 16, height: 16), framesPerSecond: nil)
    )
    input.start(at: .zero) { _ in }
    while !input.hasEnded, !Task.isCancelled { try await Task.sleep(for: .milliseconds(5)) }
    input.stop()
    #expect(input.counters.failure == "\(path("cut.y4m")): the file ends inside frame 1")
  }

  @Test func filesThatCannotBeReadAreWrongUsage() {
    let resolution = Resolution(width: 16, height: 16)
    #expect(throws: UsageError.self) {
      try VideoInput(.file("/nowhere/a.y4m"), resolution: resolution, framesPerSecond: nil)
    }
    #expect(throws: UsageError.self) {
      try AudioInput(.file("/nowhere/a.wav"), framesPerSecond: 30)
    }
    #expect(throws: UsageError.self) {
      try Recorder(RecordFiles(["/nowhere/a.y4m"]), framesPerSecond: 30)
    }
    #expect(throws: UsageError.self) { try SnapshotKeeper(path: "/nowhere/a.png") }
    #expect(throws: UsageError.self) { try SnapshotKeeper(path: "a.jpg") }
  }

  @Test func snapshotIsTakenAtTheEndOfAShortCall() throws {
    let keeper = try SnapshotKeeper(path: path("a.png"))
    #expect(keeper.finish() != nil)
    let second = try SnapshotKeeper(path: path("b.png"))
    let picture = TestPattern(width: 64, height: 48).frame(index: 0, milliseconds: 0)
    second.add(RawVideoFrame(buffer: picture, timestamp: .zero), at: .zero)
    #expect(second.finish() == nil)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path("b.png")))
    #expect(bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]))
  }
}
