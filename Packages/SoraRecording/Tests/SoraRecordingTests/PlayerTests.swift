import Foundation
import SoraMedia
import SoraRecording
import Synchronization
import Testing

@Suite struct PlayerTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  /// A film of two seconds, or of so many frames at 30 per second, with a key frame each half second.
  private func film(
    _ codec: VideoCodecKind = .vp8, _ ending: String = "webm", frames: Int = 60
  ) throws -> String {
    let path = folder.path("a.\(ending)")
    let recorder = try MediaRecorder(path: path)
    let video = try Clips.video(codec, frames: frames)
    let audio = Clips.audio(packets: frames * 5 / 3)
    for frame in Clips.together(video, audio) { recorder.receive(frame) }
    #expect(recorder.finish().failure == nil)
    return path
  }

  private func sequence(_ path: String, loops: Bool) throws -> MediaFileSequence {
    let reader = try MediaFileReader(path: path)
    return MediaFileSequence(
      reader: reader, video: reader.firstTrack(.video), audio: reader.firstTrack(.audio),
      loops: loops)
  }

  @Test func framesComeInTheOrderOfTheirTimes() throws {
    let sequence = try sequence(film(), loops: false)
    var times: [MediaKind: [Duration]] = [:]
    var last = Duration.zero
    while let item = try sequence.next() {
      #expect(item.time >= last)
      last = item.time
      times[item.kind, default: []].append(item.time)
    }
    #expect(times[.video]?.count == 60 && times[.audio]?.count == 100)
    #expect(times[.video]?.first == .zero && times[.audio]?.first == .zero)
    // Over means over.
    #expect(try sequence.next() == nil)
  }

  @Test func aFilmThatLoopsGoesOnWithoutAGap() throws {
    let sequence = try sequence(film(), loops: true)
    var video: [Duration] = []
    var audio: [Duration] = []
    while sequence.rounds < 3, let item = try sequence.next() {
      if item.kind == .video { video.append(item.time) } else { audio.append(item.time) }
      if sequence.rounds > 0, video.count % 60 == 1, item.kind == .video {
        #expect(item.frame.frame.isKeyFrame)
      }
    }
    #expect(video.count >= 180 && audio.count >= 300)
    for (times, interval) in [(video, 1.0 / 30), (audio, 0.02)] {
      for (earlier, later) in zip(times, times.dropFirst()) {
        #expect(abs((later - earlier).inSeconds - interval) < 0.006)
      }
    }
  }

  /// The times of a broadcast, or of a part of a film, begin anywhere; what is told of them begins at zero.
  @Test(
    .enabled(if: ProbedFile.isInstalled, "needs ffmpeg: apt-get install ffmpeg"),
    arguments: ["b.mkv", "b.mp4", "b.ts", "reordered.mkv", "reordered.ts"])
  func aFilmWhoseTimesBeginLaterIsTheSame(_ name: String) throws {
    let path = folder.path(name)
    let coding = name.hasPrefix("b") ? ["copy"] : ["libx264", "-g", "15", "-bf", "2"]
    let run = try ProbedFile.run(
      [
        "ffmpeg", "-nostdin", "-y", "-loglevel", "error", "-i", film(.h264, "mkv"), "-c:a", "copy",
        "-c:v",
      ] + coding + ["-output_ts_offset", "10", path])
    #expect(run.errors == "")
    let sequence = try sequence(path, loops: true)
    #expect(abs((sequence.reader.duration ?? .zero).inSeconds - 2) < 0.1)
    var video: [Duration] = []
    var audio: [Duration] = []
    var positions: [Duration] = []
    while sequence.rounds < 3, let item = try sequence.next() {
      let time = item.time + (item.frame.time - item.latest)
      if item.kind == .video { video.append(time) } else { audio.append(time) }
      positions.append(sequence.position)
      #expect(item.frame.time >= .seconds(9))
    }
    #expect(video.count >= 180 && audio.count >= 300)
    for (times, interval) in [(video.sorted(), 1.0 / 30), (audio, 0.02)] {
      for (earlier, later) in zip(times, times.dropFirst()) {
        #expect(abs((later - earlier).inSeconds - interval) < 0.015)
      }
    }
    #expect(positions.min() == .zero)
    #expect(abs((positions.max() ?? .zero).inSeconds - 2) < 0.1)
    // A transport stream has no index: a key frame comes, and not always the one before.
    guard !name.hasSuffix("ts") else { return }
    try sequence.seek(to: .milliseconds(1_200), at: .seconds(40))
    var item = try sequence.next()
    while let other = item, other.kind != .video { item = try sequence.next() }
    let picture = try #require(item)
    #expect(picture.frame.frame.isKeyFrame && picture.time >= .seconds(40))
    #expect(abs(picture.frame.time.inSeconds - 11) < 0.1)
    #expect(abs(sequence.position.inSeconds - 1) < 0.1)
  }

  /// Before anything was read the file's beginning is known, too.
  @Test(.enabled(if: ProbedFile.isInstalled, "needs ffmpeg: apt-get install ffmpeg"))
  func aFilmWhoseTimesBeginLaterCanBeginInTheMiddle() throws {
    let path = folder.path("b.mkv")
    _ = try ProbedFile.run([
      "ffmpeg", "-nostdin", "-y", "-loglevel", "error", "-i", film(.h264, "mkv"), "-c", "copy",
      "-output_ts_offset", "10", path,
    ])
    let sequence = try sequence(path, loops: false)
    try sequence.seek(to: .milliseconds(700), at: .zero)
    let item = try #require(try sequence.next())
    #expect(abs(item.frame.time.inSeconds - 10.5) < 0.1 && item.time == .zero)
  }

  /// However much of a film comes before the first picture that can be decoded.
  @Test func whatCannotBeDecodedIsPassedOver() throws {
    let path = folder.path("a.mkv")
    let key = try #require(Clips.video(.vp8, frames: 1).first).frame
    let writer = try MediaFileWriter(path: path)
    let parameters = try #require(VideoTrackParameters(keyFrame: key, codec: .vp8))
    let track = try writer.addVideoTrack(parameters)
    try writer.start()
    let payload = EncodedBuffer([UInt8](repeating: 1, count: 2 << 20))
    for index in 0..<40 {
      let frame = EncodedFrame(
        payload: payload, isKeyFrame: false, rtpTimestamp: 0, timestamp: .zero)
      try writer.write(frame, track: track, at: .milliseconds(index * 33))
    }
    try writer.write(key, track: track, at: .milliseconds(40 * 33))
    try writer.finish()
    let first = try sequence(path, loops: false).next()
    #expect(first?.frame.frame.isKeyFrame == true)
  }

  @Test(arguments: [(1_200, 1.0), (0, 0), (90_000, 1.5)])
  func seekingGoesOnAtAKeyFrame(_ milliseconds: Int, _ expected: Double) throws {
    let sequence = try sequence(film(), loops: false)
    for _ in 0..<30 { _ = try sequence.next() }
    try sequence.seek(to: .milliseconds(milliseconds), at: .seconds(40))
    var first: [MediaKind: MediaFileSequence.Item] = [:]
    while first.count < 2, let item = try sequence.next() {
      if first[item.kind] == nil { first[item.kind] = item }
    }
    let picture = try #require(first[.video])
    #expect(picture.frame.frame.isKeyFrame)
    #expect(abs(picture.frame.time.inSeconds - expected) < 0.006)
    #expect(picture.time == .seconds(40))
    // Audio and video stay in step.
    let sound = try #require(first[.audio])
    let difference = (sound.time - picture.time) - (sound.frame.time - picture.frame.time)
    #expect(difference == .zero && sound.time >= picture.time)
  }

  @Test(.timeLimit(.minutes(5))) func aPlayerKeepsTheTimes() async throws {
    let player = try MediaFilePlayer(path: film(), loops: true)
    #expect(player.video?.width == 160 && player.audio?.codec == .opus)
    let (stream, continuation) = AsyncStream.makeStream(of: MediaFilePlayer.Content.self)
    player.start { continuation.yield($0) }
    defer { player.stop() }
    var video: [Instant] = []
    for await case .encoded(let frame, .video) in stream {
      video.append(frame.timestamp)
      if video.count == 20 { player.pause() }
      if video.count == 20 { player.resume() }
      if video.count == 30 { player.seek(to: .milliseconds(100)) }
      if video.count > 100, player.rounds > 0 { break }
    }
    #expect(video == video.sorted())
    // Two seconds and a half were played, however late the machine was.
    let length = (video[100] - video[0]).inSeconds
    #expect(length > 3.2, "\(length)")
  }

  /// What a player gives, and tells, one after the other.
  private enum Step: Sendable {
    case video(EncodedFrame)
    case ended
    case failed(MediaFileError)
  }

  private func start(_ player: MediaFilePlayer) -> AsyncStream<Step> {
    let (stream, continuation) = AsyncStream.makeStream(of: Step.self)
    player.start { content in
      if case .encoded(let frame, .video) = content { continuation.yield(.video(frame)) }
    } notify: { event in
      switch event {
      case .ended: continuation.yield(.ended)
      case .failed(let error): continuation.yield(.failed(error))
      }
    }
    return stream
  }

  /// The RTP timestamps of the next pictures, up to so many or the end.
  private func pictures(_ steps: AsyncStream<Step>, _ count: Int = .max) async -> [UInt32] {
    var times: [UInt32] = []
    for await case .video(let frame) in steps.prefix(while: {
      if case .video = $0 { true } else { false }
    }) {
      times.append(frame.rtpTimestamp)
      if times.count == count { break }
    }
    return times
  }

  @Test(.timeLimit(.minutes(5))) func aPlayerThatWasStoppedBeginsAtTheBeginning() async throws {
    // Long enough that it still plays once 20 pictures have come, however busy the machine is.
    let player = try MediaFilePlayer(path: film(frames: 600), kinds: [.video])
    defer { player.stop() }
    let first = await pictures(start(player), 20)
    player.stop()
    // Had anything stayed of before, the middle would come.
    #expect(await pictures(start(player), 20) == first)
    // It plays already.
    player.start { _ in Issue.record("started twice") }
    player.stop()
    player.seek(to: .milliseconds(15_200))
    #expect(await pictures(start(player), 1).first.map { $0 / 9_000 } == 150)
    player.stop()
    #expect(await pictures(start(player), 20) == first)
    #expect(player.rounds == 0 && player.position < .seconds(10))
  }

  @Test(.timeLimit(.minutes(5))) func aPlayerStartsAgainAtTheEnd() async throws {
    let player = try MediaFilePlayer(path: film(frames: 12), kinds: [.video])
    defer { player.stop() }
    let all = await pictures(start(player))
    #expect(all.count == 12)
    #expect(await pictures(start(player)) == all)
    player.stop()
    #expect(await pictures(start(player)) == all)
  }

  @Test(.timeLimit(.minutes(5))) func aPlayerThatStandsStillIsWhereItWasSentTo() async throws {
    let player = try MediaFilePlayer(path: film(), kinds: [.video])
    defer { player.stop() }
    player.pause()
    _ = start(player)
    player.seek(to: .milliseconds(1_000))
    for _ in 0..<400 where player.position == .zero {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(player.position == .milliseconds(1_000))
  }

  @Test(.timeLimit(.minutes(5))) func aPauseBeforeTheStartCounts() async throws {
    let player = try MediaFilePlayer(path: film(), kinds: [.video])
    defer { player.stop() }
    player.pause()
    let isResumed = Mutex(false)
    let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
    player.start { _ in continuation.yield(isResumed.withLock { $0 }) }
    try await Task.sleep(for: .milliseconds(300))
    isResumed.withLock { $0 = true }
    player.resume()
    for await came in stream.prefix(5) { #expect(came) }
    player.stop()
    // Neither a pause that was taken back nor one of before a stop does.
    player.pause()
    player.resume()
    #expect(await pictures(start(player), 3).count == 3)
    player.stop()
    player.pause()
    player.stop()
    #expect(await pictures(start(player), 3).count == 3)
  }

  @Test(.timeLimit(.minutes(5)), arguments: [true, false])
  func aPlayerCanBeStoppedWhereItGivesAndTells(_ atTheEnd: Bool) async throws {
    let player = try MediaFilePlayer(path: film(frames: 12), kinds: [.video])
    let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
    let stop: @Sendable () -> Void = {
      player.stop()
      continuation.yield(true)
    }
    player.start { _ in
      if !atTheEnd { stop() }
    } notify: { _ in
      stop()
    }
    for await _ in stream { break }
    player.stop()
    let before = await pictures(start(player))
    #expect(before.count == 12)
    player.stop()
    continuation.finish()
    // After the stop nothing came.
    var more = 0
    for await _ in stream { more += 1 }
    #expect(more == 0)
  }

  /// A file that another one was put in the place of, with other tracks, fails where it begins anew.
  @Test(.timeLimit(.minutes(5))) func aFilmThatIsReplacedFailsWhereItLoops() async throws {
    let path = try film(frames: 12)
    let player = try MediaFilePlayer(path: path, loops: true)
    defer { player.stop() }
    let steps = start(player)
    let recorder = try MediaRecorder(path: folder.path("other.webm"))
    for frame in try Clips.video(.vp9, frames: 12) { recorder.receive(frame) }
    recorder.finish()
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: folder.path("other.webm"), toPath: path)
    var failure: MediaFileError?
    for await step in steps {
      guard case .failed(let error) = step else { continue }
      failure = error
      break
    }
    #expect(
      failure?.description
        == "cannot begin anew \(path): other tracks are in it than when it was opened")
  }

  @Test func whatCanNotBePlayedIsOneError() throws {
    let path = try film()
    let missing = #expect(throws: MediaFileError.self) {
      try MediaFilePlayer(path: folder.path("none.webm"))
    }
    #expect(missing?.description.contains("No such file") == true)
    let silent = folder.path("b.webm")
    let recorder = try MediaRecorder(path: silent)
    for frame in Clips.audio(packets: 10) { recorder.receive(frame) }
    _ = recorder.finish()
    let error = #expect(throws: MediaFileError.self) {
      try MediaFilePlayer(path: silent, kinds: [.video])
    }
    #expect(error?.description.hasPrefix("\(silent): no video that can be played; it has ") == true)
    #expect(try MediaFilePlayer(path: path, kinds: [.audio]).video == nil)
  }
}
