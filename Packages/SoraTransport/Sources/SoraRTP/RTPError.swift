/// Why bytes from the network, or a request to write some, were refused.
public enum RTPError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The bytes end before a field does: `needed` bytes were wanted where `available` exist.
  case truncated(needed: Int, available: Int)
  /// The version field isn't 2 (RFC 3550 §5.1).
  case unsupportedVersion(UInt8)
  /// The padding count is zero or larger than what follows the header.
  case badPadding(count: Int, available: Int)
  /// An RTCP packet's length field goes beyond the datagram.
  case badLength(packetType: UInt8, declared: Int, available: Int)
  /// The body of an RTCP packet contradicts itself; the packets after it can still be read.
  case malformedFeedback(packetType: UInt8, format: UInt8)
  /// A payload descriptor contradicts itself or its codec's rules.
  case malformedPayload(codec: String)
  /// A payload of a kind that wasn't negotiated, such as one of H.264's interleaved mode; `type` is what its header says.
  case unsupportedPayload(codec: String, type: UInt8)
  /// The output buffer has no room for what was to be written.
  case noRoom(needed: Int, available: Int)

  public var description: String {
    switch self {
    case .truncated(let needed, let available):
      "the packet ends too early: \(needed) bytes are needed, \(available) are there"
    case .unsupportedVersion(let version): "RTP version \(version) isn't 2"
    case .badPadding(let count, let available):
      "padding of \(count) bytes doesn't fit into \(available) bytes after the header"
    case .badLength(let type, let declared, let available):
      "an RTCP packet of type \(type) declares \(declared) bytes where \(available) are left"
    case .malformedFeedback(let type, let format):
      "the body of an RTCP packet of type \(type), format \(format), contradicts itself"
    case .malformedPayload(let codec): "a \(codec) payload descriptor contradicts itself"
    case .unsupportedPayload(let codec, let type):
      "\(codec) payloads of type \(type) aren't negotiated"
    case .noRoom(let needed, let available):
      "\(needed) bytes are to be written where \(available) are free"
    }
  }
}
