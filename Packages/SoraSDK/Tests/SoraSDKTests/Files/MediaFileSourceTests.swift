import Foundation
import SoraMedia
import SoraRecording
import SoraSDK
import SoraSignaling
import Testing
import WebRTC

/// Files in the place of a camera, to the other end of a call.
@Suite(.timeLimit(.minutes(5))) struct MediaFileSourceTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("sora-source-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// Ten pictures of 64x48 at 25 frames per second, each of one grey.
  private func raw() throws -> String {
    var bytes = Array("YUV4MPEG2 W64 H48 F25:1 C420\n".utf8)
    for index in 0..<10 as Range<UInt8> {
      bytes += Array("FRAME\n".utf8)
      bytes += [UInt8](repeating: 40 + index * 16, count: 64 * 48)
      bytes += [UInt8](repeating: 128, count: 2 * 32 * 24)
    }
    let path = path("film.y4m")
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return path
  }

  /// The same, as a call's other end got it.
  private func encoded() async throws -> String {
    let path = path("film.webm")
    let (far, channel) = try await call()
    let track = try #require(far.peer.receivers.compactMap { $0.track as? RTCVideoTrack }.first)
    let recorder = try MediaRecorder(path: path)
    track.addEncodedFrameSink(recorder)
    let sink = try pictures(of: far)
    let source = try MediaFileSource(path: raw(), loops: true)
    source.start(sendingTo: try #require(channel.senderStream))
    await sink.sizes.wait(for: 15)
    source.stop()
    await channel.disconnect()
    #expect(recorder.finish().failure == nil)
    return path
  }

  private func frames(_ path: String) throws -> Int {
    let reader = try MediaFileReader(path: path)
    var count = 0
    while try reader.next() != nil { count += 1 }
    return count
  }

  private func call() async throws -> (far: FarEnd, channel: MediaChannel) {
    let far = try await FarEnd(receives: true)
    let server = try await ScriptedSora(far)
    let channel = try await Attempt(server.configuration(), face: .tasks).channel()
    return (far, channel)
  }

  private func pictures(of far: FarEnd) throws -> PictureSink {
    let sink = PictureSink()
    let receiver = try #require(far.peer.receivers.compactMap { $0.track as? RTCVideoTrack }.first)
    receiver.add(sink: sink)
    return sink
  }

  @Test(arguments: [true, false]) func aFileIsSentAgainAndAgain(_ isEncoded: Bool) async throws {
    let (far, channel) = try await call()
    let sink = try pictures(of: far)
    let path = isEncoded ? try await encoded() : try raw()
    let source = try MediaFileSource(path: path, loops: true)
    #expect(source.video?.width == 64)
    #expect((source.video?.codec != nil) == isEncoded)
    let given = Recorder<Bool>()
    source.onFrame = { content in
      switch content {
      case .encoded(_, let codec): given.append(isEncoded && codec.kind == .video)
      case .picture(let frame): given.append(!isEncoded && frame.width == 64 && frame.height == 48)
      case .sound: given.append(false)
      }
    }
    source.start(sendingTo: try #require(channel.senderStream))
    await given.wait { _ in source.rounds >= 2 }
    await sink.sizes.wait(for: 10)
    #expect(given.elements.allSatisfy { $0 })
    #expect(sink.sizes.elements.allSatisfy { $0 == "64x48" })
    source.pause()
    // What was on its way still came; then nothing does.
    _ = source.position
    let count = given.elements.count
    try await Task.sleep(for: .milliseconds(200))
    #expect(given.elements.count == count)
    source.resume()
    await given.wait(for: count + 3)
    source.stop()
    await channel.disconnect()
  }

  @Test(arguments: [true, false]) func theEndIsTold(_ isEncoded: Bool) async throws {
    let (_, channel) = try await call()
    let path = isEncoded ? try await encoded() : try raw()
    let source = try MediaFileSource(path: path)
    let frames = try frames(path)
    let ends = Recorder<String>()
    let given = Recorder<Int>()
    source.onFrame = { _ in given.append(1) }
    source.onEnd = { ends.append("\($0.map { "\($0)" } ?? "over")") }
    source.start(sendingTo: try #require(channel.senderStream))
    await ends.wait(for: 1)
    #expect(ends.elements == ["over"])
    #expect(given.elements.count == frames)
    // From the beginning again.
    source.seek(to: .zero)
    await ends.wait(for: 2)
    #expect(given.elements.count == 2 * frames)
    source.stop()
    await channel.disconnect()
  }

  /// A source that was stopped stays so, whoever comes; begun again, it begins at the beginning.
  @Test func whatWasStoppedDoesNotBeginByItself() async throws {
    let (_, channel) = try await call()
    let stream = try #require(channel.senderStream)
    let video = try #require(stream.videoSource)
    let source = try MediaFileSource(path: try await encoded(), loops: true)
    let given = Recorder<UInt32>()
    source.onFrame = { content in
      if case .encoded(let frame, .video) = content { given.append(frame.rtpTimestamp) }
    }
    source.start(sendingTo: stream)
    await given.wait(for: 3)
    let feedback = try #require(video.encodedFrameDelegate)
    source.stop()
    let count = given.elements.count
    // Another connection, and one that was about to begin when it was stopped.
    video.encodedFrameDelegate?.videoSource(video, isSentAs: .vp8)
    feedback.videoSource(video, isSentAs: .vp8)
    try await Task.sleep(for: .milliseconds(300))
    #expect(given.elements.count == count)
    source.start(sendingTo: stream)
    await given.wait(for: count + 3)
    #expect(Array(given.elements.dropFirst(count).prefix(3)) == Array(given.elements.prefix(3)))
    source.stop()
    await channel.disconnect()
  }

  /// A film that is over isn't begun again by who comes then.
  @Test func whatIsOverDoesNotBeginByItself() async throws {
    let (_, channel) = try await call()
    let stream = try #require(channel.senderStream)
    let video = try #require(stream.videoSource)
    let source = try MediaFileSource(path: try await encoded())
    let ends = Recorder<Bool>()
    let given = Recorder<Bool>()
    source.onFrame = { _ in given.append(true) }
    source.onEnd = { ends.append($0 == nil) }
    source.start(sendingTo: stream)
    await ends.wait(for: 1)
    let count = given.elements.count
    video.encodedFrameDelegate?.videoSource(video, isSentAs: .vp8)
    try await Task.sleep(for: .milliseconds(300))
    #expect(given.elements.count == count && ends.elements == [true])
    source.stop()
    await channel.disconnect()
  }

  @Test func aPauseBeforeTheStartCounts() async throws {
    let (_, channel) = try await call()
    let source = try MediaFileSource(path: try await encoded(), loops: true)
    let given = Recorder<Bool>()
    source.onFrame = { _ in given.append(true) }
    source.pause()
    source.start(sendingTo: try #require(channel.senderStream))
    try await Task.sleep(for: .milliseconds(300))
    #expect(given.elements.isEmpty)
    source.resume()
    await given.wait(for: 3)
    source.stop()
    await channel.disconnect()
  }

  /// Where the end is told the source may be stopped.
  @Test func itCanBeStoppedWhereItsEndIsTold() async throws {
    let (_, channel) = try await call()
    let source = try MediaFileSource(path: try raw())
    let ends = Recorder<Bool>()
    source.onEnd = { [weak source] error in
      source?.stop()
      ends.append(error == nil)
    }
    source.start(sendingTo: try #require(channel.senderStream))
    await ends.wait(for: 1)
    #expect(ends.elements == [true])
    await channel.disconnect()
  }

  @Test func whatIsNoFilmIsOneError() throws {
    let error = #expect(throws: MediaFileError.self) {
      try MediaFileSource(path: path("none.webm"))
    }
    #expect(error?.description.hasPrefix("cannot read ") == true)
  }
}
