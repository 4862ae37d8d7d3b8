import Dispatch
import SoraCodecs
import SoraMedia
import SoraSimulcast
import Synchronization
import WebRTC

/// A send pipeline with scripted encoders, fed frame by frame in virtual time.
final class VideoSendHarness {
  let script: CodecScript
  let pipeline: VideoSendPipeline
  let track: RTCVideoTrack
  private let queue = DispatchQueue(label: "test.encode")
  private let output = Output()
  private var time = Instant(nanoseconds: 1_000_000_000)

  private final class Output: Sendable {
    let frames = Mutex<[SimulcastFrame]>([])
    let failures = Mutex<[MediaFailure]>([])
  }

  init(
    _ configuration: VideoSendConfiguration = VideoSendConfiguration(.vp8),
    bitrate: Int = 2_500_000,
    script: CodecScript = CodecScript()
  ) {
    self.script = script
    let factory = RTCPeerConnectionFactory()
    track = factory.videoTrack(with: factory.videoSource(), trackId: "video")
    let (clock, output) = (script.clock, output)
    pipeline = VideoSendPipeline(
      track: track, configuration: configuration, bitrate: bitrate, queue: queue,
      now: { clock.now },
      makeEncoder: { settings throws(CodecError) in ScriptedEncoder(settings, script) },
      output: { frame in output.frames.withLock { $0.append(frame) } },
      failed: { failure in output.failures.withLock { $0.append(failure) } })
  }

  deinit { pipeline.stop() }

  /// Hands over a frame without waiting for it, captured so long after the one before.
  func push(_ buffer: PixelBuffer, after interval: Duration = .zero) {
    time += interval
    pipeline.receive(RawVideoFrame(buffer: buffer, timestamp: time))
  }

  /// Captures `count` frames, each when the one before it has been dealt with, and returns what became of them.
  @discardableResult
  func run(
    _ count: Int, width: Int = 640, height: Int = 360, framesPerSecond: Double = 30
  ) -> [SimulcastFrame] {
    let picture = PixelBuffer.grey(width, height)
    for _ in 0..<count {
      let interval = Duration.seconds(1 / framesPerSecond)
      let before = script.clock.now
      push(picture, after: interval)
      settle()
      // The rest of the interval passes, where encoding took less.
      let spent = script.clock.now - before
      if spent < interval { script.clock.advance(interval - spent) }
    }
    return take()
  }

  /// What the pipeline told of failures.
  var failures: [MediaFailure] { output.failures.withLock { $0 } }

  /// Waits until the encoders' queue has nothing to do.
  func settle() { queue.sync {} }

  /// Encoded frames so far, taken away.
  func take() -> [SimulcastFrame] {
    output.frames.withLock { frames in
      defer { frames = [] }
      return frames
    }
  }
}
