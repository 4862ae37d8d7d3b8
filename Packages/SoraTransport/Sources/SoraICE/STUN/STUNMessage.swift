public import SoraMedia
public import SoraWire

/// The 96 bits that pair a STUN response with its request (RFC 8489 §5).
public struct STUNTransactionID: Hashable, Sendable {
  let high: UInt32
  let low: UInt64

  init(high: UInt32, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A random identifier. With a secure source it can't be guessed by somebody off the path.
  public init(random: RandomSource) {
    high = UInt32(truncatingIfNeeded: random.next())
    low = random.next()
  }
}

/// What a STUN message is for (RFC 8489 §5).
public enum STUNClass: UInt8, Sendable {
  case request = 0
  case indication = 1
  case success = 2
  case error = 3
}

/// An attribute of a STUN message, decoded where this module knows its type.
public enum STUNAttribute: Hashable, Sendable {
  case mappedAddress(TransportAddress)
  case xorMappedAddress(TransportAddress)
  case username([UInt8])
  case priority(UInt32)
  case useCandidate
  /// The tie-breaker of an agent in the controlling role (RFC 8445 §16.1).
  case iceControlling(UInt64)
  /// The tie-breaker of an agent in the controlled role.
  case iceControlled(UInt64)
  /// A code of 300...699 and its reason.
  case errorCode(Int, reason: String)
  case unknownAttributes([UInt16])
  case software(String)
  case realm([UInt8])
  case nonce([UInt8])
  /// The channel of a ChannelBind, 0x4000...0x4FFF (RFC 8656 §18.1).
  case channelNumber(UInt16)
  /// Seconds that an allocation lives.
  case lifetime(UInt32)
  case xorPeerAddress(TransportAddress)
  case xorRelayedAddress(TransportAddress)
  /// The payload of a Send or Data indication.
  case data([UInt8])
  case requestedAddressFamily(STUNAddressFamily)
  /// The IP protocol number of what is to be relayed; 17 is UDP.
  case requestedTransport(UInt8)
  /// An even port for the relay, and whether the one above it shall be kept too (RFC 8656 §18.7).
  case evenPort(reservesNext: Bool)
  case alternateServer(TransportAddress)
  /// What a server takes to make keys with, in its order (RFC 8489 §14.11). Numbers this module doesn't know are kept.
  case passwordAlgorithms([STUNPasswordAlgorithm])
  case passwordAlgorithm(STUNPasswordAlgorithm)
  /// SHA-256 of `username:realm`, 32 bytes (RFC 8489 §14.4).
  case userhash([UInt8])
  /// Any other attribute, as it came.
  case other(type: UInt16, value: [UInt8])
}

/// The address families of RFC 8489 §14.1.
public enum STUNAddressFamily: UInt8, Sendable {
  case ipv4 = 1
  case ipv6 = 2
}

/// The keyed hash that proves who made a message (RFC 8489 §14.5 and §14.6).
public enum STUNIntegrity: Sendable {
  /// MESSAGE-INTEGRITY: HMAC-SHA1.
  case sha1
  /// MESSAGE-INTEGRITY-SHA256: HMAC-SHA256, 32 bytes.
  case sha256
}

/// A STUN message (RFC 8489): values in, bytes out, and back.
///
/// MESSAGE-INTEGRITY and FINGERPRINT aren't among the attributes: `encoded(key:fingerprint:)` appends them, and a parsed message
/// remembers where they stood, so that `isAuthentic(_:key:)` can check.
public struct STUNMessage: Sendable {
  /// The state of the FINGERPRINT attribute of a parsed message (RFC 8489 §14.7).
  public enum Fingerprint: Sendable { case absent, valid, invalid }

  /// The Binding method.
  public static let binding: UInt16 = 1

  public var messageClass: STUNClass
  /// `binding` for all that ICE sends. Methods above 0xFF would collide with other protocols on the socket (RFC 7983 §7).
  public var method: UInt16
  public var transactionID: STUNTransactionID
  /// In the order of the wire, without those that follow MESSAGE-INTEGRITY.
  public var attributes: [STUNAttribute]
  /// Set by parsing.
  public internal(set) var fingerprint = Fingerprint.absent
  // Where MESSAGE-INTEGRITY starts in the bytes that were parsed.
  var integrityOffset: Int?
  // Likewise for MESSAGE-INTEGRITY-SHA256, and how long its value is.
  var integritySHA256: (offset: Int, count: Int)?

