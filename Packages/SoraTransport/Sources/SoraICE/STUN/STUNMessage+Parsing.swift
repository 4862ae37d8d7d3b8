import SoraWire

extension STUNMessage {
  /// Reads one datagram. The FINGERPRINT is checked here (see `fingerprint`), MESSAGE-INTEGRITY by `isAuthentic(_:key:)`.
  public init(parsing bytes: RawSpan) throws(STUNError) {
    guard bytes.byteCount >= stunHeaderSize, bytes.u8(0) < 4, bytes.u32(4) == stunMagicCookie
    else { throw .notSTUN }
    // RFC 8489 §6.3: over UDP a datagram is one whole message.
    guard Int(bytes.u16(2)) == bytes.byteCount - stunHeaderSize, bytes.byteCount % 4 == 0 else {
      throw .badLength
    }
    // RFC 8489 §5: the class is bits 4 and 8 of the type, the method is the rest.
    let type = bytes.u16(0)
    let classBits = UInt8(truncatingIfNeeded: (type >> 4 & 1) | (type >> 7 & 2))
    self.init(
      STUNClass(rawValue: classBits) ?? .indication,
      method: (type & 0x000F) | (type >> 1 & 0x0070) | (type >> 2 & 0x0F80),
      transactionID: STUNTransactionID(
        high: bytes.u32(8), low: bytes.u64(12)))

    var offset = stunHeaderSize
    var count = 0
    // The length is a multiple of four, so that each attribute has its four bytes of type and length.
    while offset < bytes.byteCount {
      count += 1
      guard count <= 64 else { throw .tooManyAttributes }
      let type = bytes.u16(offset)
      let length = Int(bytes.u16(offset + 2))
      let end = offset + 4 + (length + 3) & ~3
      guard end <= bytes.byteCount else { throw .truncatedAttribute(type: type) }
      let value = bytes.part(offset + 4, length)
      switch type {
      case STUNAttributeType.fingerprint:
        guard length == 4 else { throw .malformedAttribute(type: type) }
        // RFC 8489 §14.7: it is the last attribute, so the length field of the header counts it already.
        fingerprint =
          end == bytes.byteCount
            && crc32(bytes.part(0, offset)) ^ stunFingerprintMask
              == value.u32(0)
          ? .valid : .invalid
      case STUNAttributeType.messageIntegrity where integrityOffset == nil:
        guard length == 20 else { throw .malformedAttribute(type: type) }
        integrityOffset = offset
      case STUNAttributeType.messageIntegritySHA256 where integritySHA256 == nil:
        // RFC 8489 §14.6: at least 16 bytes, at most 32, a multiple of four.
        guard (16...32).contains(length), length % 4 == 0 else {
          throw .malformedAttribute(type: type)
        }
        integritySHA256 = (offset, length)
      default:
        // RFC 8489 §14.5 and §14.6: what follows isn't protected, and is ignored.
        if integrityOffset == nil, integritySHA256 == nil {
          attributes.append(try STUNMessage.attribute(type, value, transactionID))
        }
      }
      offset = end
    }
  }

  /// Whether the MESSAGE-INTEGRITY of the message, parsed from these same `bytes`, was made with `key` (RFC 8489 §14.5).
  public func isAuthentic(_ bytes: RawSpan, key: [UInt8]) -> Bool {
    guard let offset = integrityOffset, offset + 24 <= bytes.byteCount else { return false }
    return STUNMessage.covers(bytes, offset: offset, count: 20) { hmacSHA1($0, key: key) }
  }

  /// Whether the MESSAGE-INTEGRITY-SHA256 of the message, parsed from these same `bytes`, was made with `key` (RFC 8489 §14.6).
  public func isAuthenticSHA256(_ bytes: RawSpan, key: [UInt8]) -> Bool {
    guard let (offset, count) = integritySHA256, offset + 4 + count <= bytes.byteCount else {
      return false
    }
    return STUNMessage.covers(bytes, offset: offset, count: count) {
      Array(hmacSHA256($0, key: key).prefix(count))
    }
  }

  private static func covers(
    _ bytes: RawSpan, offset: Int, count: Int, _ code: ([UInt8]) -> [UInt8]
  ) -> Bool {
    var covered = [UInt8](copying: bytes.part(0, offset))
    // The length field counts up to the end of the attribute, whatever follows it.
    let length = UInt16(truncatingIfNeeded: offset + 4 + count - stunHeaderSize)
    covered[2] = UInt8(length >> 8)
    covered[3] = UInt8(truncatingIfNeeded: length)
    return constantTimeEqual(code(covered).rawSpan, bytes.part(offset + 4, count))
  }

