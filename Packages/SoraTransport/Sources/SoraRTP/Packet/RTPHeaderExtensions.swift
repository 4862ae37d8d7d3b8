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

/// Where a packet has its dependency descriptor, which is too long to be carried along with the other values.
public struct RTPDependencyDescriptorField: Hashable, Sendable {
  /// Where its bytes begin in the packet that it was read from.
  public private(set) var offset: UInt16 = 0
  /// The number of its frame: as it was read, or as it is written where the bytes are copied to another packet.
  public var frameNumber: UInt16 = 0
  /// Its bytes, 3 to 255; 0 for none.
  public private(set) var count: UInt8 = 0

  /// None.
  public init() {}

  /// nil where it lacks the fields that every descriptor has.
  fileprivate init?(_ range: Range<Int>, in packet: RawSpan) {
    guard let offset = UInt16(exactly: range.lowerBound), let count = UInt8(exactly: range.count),
      count >= 3
    else { return nil }
    self.offset = offset
    self.count = count
    frameNumber = packet.u16(range.lowerBound + Self.frameNumberOffset)
  }

  /// Where the number lies in a descriptor: behind two flags and the id of a template.
  static let frameNumberOffset = 1
}

/// The values of the header extensions of one packet, read from it or to be written.
public struct RTPHeaderExtensions: Hashable, Sendable {
  public var mid: RTPExtensionText?
  /// Its bytes are lent by the packet that was read. Here it takes no room: texts leave a gap behind them.
  public var dependencyDescriptor = RTPDependencyDescriptorField()
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
      case map.dependencyDescriptor:
        if let field = RTPDependencyDescriptorField(element.range, in: packet) {
          dependencyDescriptor = field
        }
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