  public init(
    _ messageClass: STUNClass, method: UInt16 = STUNMessage.binding,
    transactionID: STUNTransactionID, attributes: [STUNAttribute] = []
  ) {
    self.messageClass = messageClass
    self.method = method
    self.transactionID = transactionID
    self.attributes = attributes
  }

  /// Whether the message carried MESSAGE-INTEGRITY.
  public var hasIntegrity: Bool { integrityOffset != nil }

  /// Whether the message carried MESSAGE-INTEGRITY-SHA256.
  public var hasIntegritySHA256: Bool { integritySHA256 != nil }

  /// The USERNAME.
  public var username: [UInt8]? {
    for case .username(let bytes) in attributes { return bytes }
    return nil
  }

  /// The first address the sender says it saw: XOR-MAPPED-ADDRESS, or MAPPED-ADDRESS of an old server.
  public var mappedAddress: TransportAddress? {
    for case .xorMappedAddress(let address) in attributes { return address }
    for case .mappedAddress(let address) in attributes { return address }
    return nil
  }

  /// The PRIORITY of a connectivity check.
  public var priority: UInt32? {
    for case .priority(let value) in attributes { return value }
    return nil
  }

  /// Whether USE-CANDIDATE is there.
  public var usesCandidate: Bool { attributes.contains(.useCandidate) }

  /// The code of an error response.
  public var errorCode: Int? {
    for case .errorCode(let code, _) in attributes { return code }
    return nil
  }

  /// The reason of an error response, for people.
  public var errorReason: String? {
    for case .errorCode(_, let reason) in attributes { return reason }
    return nil
  }

  /// The tie-breaker and the role of the sender.
  var role: (isControlling: Bool, tieBreaker: UInt64)? {
    for attribute in attributes {
      if case .iceControlling(let value) = attribute { return (true, value) }
      if case .iceControlled(let value) = attribute { return (false, value) }
    }
    return nil
  }

  /// The attributes this module doesn't know and that a receiver must understand: those below 0x8000 (RFC 8489 §14).
  public var unknownRequiredAttributes: [UInt16] {
    attributes.compactMap {
      // An address family nobody knows is an error of its own (440).
      if case .other(let type, _) = $0, type < 0x8000,
        type != STUNAttributeType.requestedAddressFamily
      {
        return type
      }
      return nil
    }
  }
}

/// The numbers of RFC 8489 §18.3 and RFC 8445 §16.1.
enum STUNAttributeType {
  static let mappedAddress: UInt16 = 0x0001
  static let username: UInt16 = 0x0006
  static let messageIntegrity: UInt16 = 0x0008
  static let errorCode: UInt16 = 0x0009
  static let unknownAttributes: UInt16 = 0x000A
  static let realm: UInt16 = 0x0014
  static let nonce: UInt16 = 0x0015
  static let messageIntegritySHA256: UInt16 = 0x001C
  static let passwordAlgorithm: UInt16 = 0x001D
  static let userhash: UInt16 = 0x001E
  static let xorMappedAddress: UInt16 = 0x0020
  static let priority: UInt16 = 0x0024
  static let useCandidate: UInt16 = 0x0025
  static let passwordAlgorithms: UInt16 = 0x8002
  static let software: UInt16 = 0x8022
  static let alternateServer: UInt16 = 0x8023
  static let fingerprint: UInt16 = 0x8028
  static let iceControlled: UInt16 = 0x8029
  static let iceControlling: UInt16 = 0x802A
  // RFC 8656 §18.
  static let channelNumber: UInt16 = 0x000C
  static let lifetime: UInt16 = 0x000D
  static let xorPeerAddress: UInt16 = 0x0012
  static let data: UInt16 = 0x0013
  static let xorRelayedAddress: UInt16 = 0x0016
  static let requestedAddressFamily: UInt16 = 0x0017
  static let evenPort: UInt16 = 0x0018
  static let requestedTransport: UInt16 = 0x0019
}

let stunMagicCookie: UInt32 = 0x2112_A442
let stunHeaderSize = 20

/// Whether a datagram looks like STUN: two zero bits, the magic cookie, and a length that fits (RFC 8489 §5).
public func isSTUN(_ bytes: RawSpan) -> Bool {
  guard bytes.byteCount >= stunHeaderSize, bytes.u8(0) < 4 else { return false }
  return bytes.u32(4) == stunMagicCookie && bytes.u8(3) & 3 == 0
    && Int(bytes.u16(2)) + stunHeaderSize == bytes.byteCount
}
