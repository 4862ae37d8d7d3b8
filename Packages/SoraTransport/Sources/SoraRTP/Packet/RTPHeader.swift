public import SoraWire

/// The fixed header of an RTP packet and where its parts lie (RFC 3550 §5.1, RFC 8285).
///
/// Parsing allocates nothing and keeps no pointer; offsets refer to the buffer that was parsed.
public struct RTPHeader: Equatable, Sendable {
  public var marker: Bool
  /// 0 to 127.
  public var payloadType: UInt8
  public var sequenceNumber: UInt16
  public var timestamp: UInt32
  public var ssrc: UInt32
  /// Contributing sources, 0 to 15.
  public var csrcCount: Int
  /// "defined by profile" field of the header extension; 0 when there is none.
  public var extensionProfile: UInt16
  /// Where the extension elements begin; 0 when there is no header extension.
  public var extensionOffset: Int
  /// Bytes of extension elements.
  public var extensionCount: Int
  /// Where the payload begins.
  public var payloadOffset: Int
  /// Bytes of payload, padding not included. 0 for a packet of nothing but padding.
  public var payloadCount: Int
  /// Bytes of padding, its count byte included.
  public var paddingCount: Int

  /// The size of a header without contributing sources and extensions.
  public static let fixedCount = 12

  /// Fields for a packet that is going to be written; offsets are 0.
  public init(
    payloadType: UInt8, sequenceNumber: UInt16, timestamp: UInt32, ssrc: UInt32,
    marker: Bool = false
  ) {
    self.marker = marker
    self.payloadType = payloadType & 0x7F
    self.sequenceNumber = sequenceNumber
    self.timestamp = timestamp
    self.ssrc = ssrc
    csrcCount = 0
    extensionProfile = 0
    extensionOffset = 0
    extensionCount = 0
    payloadOffset = RTPHeader.fixedCount
    payloadCount = 0
    paddingCount = 0
  }

  /// Parses the header of a whole plain RTP packet.
  public init(parsing packet: RawSpan) throws(RTPError) {
    guard packet.byteCount >= RTPHeader.fixedCount else {
      throw .truncated(needed: RTPHeader.fixedCount, available: packet.byteCount)
    }
    let first = packet.u8(0)
    guard first >> 6 == 2 else { throw .unsupportedVersion(first >> 6) }
    let second = packet.u8(1)
    marker = second & 0x80 != 0
    payloadType = second & 0x7F
    sequenceNumber = packet.u16(2)
    timestamp = packet.u32(4)
    ssrc = packet.u32(8)
    csrcCount = Int(first & 0x0F)
    var offset = RTPHeader.fixedCount + 4 * csrcCount
    guard packet.byteCount >= offset else {
      throw .truncated(needed: offset, available: packet.byteCount)
    }
    if first & 0x10 != 0 {
      guard packet.byteCount >= offset + 4 else {
        throw .truncated(needed: offset + 4, available: packet.byteCount)
      }
      extensionProfile = packet.u16(offset)
      extensionCount = Int(packet.u16(offset + 2)) * 4
      extensionOffset = offset + 4
      offset = extensionOffset + extensionCount
      guard packet.byteCount >= offset else {
        throw .truncated(needed: offset, available: packet.byteCount)
      }
    } else {
      extensionProfile = 0
      extensionCount = 0
      extensionOffset = 0
    }
    payloadOffset = offset
    if first & 0x20 != 0 {
      // RFC 3550 §5.1: the last byte counts the padding, itself included.
      let available = packet.byteCount - offset
      let count = available > 0 ? Int(packet.u8(packet.byteCount - 1)) : 0
      guard count > 0, count <= available else {
        throw .badPadding(count: count, available: available)
      }
      paddingCount = count
    } else {
      paddingCount = 0
    }
    payloadCount = packet.byteCount - offset - paddingCount
  }

  /// The payload inside the packet that was parsed. Valid while the packet's memory is.
  @inlinable
  @_lifetime(copy packet)
  public func payload(in packet: RawSpan) -> RawSpan {
    guard payloadCount > 0, payloadOffset + payloadCount <= packet.byteCount else {
      return RawSpan()
    }
    return packet.part(payloadOffset, payloadCount)
  }

  /// Whether a datagram that isn't STUN or DTLS carries RTCP: its packet type is 192 to 223 (RFC 5761 §4).
  public static func isRTCP(_ datagram: RawSpan) -> Bool {
    datagram.byteCount >= 4 && datagram.u8(0) >> 6 == 2 && (192...223).contains(datagram.u8(1))
  }
}
