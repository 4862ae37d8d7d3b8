import Foundation
import SoraMedia
import SoraSDK
import SoraSignaling
import Synchronization
import Testing
import WebRTC

/// What renderers are given when a video stops.
@Suite(.timeLimit(.minutes(5))) struct StoppedVideoTests {
  /// Notes what it is given: a size and the middle's luma, or nil.
  private final class Notes: VideoRenderer {
    let shown = Recorder<String>()

    func render(videoFrame: VideoFrame?) {
      guard case .native(_, let native)? = videoFrame else { return shown.append("nil") }
      let frame = native.frame
      let luma = frame.buffer.plane(0).row(frame.height / 2)[frame.width / 2]
      shown.append("\(frame.width)x\(frame.height) \(luma)")
    }
    func onSwitch(video: Bool) { shown.append("switched \(video)") }
    func onDisconnect(from: MediaChannel?) { shown.append("the end") }
  }

  private static func frame() -> RTCVideoFrame {
    RTCVideoFrame(
      frame: RawVideoFrame(buffer: .black(width: 64, height: 36, luma: 200), timestamp: .now))
  }

  private static let ends: [(StoppedVideoPicture, [String])] = [
    (.freeze, []), (.black, ["64x36 16"]), (.nil, ["nil"]),
  ]

  @Test(arguments: ends) func itIsTold(_ picture: StoppedVideoPicture, then: [String]) {
    let notes = Notes()
    let adapter = VideoRendererAdapter(notes, stopped: picture)
    adapter.stop()
    #expect(notes.shown.elements.isEmpty, "nothing has begun")
    adapter.renderFrame(Self.frame())
    adapter.stop()
    adapter.stop()
    #expect(notes.shown.elements == ["64x36 200"] + then, "once")
    adapter.renderFrame(Self.frame())
    adapter.stop()
    #expect(notes.shown.elements == ["64x36 200"] + then + ["64x36 200"] + then)
  }

  @Test func blackIsThatOfTheFullRangeWhereFramesHaveIt() {
    let notes = Notes()
    let adapter = VideoRendererAdapter(notes, stopped: .black)
    var frame = Self.frame().frame
    frame.colorSpace = VideoColorSpace(matrix: .bt709, isFullRange: true)
    adapter.renderFrame(RTCVideoFrame(frame: frame))
    adapter.stop()
    #expect(notes.shown.elements == ["64x36 200", "64x36 0"])
  }

  /// A sender that sends nothing more, and then something again.
  @Test func silenceIsAStop() async {
    let notes = Notes()
    let adapter = VideoRendererAdapter(notes, stopped: .nil, patience: .milliseconds(40))
    adapter.renderFrame(Self.frame())
    await notes.shown.wait(for: 2)
    adapter.stoppedPicture = .black
    adapter.renderFrame(Self.frame())
    await notes.shown.wait(for: 4)
    #expect(notes.shown.elements == ["64x36 200", "nil", "64x36 200", "64x36 16"])
  }

  /// Over a stream of a call: switched off, on again, and the channel's end.
  @Test func ofAStream() async throws {
    let far = try await FarEnd(receives: true)
    let server = try await ScriptedSora(far)
    let attempt = Attempt(server.configuration(), face: .tasks)
    let channel = try await attempt.channel()
    let stream = try #require(channel.senderStream)
    let notes = Notes()
    #expect(stream.stoppedVideoPicture == .freeze)
    stream.stoppedVideoPicture = .black
    stream.videoRenderer = notes
    let picture = VideoFrame.native(capturer: nil, frame: Self.frame())
    stream.send(videoFrame: picture)
    stream.videoEnabled = false
    stream.send(videoFrame: picture)
    stream.stoppedVideoPicture = .nil
    stream.videoEnabled = true
    stream.send(videoFrame: picture)
    await channel.disconnect()
    await notes.shown.wait { $0.contains("the end") }
    #expect(
      notes.shown.elements == [
        "64x36 200", "64x36 16", "switched false", "switched true", "64x36 200", "nil", "the end",
      ])
  }
}