  private static func attribute(
    _ type: UInt16, _ value: RawSpan, _ id: STUNTransactionID
  ) throws(STUNError) -> STUNAttribute {
    func require(_ condition: Bool) throws(STUNError) {
      if !condition { throw STUNError.malformedAttribute(type: type) }
    }
    switch type {
    case STUNAttributeType.mappedAddress:
      return .mappedAddress(try address(type, value, xor: nil))
    case STUNAttributeType.xorMappedAddress:
      return .xorMappedAddress(try address(type, value, xor: id))
    case STUNAttributeType.username:
      // RFC 8489 §14.3: fewer than 509 bytes; ICE's two fragments of up to 256 need a few more.
      try require(value.byteCount <= 513)
      return .username([UInt8](copying: value))
    case STUNAttributeType.priority:
      try require(value.byteCount == 4)
      return .priority(value.u32(0))
    case STUNAttributeType.useCandidate:
      try require(value.isEmpty)
      return .useCandidate
    case STUNAttributeType.iceControlling:
      try require(value.byteCount == 8)
      return .iceControlling(value.u64(0))
    case STUNAttributeType.iceControlled:
      try require(value.byteCount == 8)
      return .iceControlled(value.u64(0))
    case STUNAttributeType.errorCode:
      // RFC 8489 §14.8: the hundreds in three bits, the rest in a byte, a reason of less than 764 bytes.
      try require(value.byteCount >= 4 && value.byteCount < 768 && value.u8(3) < 100)
      let hundreds = Int(value.u8(2) & 7)
      try require((3...6).contains(hundreds))
      let reason = String(repairing: value.part(from: 4))
      return .errorCode(hundreds * 100 + Int(value.u8(3)), reason: reason)
    case STUNAttributeType.unknownAttributes:
      try require(value.byteCount % 2 == 0)
      return .unknownAttributes(
        stride(from: 0, to: value.byteCount, by: 2).map { value.u16($0) })
    case STUNAttributeType.software:
      try require(value.byteCount < 764)
      return .software(String(repairing: value))
    case STUNAttributeType.realm:
      try require(value.byteCount < 764)
      return .realm([UInt8](copying: value))
    case STUNAttributeType.nonce:
      try require(value.byteCount < 764)
      return .nonce([UInt8](copying: value))
    default:
      return try turnAttribute(type, value, id)
        ?? .other(type: type, value: [UInt8](copying: value))
    }
  }

  // RFC 8656 §18 and the long-term credentials of RFC 8489; nil for types this module doesn't know.
  private static func turnAttribute(
    _ type: UInt16, _ value: RawSpan, _ id: STUNTransactionID
  ) throws(STUNError) -> STUNAttribute? {
    func require(_ condition: Bool) throws(STUNError) {
      if !condition { throw STUNError.malformedAttribute(type: type) }
    }
    switch type {
    case STUNAttributeType.channelNumber:
      try require(value.byteCount == 4)
      return .channelNumber(value.u16(0))
    case STUNAttributeType.lifetime:
      try require(value.byteCount == 4)
      return .lifetime(value.u32(0))
    case STUNAttributeType.xorPeerAddress:
      return .xorPeerAddress(try address(type, value, xor: id))
    case STUNAttributeType.xorRelayedAddress:
      return .xorRelayedAddress(try address(type, value, xor: id))
    case STUNAttributeType.data:
      return .data([UInt8](copying: value))
    case STUNAttributeType.requestedAddressFamily:
      // The family is checked where the request is: another one is answered with 440.
      try require(value.byteCount == 4)
      guard let family = STUNAddressFamily(rawValue: value.u8(0)) else { return nil }
      return .requestedAddressFamily(family)
    case STUNAttributeType.evenPort:
      try require(value.byteCount == 1)
      return .evenPort(reservesNext: value.u8(0) & 0x80 != 0)
    case STUNAttributeType.requestedTransport:
      try require(value.byteCount == 4)
      return .requestedTransport(value.u8(0))
    case STUNAttributeType.alternateServer:
      return .alternateServer(try address(type, value, xor: nil))
    case STUNAttributeType.userhash:
      try require(value.byteCount == 32)
      return .userhash([UInt8](copying: value))
    case STUNAttributeType.passwordAlgorithm:
      guard let (algorithm, _) = passwordAlgorithm(value, at: 0) else {
        throw .malformedAttribute(type: type)
      }
      return .passwordAlgorithm(algorithm)
    case STUNAttributeType.passwordAlgorithms:
      // Far more than the two that exist take.
      try require(value.byteCount < 764)
      var algorithms: [STUNPasswordAlgorithm] = []
      var offset = 0
      while offset < value.byteCount {
        guard algorithms.count < 16, let (algorithm, end) = passwordAlgorithm(value, at: offset)
        else { throw .malformedAttribute(type: type) }
        algorithms.append(algorithm)
        offset = end
      }
      return .passwordAlgorithms(algorithms)
    default: return nil
    }
  }

  // RFC 8489 §14.11 and §14.12: number, length and parameters, padded.
  private static func passwordAlgorithm(
    _ value: RawSpan, at offset: Int
  ) -> (STUNPasswordAlgorithm, end: Int)? {
    guard offset + 4 <= value.byteCount else { return nil }
    let length = Int(value.u16(offset + 2))
    guard offset + 4 + length <= value.byteCount else { return nil }
    let algorithm = STUNPasswordAlgorithm(
      number: value.u16(offset),
      parameters: [UInt8](copying: value.part(offset + 4, length)))
    return (algorithm, min(value.byteCount, offset + 4 + (length + 3) & ~3))
  }

  // RFC 8489 §14.1 and §14.2.
  static func address(
    _ type: UInt16, _ value: RawSpan, xor id: STUNTransactionID?
  ) throws(STUNError) -> TransportAddress {
    let family = value.byteCount >= 4 ? value.u8(1) : 0
    let cookie = id == nil ? 0 : stunMagicCookie
    let port = (value.byteCount >= 4 ? value.u16(2) : 0) ^ UInt16(truncatingIfNeeded: cookie >> 16)
    switch (family, value.byteCount) {
    case (1, 8):
      return TransportAddress(ip: IPAddress(v4: value.u32(4) ^ cookie), port: port)
    case (2, 20):
      let mask = xorMask(id)
      return TransportAddress(
        ip: IPAddress(
          v6: (value.u64(4) ^ mask.high, value.u64(12) ^ mask.low)),
        port: port)
    default:
      throw .malformedAttribute(type: type)
    }
  }

  static func xorMask(_ id: STUNTransactionID?) -> (high: UInt64, low: UInt64) {
    guard let id else { return (0, 0) }
    return (UInt64(stunMagicCookie) << 32 | UInt64(id.high), id.low)
  }
}
