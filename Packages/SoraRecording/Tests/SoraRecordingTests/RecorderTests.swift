import Foundation
import SoraMedia
import SoraRecording
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(2))) struct RecorderTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  /// A picture of VP8 that nobody can decode: its head says a size.
  private func picture(
    _ index: Int, isKeyFrame: Bool, bytes: Int = 100, codec: VideoCodecKind = .vp8
  ) -> EncodedTrackFrame {
    var payload: [UInt8] =
      isKeyFrame ? [0x10, 0, 0, 0x9D, 0x01, 0x2A, 160, 0, 96, 0] : [0x11, 0, 0]
    payload += [UInt8](repeating: 7, count: max(0, bytes - payload.count))
    let time = Instant.zero + .milliseconds(index * 1_000 / 30)
    return EncodedTrackFrame(
      codec: .video(codec),
      frame: EncodedFrame(
        payload: EncodedBuffer(payload), isKeyFrame: isKeyFrame,
        rtpTimestamp: UInt32(truncatingIfNeeded: index * 3_000), timestamp: time), receiveTime: time
    )
  }

  @Test(arguments: ["a.avi", "a", "webm", "a.y4m"]) func otherEndingsNameThoseThatWork(
    _ name: String
  )
    throws
  {
    let error = #expect(throws: MediaFileError.self) {
      try MediaRecorder(path: folder.path(name))
    }
    let text = try #require(error?.description)
    #expect(text.contains(".webm") && text.contains(".mkv") && text.contains(".mp4"))
    #expect(!FileManager.default.fileExists(atPath: folder.path(name)))
  }

  @Test func aFolderThatIsNotThereIsTheReason() throws {
    let error = #expect(throws: MediaFileError.self) {
      try MediaRecorder(path: folder.path("none/a.webm"))
    }
    #expect(error?.description.hasPrefix("cannot create ") == true)
    #expect(error?.description.hasSuffix(": No such file or directory") == true)
  }

  @Test func aCodecThatTheContainerCannotHoldIsOneError() throws {
    let recorder = try MediaRecorder(path: folder.path("a.webm"))
    let told = Mutex<[MediaFileError]>([])
    recorder.onFailure = { error in told.withLock { $0.append(error) } }
    for frame in try Clips.video(.h264, frames: 5) { recorder.receive(frame) }
    let outcome = recorder.finish()
    let error = MediaFileError.codecNotInContainer(
      path: folder.path("a.webm"), codec: .video(.h264), container: .webm)
    #expect(told.withLock { $0 } == [error])
    #expect(outcome.failure == error)
    #expect(outcome.framesNotTaken + outcome.videoFrames == 4)
    #expect(error.description.contains("end the name in .mkv or .mp4"))
  }

  @Test func anotherCodecIsOneError() throws {
    let recorder = try MediaRecorder(path: folder.path("a.mkv"))
    recorder.receive(picture(0, isKeyFrame: true))
    for frame in try Clips.video(.h264, frames: 3) { recorder.receive(frame) }
    let outcome = recorder.finish()
    #expect(
      outcome.failure
        == .codecChanged(path: folder.path("a.mkv"), from: .video(.vp8), to: .video(.h264)))
    #expect(outcome.videoFrames == 1)
  }

  @Test(arguments: MediaContainer.allCases) func aFullDiskIsOneError(_ container: MediaContainer)
    throws
  {
    let path = folder.path("full.\(container.fileEnding)")
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/full")
    let recorder = try MediaRecorder(path: path)
    let told = Mutex<[MediaFileError]>([])
    recorder.onFailure = { error in told.withLock { $0.append(error) } }
    let frames = Clips.together(
      try Clips.video(container == .mp4 ? .h264 : .vp8, frames: 60), Clips.audio(packets: 100))
    for frame in frames { recorder.receive(frame) }
    let outcome = recorder.finish()
    let error = MediaFileError.system(path: path, operation: "write", errno: ENOSPC)
    #expect(told.withLock { $0 } == [error])
    #expect(outcome.failure == error)
    #expect("\(error)" == "cannot write \(path): No space left on device")
    // Nothing is lost without being counted. The frame that failed is the error's.
    let counted =
      outcome.framesNotTaken + outcome.framesWithoutKeyFrame + outcome.videoFrames
      + outcome.audioFrames
    #expect(counted >= 150, "\(outcome)")
    #expect(recorder.finish() == outcome)
  }

  /// Who is told of a failure ends the recording there.
  @Test(arguments: [true, false]) func whereAFailureIsToldTheFileCanBeEnded(_ isFull: Bool) throws {
    let path = folder.path("a.mkv")
    if isFull {
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/full")
    }
    let recorder = try MediaRecorder(path: path)
    let outcomes = Mutex<[MediaRecorder.Outcome]>([])
    recorder.onFailure = { [weak recorder] _ in
      if let outcome = recorder?.finish() { outcomes.withLock { $0.append(outcome) } }
    }
    recorder.receive(picture(0, isKeyFrame: true))
    for frame in try Clips.video(isFull ? .vp8 : .h264, frames: 60) { recorder.receive(frame) }
    let outcome = recorder.finish()
    let early = outcomes.withLock { $0 }
    #expect(early.count == 1 && early[0].failure != nil && early[0].failure == outcome.failure)
    let ended = Mutex<[MediaRecorder.Outcome]>([])
    recorder.finish { [weak recorder] outcome in
      if let again = recorder?.finish() { ended.withLock { $0 = [outcome, again] } }
    }
    #expect(recorder.finish() == outcome)
    #expect(ended.withLock { $0 } == [outcome, outcome])
  }

  @Test func picturesBeginWithAKeyFrameAndGoOnWithOneAfterALoss() throws {
    var settings = MediaRecorder.Settings()
    settings.hasAudio = false
    let recorder = try MediaRecorder(path: folder.path("a.mkv"), settings: settings)
    let requests = Mutex(0)
    recorder.attached(to: .audio) { requests.withLock { $0 += 100 } }
    recorder.attached(to: .video) { requests.withLock { $0 += 1 } }
    #expect(requests.withLock { $0 } == 1)
    for index in 0..<10 { recorder.receive(picture(index, isKeyFrame: false)) }
    for index in 10..<20 { recorder.receive(picture(index, isKeyFrame: index == 10)) }
    recorder.noteLoss()
    for index in 25..<40 { recorder.receive(picture(index, isKeyFrame: index == 30)) }
    let outcome = recorder.finish()
    #expect(outcome.failure == nil)
    #expect(outcome.videoFrames == 20 && outcome.framesWithoutKeyFrame == 15)
    // At the start, where it was needed, and after the loss.
    #expect(requests.withLock { $0 } >= 3)
    let reader = try MediaFileReader(path: folder.path("a.mkv"))
    var times: [Duration] = []
    var keys: [Int] = []
    while let frame = try reader.next() {
      if frame.frame.isKeyFrame { keys.append(times.count) }
      times.append(frame.time)
    }
    #expect(keys == [0, 10])
    #expect(times.first == .zero)
    #expect(abs((times[10] - times[9]).inMilliseconds - 367) < 3, "\(times)")
  }

  /// What can't be written in time is dropped, and the rest is a file.
  @Test func aBacklogIsBounded() throws {
    var settings = MediaRecorder.Settings()
    settings.hasAudio = false
    settings.maximumBacklog = 50_000
    let recorder = try MediaRecorder(path: folder.path("a.webm"), settings: settings)
    recorder.receive(picture(0, isKeyFrame: true))
    // One that could never wait.
    recorder.receive(picture(1, isKeyFrame: false, bytes: 60_000))
    recorder.receive(picture(2, isKeyFrame: false))
    recorder.receive(picture(3, isKeyFrame: true))
    recorder.receive(picture(4, isKeyFrame: false))
    let outcome = recorder.finish()
    #expect(outcome.failure == nil)
    #expect(outcome.framesTooMany == 1 && outcome.framesWithoutKeyFrame == 1)
    #expect(outcome.videoFrames == 3)
  }

  @Test func soundWaitsForPicturesAndNotForever() throws {
    let recorder = try MediaRecorder(path: folder.path("a.webm"))
    for frame in Clips.audio(packets: 600) { recorder.receive(frame) }
    for index in 400..<410 { recorder.receive(picture(index, isKeyFrame: index == 400)) }
    let outcome = recorder.finish()
    #expect(outcome.failure == nil)
    #expect(outcome.audioFrames == 600)
    // The file has no track for them any more.
    #expect(outcome.videoFrames == 0 && outcome.framesNotTaken == 10)
  }

  @Test func soundThatWasOvertakenIsPutBackInOrderAndOnce() throws {
    var settings = MediaRecorder.Settings()
    settings.hasVideo = false
    let recorder = try MediaRecorder(path: folder.path("a.mkv"), settings: settings)
    var packets = Clips.audio(packets: 100)
    // Each says which it is.
    for index in packets.indices {
      packets[index].frame.payload = EncodedBuffer([0xFC, 0xFF, UInt8(index)])
    }
    let ordered = packets.map { Array($0.frame.payload.bytes) }
    packets.swapAt(20, 22)
    packets.swapAt(50, 53)
    packets.insert(packets[70], at: 72)
    for packet in packets { recorder.receive(packet) }
    let outcome = recorder.finish()
    #expect(outcome.audioFrames == 100 && outcome.framesNotTaken == 1)
    let reader = try MediaFileReader(path: folder.path("a.mkv"))
    var read: [[UInt8]] = []
    while let frame = try reader.next() {
      #expect(abs(frame.time.inMilliseconds - Double(read.count) * 20) < 6)
      read.append(Array(frame.frame.payload.bytes))
    }
    #expect(read == ordered)
  }

  /// Sound comes later than the pictures of its time, and the file begins with a picture: packets keep their distance.
  @Test(arguments: [0, 30, 60, 250]) func soundThatComesLateKeepsItsTime(_ latency: Int) throws {
    let recorder = try MediaRecorder(path: folder.path("a.webm"))
    var frames: [EncodedTrackFrame] = []
    for index in 6..<60 {
      var made = picture(index, isKeyFrame: index == 6)
      made.captureTime = .seconds(1_700_000_000) + (made.receiveTime - .zero)
      frames.append(made)
    }
    for var packet in Clips.audio(packets: 90) {
      packet.captureTime =
        .seconds(1_700_000_000) + (packet.receiveTime - .zero) - Clips.packetLength
      packet.receiveTime += .milliseconds(latency)
      frames.append(packet)
    }
    for frame in Clips.together(frames) { recorder.receive(frame) }
    #expect(recorder.finish().failure == nil)
    let reader = try MediaFileReader(path: folder.path("a.webm"))
    let sound = try #require(reader.firstTrack(.audio))
    var times: (video: [Double], audio: [Double]) = ([], [])
    while let frame = try reader.next() {
      if frame.track == sound {
        times.audio.append(frame.time.inMilliseconds)
      } else {
        times.video.append(frame.time.inMilliseconds)
      }
    }
    for (earlier, later) in zip(times.audio, times.audio.dropFirst()) {
      #expect(abs(later - earlier - 20) < 3, "\(times.audio.prefix(8))")
    }
    // The last picture was captured 187 ms after the last packet.
    let (video, audio) = (try #require(times.video.last), try #require(times.audio.last))
    #expect(abs(video - audio - (59_000.0 / 30 - 1_780)) < 8, "\(video) \(audio)")
  }

  /// Another publisher takes over: the same track goes on at its time.
  @Test func anotherSourceGoesOnInTheSameTrack() throws {
    let recorder = try MediaRecorder(path: folder.path("a.webm"))
    recorder.attached(to: .video) {}
    for index in 0..<30 { recorder.receive(picture(index, isKeyFrame: index == 0)) }
    recorder.attached(to: .video) {}
    for index in 45..<60 {
      var other = picture(index, isKeyFrame: index == 50)
      other.frame.rtpTimestamp &+= 3_000_000_000
      other.captureTime = .seconds(1_700_000_000) + .milliseconds(index * 1_000 / 30)
      recorder.receive(other)
    }
    let outcome = recorder.finish()
    #expect(outcome.failure == nil && outcome.videoFrames == 40)
    let reader = try MediaFileReader(path: folder.path("a.webm"))
    var times: [Double] = []
    while let frame = try reader.next() { times.append(frame.time.inSeconds) }
    #expect(abs(times[30] - 50.0 / 30) < 0.006, "\(times)")
    #expect(times.count == 40)
  }

  @Test func nothingRecordedIsNoError() throws {
    let recorder = try MediaRecorder(path: folder.path("a.mp4"))
    let outcome = recorder.finish()
    #expect(outcome.failure == nil && outcome.videoFrames == 0 && outcome.byteCount == 0)
    recorder.receive(picture(0, isKeyFrame: true))
    #expect(recorder.finish().framesNotTaken == 1)
  }

  /// Two seconds of what a container may hold, for `victim`.
  private func makeSource(for container: MediaContainer, keyFrameEvery interval: Int) throws
    -> String
  {
    let source = folder.path("source.mkv")
    let recorder = try MediaRecorder(path: source)
    let codec: VideoCodecKind = container == .mp4 ? .h264 : .vp8
    for frame in Clips.together(
      try Clips.video(codec, frames: 60, keyFrameEvery: interval), Clips.audio(packets: 100))
    {
      recorder.receive(frame)
    }
    recorder.finish()
    return source
  }

  /// The program that copies such a file over and over.
  private static let victim = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("RecordingVictim")

  /// Twenty times a process writes, is killed, and leaves a file that plays.
  @Test(
    .enabled(if: ProbedFile.isInstalled, "needs ffprobe: apt-get install ffmpeg"),
    arguments: MediaContainer.allCases)
  func aKilledProcessLeavesAFileThatPlays(_ container: MediaContainer) throws {
    let source = try makeSource(for: container, keyFrameEvery: 40)
    let others = container == .webm ? 6 : 7
    for round in 0..<others {
      let path = folder.path("\(round).\(container.fileEnding)")
      let process = Process()
      process.executableURL = Self.victim
      process.arguments = [source, path]
      try process.run()
      // At another place of the file each time: some bytes are there at least.
      let wanted = 3_000 + round * 2_111
      // Holding the thread: where it were given away beside other tests, the file would grow until it is given back.
      while process.isRunning, Self.size(path) < wanted { usleep(2_000) }
      #expect(process.isRunning)
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      let probed = try ProbedFile(path)
      #expect(probed.video?.frames ?? 0 > 10, "\(path)")
      #expect(probed.times(probed.audio).count > 10)
      // The last picture may be cut; what lies before it is whole.
      #expect(probed.complaints.split(separator: "\n").count <= 3, "\(probed.complaints)")
    }
  }

  /// Wherever a disk is full, in the middle of a fragment's head too, what lies before plays.
  @Test(arguments: MediaContainer.allCases)
  func whatAFullDiskHasPlays(_ container: MediaContainer) async throws {
    let source = try makeSource(for: container, keyFrameEvery: 10)
    var longest = 0
    // Blocks of 512 bytes. The first hold the file's head.
    for blocks in 16..<64 {
      let path = folder.path("\(blocks).\(container.fileEnding)")
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = [
        "-c", "trap '' XFSZ; ulimit -f \(blocks); exec \"$0\" \"$@\"", Self.victim.path,
        source, path,
      ]
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationStatus == 1 && Self.size(path) <= blocks * 512)
      let reader = try MediaFileReader(path: path)
      var frames = 0
      while try reader.next() != nil { frames += 1 }
      longest = max(longest, frames)
    }
    #expect(longest > 20)
  }

  private static func size(_ path: String) -> Int {
    ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int) ?? 0
  }
}
