public import SoraMedia
import SoraWire

/// Loudness of an audio packet (RFC 6464).
public struct RTPAudioLevel: Hashable, Sendable {
  /// Level in -dBov: 0 is the loudest, 127 is silence.
  public var level: UInt8
  /// Whether the sender believes that somebody speaks.
  public var hasVoice: Bool

  public init(level: UInt8, hasVoice: Bool) {
    self.level = min(level, 127)
    self.hasVoice = hasVoice
  }
}

/// The values of the header extensions of one packet, read from it or to be written.
public struct RTPHeaderExtensions: Hashable, Sendable {
  public var mid: RTPExtensionText?
  public var rid: RTPExtensionText?
  public var repairedRid: RTPExtensionText?
  /// 24 bits: seconds modulo 64 in units of 2^-18 seconds.
  public var absSendTime: UInt32?
  public var audioLevel: RTPAudioLevel?
  public var transportSequenceNumber: UInt16?
  public var videoOrientation: VideoRotation?

  public init() {}

  /// Reads the values that `map` gives ids to. Values of a wrong length are left `nil`.
  public init(of header: RTPHeader, in packet: RawSpan, map: RTPHeaderExtensionMap) {
    guard header.extensionCount > 0 else { return }
    var elements = RTPExtensionElements(of: header, in: packet)
    while let element = elements.next() {
      let start = element.range.lowerBound
      let count = element.range.count
      switch element.id {
      case map.transportSequenceNumber:
        if count >= 2 { transportSequenceNumber = packet.u16(start) }
      case map.absSendTime:
        if count == 3 { absSendTime = packet.u24(start) }
      case map.audioLevel:
        if count >= 1 {
          audioLevel = RTPAudioLevel(
            level: packet.u8(start) & 0x7F, hasVoice: packet.u8(start) & 0x80 != 0)
        }
      case map.mid: mid = RTPExtensionText(packet.part(start, count))
      case map.rid: rid = RTPExtensionText(packet.part(start, count))
      case map.repairedRid: repairedRid = RTPExtensionText(packet.part(start, count))
      case map.videoOrientation:
        // 3GPP TS 26.114 §7.4.5: 0 0 0 0 C F R1 R0.
        if count >= 1 { videoOrientation = VideoRotation(rawValue: packet.u8(start) & 0x03) }
      default: break
      }
    }
  }

  /// The 24-bit form of a send time. Receivers only use differences, so any monotonic origin will do.
  public static func absSendTime(at instant: Instant) -> UInt32 {
    let nanoseconds = UInt64(bitPattern: instant.nanoseconds) % 64_000_000_000
    return UInt32(truncatingIfNeeded: (nanoseconds << 18) / 1_000_000_000) & 0xFF_FFFF
  }
}
