import SoraMedia
import SoraWire

extension EncodedFrame {
  /// Samples of each channel of an Opus packet; nil where it is none.
  var opusSampleCount: Int? { OpusPacket.sampleCount(payload.span) }
}

/// Gives packets that are encoded already their RTP timestamps: one behind the other, and further on where their times of capture
/// leave a gap.
struct AudioPacketClock {
  /// Smaller differences are how exactly a file tells its times.
  private static let tolerance = Duration.milliseconds(60)
  /// What is longer is another time, and no gap.
  private static let longestGap = Duration.seconds(60)

  private var next: UInt32
  /// When the next packet is due; nil before the first.
  private var due: Instant?

  /// - Parameter start: the RTP timestamp of the first packet.
  init(start: UInt32) { next = start }

  /// A packet was made by an encoder of this stream.
  mutating func sent(_ packet: EncodedFrame) {
    next = packet.rtpTimestamp &+ UInt32(packet.opusSampleCount ?? 0)
    due = nil
  }

  /// - Returns: the packet with its RTP timestamp, and by how many samples the stream's time goes on.
  mutating func place(
    _ packet: EncodedFrame, samples: Int
  ) -> (packet: EncodedFrame, advance: Int) {
    var gap = 0
    var start = packet.timestamp
    if let due {
      let offset = packet.timestamp - due
      if offset > Self.tolerance, offset < Self.longestGap {
        gap = Int(offset.wholeNanoseconds * 48 / 1_000_000)
      } else if offset >= .zero - Self.tolerance, offset <= Self.tolerance {
        // The packets count; a clock that runs a little differently is followed.
        start = due + offset / 16
      }
    }
    var placed = packet
    placed.isKeyFrame = true
    placed.rtpTimestamp = next &+ UInt32(gap)
    next = placed.rtpTimestamp &+ UInt32(samples)
    due = start + .nanoseconds(Int64(samples) * 1_000_000 / 48)
    return (placed, gap + samples)
  }
}
