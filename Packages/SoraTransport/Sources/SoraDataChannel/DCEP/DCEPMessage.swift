import SoraWire

/// A message of the Data Channel Establishment Protocol (RFC 8832 §5).
public enum DCEPMessage: Sendable, Hashable {
  /// DATA_CHANNEL_OPEN: the stream that it comes on becomes a channel.
  case open(DataChannelParameters)
  /// DATA_CHANNEL_ACK: the peer has taken the channel.
  case acknowledgement

  private static let openType: UInt8 = 0x03
  private static let acknowledgementType: UInt8 = 0x02
  private static let openLength = 12
  private static let unordered: UInt8 = 0x80

  /// Reads a message.
  ///
  /// What stands behind it is left alone, so that later versions may add to it. A label or protocol that isn't UTF-8 is read with
  /// replacement characters.
  public init(parsing bytes: RawSpan) throws(DCEPError) {
    var reader = ByteReader(bytes)
    guard let type = reader.u8() else { throw .tooShort }
    switch type {
    case Self.acknowledgementType: self = .acknowledgement
    case Self.openType:
      guard let channelType = reader.u8(), let priority = reader.u16(),
        let limit = reader.u32(), let labelLength = reader.u16(),
        let protocolLength = reader.u16(), let label = reader.take(Int(labelLength)),
        let name = reader.take(Int(protocolLength))
      else { throw .tooShort }
      let reliability: DataChannelReliability
      switch channelType & ~Self.unordered {
      case 0: reliability = .reliable
      // The wire has room for more than SCTP counts.
      case 1: reliability = .maximumRetransmits(UInt16(clamping: limit))
      case 2: reliability = .maximumLifetime(milliseconds: limit)
      default: throw .unknownChannelType(channelType)
      }
      self = .open(
        DataChannelParameters(
          label: String(copying: label), protocol: String(copying: name),
          isOrdered: channelType & Self.unordered == 0, reliability: reliability,
          priority: DataChannelPriority(rawValue: priority)))
    default: throw .unknownType(type)
    }
  }

  /// The message's bytes. A label or protocol beyond 65,535 bytes is cut.
  public var encoded: [UInt8] {
    guard case .open(let parameters) = self else { return [Self.acknowledgementType] }
    let label = Array(parameters.label.utf8.prefix(Int(UInt16.max)))
    let name = Array(parameters.protocol.utf8.prefix(Int(UInt16.max)))
    let order = parameters.isOrdered ? 0 : Self.unordered
    let (type, limit): (UInt8, UInt32) =
      switch parameters.reliability {
      case .reliable: (0, 0)
      case .maximumRetransmits(let count): (1, UInt32(count))
      case .maximumLifetime(let milliseconds): (2, milliseconds)
      }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.openLength + label.count + name.count)
    bytes.append(Self.openType)
    bytes.append(type | order)
    bytes.append(bigEndian: parameters.priority.rawValue)
    bytes.append(bigEndian: limit)
    bytes.append(bigEndian: UInt16(label.count))
    bytes.append(bigEndian: UInt16(name.count))
    bytes.append(contentsOf: label)
    bytes.append(contentsOf: name)
    return bytes
  }
}

/// Why bytes aren't a message of DCEP.
public enum DCEPError: Error, Hashable, Sendable {
  /// Less than the fixed fields and the lengths in them say.
  case tooShort
  case unknownType(UInt8)
  /// A reliability that RFC 8832 §8.2.2 doesn't list.
  case unknownChannelType(UInt8)
}

extension String {
  fileprivate init(copying bytes: RawSpan) {
    self.init(decoding: [UInt8](copying: bytes), as: UTF8.self)
  }
}
