import Dispatch
import SoraCodecs
import SoraMedia
import SoraSimulcast
import Synchronization
import Testing
import WebRTC

/// What a transceiver sends of one track after the other.
@Suite(.timeLimit(.minutes(5))) struct VideoTrackSenderTests {
  /// Tells when it is freed, which comes behind its last frame.
  private final class WatchedEncoder: VideoEncoder {
    private let encoder: ScriptedEncoder
    private let freed: DispatchSemaphore
    var kind: VideoCodecKind { encoder.kind }
    var implementationName: String { encoder.implementationName }
    var settings: VideoEncoderSettings { encoder.settings }

    init(_ encoder: ScriptedEncoder, _ freed: DispatchSemaphore) {
      self.encoder = encoder
      self.freed = freed
    }

    deinit { freed.signal() }

    func setRates(targetBitsPerSecond: Int, framesPerSecond: Double) {}

    func encode(
      _ frame: RawVideoFrame, forceKeyFrame: Bool, rtpTimestamp: UInt32
    ) throws(CodecError) -> EncodedFrame? {
      try encoder.encode(frame, forceKeyFrame: forceKeyFrame, rtpTimestamp: rtpTimestamp)
    }
  }

  private struct Factory: VideoCodecFactory {
    let capability = VideoCodecCapability(
      kind: .vp8, implementation: "scripted", canEncode: true, canDecode: false)
    let script = CodecScript(isGated: true)
    let freed = DispatchSemaphore(value: 0)

    func makeEncoder(
      _ settings: VideoEncoderSettings
    ) throws(CodecError) -> sending any VideoEncoder {
      WatchedEncoder(ScriptedEncoder(settings, script), freed)
    }

    func makeDecoder(
      _ settings: VideoDecoderSettings
    ) throws(CodecError) -> sending any VideoDecoder {
      throw .noImplementation(kind: .vp8, encoding: false)
    }
  }

  /// What an encoder is still at when its track is replaced refers to frames that the next track's key frame has put away.
  @Test func aSlowEncoderSendsNothingBehindTheEnd() {
    let codecs = Factory()
    let sent = Mutex(0)
    let factory = RTCPeerConnectionFactory()
    let sender = VideoTrackSender(
      track: factory.videoTrack(with: factory.videoSource(), trackId: "video"),
      configuration: VideoSendConfiguration(.vp8), bitrate: 1_000_000,
      registry: VideoCodecRegistry([codecs]), now: { codecs.script.clock.now },
      sourceRate: { _ in }, output: { _ in sent.withLock { $0 += 1 } }, failed: { _ in })
    sender.start()
    func push(_ milliseconds: Int) {
      sender.receive(
        RawVideoFrame(
          buffer: .grey(64, 64), timestamp: .zero + .milliseconds(milliseconds)))
    }
    push(1000)
    codecs.script.begun.wait()
    push(1033)
    codecs.script.gate?.signal()
    // The second frame is begun when the first one has been sent.
    codecs.script.begun.wait()
    #expect(sent.withLock { $0 } == 1)
    sender.stop()
    // A frame that the source is still giving opens nothing.
    push(1066)
    codecs.script.gate?.signal()
    codecs.freed.wait()
    #expect(sent.withLock { $0 } == 1)
  }
}
