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

/// What the first bytes of an Opus packet tell (RFC 6716 §3.1).
public enum OpusPacket {
  /// Samples of each channel at 48 kHz; `nil` when the packet isn't valid or longer than 120 ms.
  public static func sampleCount(_ packet: RawSpan) -> Int? {
    guard packet.byteCount >= 1 else { return nil }
    let toc = packet.u8(0)
    let configuration = Int(toc >> 3)
    let frame: Int
    switch configuration {
    case 0..<12: frame = configuration & 3 == 3 ? 2880 : 480 << (configuration & 3)  // SILK
    case 12..<16: frame = configuration & 1 == 0 ? 480 : 960  // hybrid
    default: frame = 120 << (configuration & 3)  // CELT
    }
    let frames: Int
    switch toc & 3 {
    case 0: frames = 1
    case 1, 2: frames = 2
    default:
      guard packet.byteCount >= 2 else { return nil }
      frames = Int(packet.u8(1) & 0x3F)
    }
    let samples = frame * frames
    return samples > 0 && samples <= 5760 ? samples : nil
  }
}
