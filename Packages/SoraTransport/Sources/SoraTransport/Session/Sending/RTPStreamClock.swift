import SoraMedia
import SoraRTP

/// The RTP clock of a stream that is sent: it starts at random (RFC 3550 §5.1), and frames say how far it has come.
struct RTPStreamClock {
  /// What the timestamps of frames are moved by.
  private(set) var offset: UInt32
  /// The last frame's place on both clocks.
  private var lastFrame: (rtpTimestamp: UInt32, timestamp: Instant)?

  init(offset: UInt32) { self.offset = offset }

  /// Whether there has been a frame.
  var isRunning: Bool { lastFrame != nil }

  /// Goes on where the source was when it was sent before.
  mutating func resume(at offset: UInt32) { self.offset = offset }

  /// A frame was taken at an instant; `rtpTimestamp` is the one in its packets.
  mutating func noteFrame(_ rtpTimestamp: UInt32, at timestamp: Instant) {
    lastFrame = (rtpTimestamp, timestamp)
  }

  /// What the clock says at an instant, by the last frame; its own beginning before the first.
  func timestamp(at instant: Instant, rate: Int) -> UInt32 {
    guard let lastFrame else { return offset }
    let elapsed = instant.nanoseconds(since: lastFrame.timestamp)
    let ticks = rtpTicks(in: elapsed, at: Int64(rate))
    return lastFrame.rtpTimestamp &+ UInt32(truncatingIfNeeded: ticks)
  }
}
