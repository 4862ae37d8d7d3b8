public import SoraMedia
import SoraWire

/// Audio in RTP whose packets are payloads as they are: Opus (RFC 7587) and G.711 (RFC 3551 §4.5.14).
public struct AudioPayloadFormat: RTPPayloadFormat {
  public let codec: AudioCodecKind

  public init(_ codec: AudioCodecKind) { self.codec = codec }

  public var name: String { codec.encodingName }
  public var kind: MediaKind { .audio }
  /// Of Opus always 48 kHz, whatever the encoder's bandwidth (RFC 7587 §4.1).
  public var clockRate: Int { codec.clockRate }

  public func makePayloader(random: RandomSource) -> any RTPPayloader { AudioPayloader(codec) }
  public func makeDepayloader() -> any RTPDepayloader { AudioDepayloader(codec) }
}

/// Puts each packet of audio into one payload and marks the first after a silence.
final class AudioPayloader: RTPPayloader {
  private var buffer: EncodedBuffer?
  private var talkspurt: AudioTalkspurt
  private var marker = false

  init(_ codec: AudioCodecKind) { talkspurt = AudioTalkspurt(codec) }

  func begin(_ frame: EncodedFrame, maximumPayload: Int) -> Int {
    let size = frame.payload.count
    guard size > 0, size <= maximumPayload else {
      buffer = nil
      return 0
    }
    marker = talkspurt.marker(of: frame)
    buffer = frame.payload
    return 1
  }

  func next(into target: UnsafeMutableRawBufferPointer) -> RTPPayloadPart? {
    guard let buffer, target.count >= buffer.count else { return nil }
    self.buffer = nil
    unsafe target.put(buffer.bytes, at: 0)
    return RTPPayloadPart(count: buffer.count, marker: marker)
  }
}

/// Knows where talkspurts begin, from the gaps that DTX and lost audio leave between the timestamps.
struct AudioTalkspurt {
  private let codec: AudioCodecKind
  private var expectedTimestamp: UInt32?

  init(_ codec: AudioCodecKind) { self.codec = codec }

  /// Whether the packet of `frame` carries the marker: at the beginning of a talkspurt (RFC 3551 §4.1). Once a frame.
  mutating func marker(of frame: EncodedFrame) -> Bool {
    let marker = expectedTimestamp != frame.rtpTimestamp
    let samples =
      switch codec {
      case .opus: OpusPacket.sampleCount(frame.payload.span) ?? 960
      case .pcmu, .pcma: frame.payload.count
      }
    expectedTimestamp = frame.rtpTimestamp &+ UInt32(truncatingIfNeeded: samples)
    return marker
  }
}

/// Understands payloads of which every one is a frame.
final class AudioDepayloader: RTPDepayloader {
  private let codec: AudioCodecKind

  init(_ codec: AudioCodecKind) { self.codec = codec }

  func parse(
    _ payload: RawSpan, marker: Bool
  ) throws(RTPError) -> RTPPayloadInfo {
    guard payload.byteCount > 0 else { throw .malformedPayload(codec: codec.encodingName) }
    var info = RTPPayloadInfo(range: 0..<payload.byteCount)
    info.isFrameStart = true
    info.isFrameEnd = true
    info.isKeyFrame = true
    return info
  }
}
