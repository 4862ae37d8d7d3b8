public import SoraMedia
import SoraWire

/// Opus in RTP (RFC 7587): one Opus packet a payload, nothing around it.
public struct OpusPayloadFormat: RTPPayloadFormat {
  public init() {}
  public var name: String { "opus" }
  public var kind: MediaKind { .audio }
  /// Always 48 kHz, whatever the encoder's bandwidth (RFC 7587 §4.1).
  public var clockRate: Int { 48_000 }

  public func makePayloader(random: RandomSource) -> any RTPPayloader { OpusPayloader() }
  public func makeDepayloader() -> any RTPDepayloader { OpusDepayloader() }
}

/// Puts each Opus packet into one payload and marks the first after a silence.
public final class OpusPayloader: RTPPayloader {
  private var buffer: EncodedBuffer?
  private var talkspurt = OpusTalkspurt()
  private var marker = false

  public init() {}

  public func begin(_ frame: EncodedFrame, maximumPayload: Int) -> Int {
    let size = frame.payload.count
    guard size > 0, size <= maximumPayload else {
      buffer = nil
      return 0
    }
    marker = talkspurt.marker(of: frame)
    buffer = frame.payload
    return 1
  }

  public func next(into target: UnsafeMutableRawBufferPointer) -> RTPPayloadPart? {
    guard let buffer, target.count >= buffer.count else { return nil }
    self.buffer = nil
    unsafe target.put(buffer.bytes, at: 0)
    return RTPPayloadPart(count: buffer.count, marker: marker)
  }
}

/// Knows where talkspurts begin, from the gaps that DTX leaves between the timestamps.
struct OpusTalkspurt {
  private var expectedTimestamp: UInt32?

  /// Whether the packet of `frame` carries the marker: at the beginning of a talkspurt (RFC 3551 §4.1). Once a frame.
  mutating func marker(of frame: EncodedFrame) -> Bool {
    let marker = expectedTimestamp != frame.rtpTimestamp
    let samples = OpusPacket.sampleCount(frame.payload.span) ?? 960
    expectedTimestamp = frame.rtpTimestamp &+ UInt32(truncatingIfNeeded: samples)
    return marker
  }
}

/// Understands Opus payloads: every one is a frame.
public final class OpusDepayloader: RTPDepayloader {
  public init() {}

  public func parse(
    _ payload: RawSpan, marker: Bool
  ) throws(RTPError) -> RTPPayloadInfo {
    guard payload.byteCount > 0 else { throw .malformedPayload(codec: "opus") }
    var info = RTPPayloadInfo(range: 0..<payload.byteCount)
    info.isFrameStart = true
    info.isFrameEnd = true
    info.isKeyFrame = true
    return info
  }
}
