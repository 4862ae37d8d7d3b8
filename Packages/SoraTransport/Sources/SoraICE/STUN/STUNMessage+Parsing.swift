extension STUNMessage {
  /// Reads one datagram. The FINGERPRINT is checked here (see `fingerprint`), MESSAGE-INTEGRITY by `isAuthentic(_:key:)`.
  public init(parsing bytes: UnsafeRawBufferPointer) throws(STUNError) {
    guard bytes.count >= stunHeaderSize, bytes[0] < 4, bytes.bigEndian32(at: 4) == stunMagicCookie
    else { throw .notSTUN }
    // RFC 8489 §6.3: over UDP a datagram is one whole message.
    guard Int(bytes.bigEndian16(at: 2)) == bytes.count - stunHeaderSize, bytes.count % 4 == 0 else {
      throw .badLength
    }
    // RFC 8489 §5: the class is bits 4 and 8 of the type, the method is the rest.
    let type = bytes.bigEndian16(at: 0)
    let classBits = UInt8(truncatingIfNeeded: (type >> 4 & 1) | (type >> 7 & 2))
    self.init(
      STUNClass(rawValue: classBits) ?? .indication,
      method: (type & 0x000F) | (type >> 1 & 0x0070) | (type >> 2 & 0x0F80),
      transactionID: STUNTransactionID(
        high: bytes.bigEndian32(at: 8), low: bytes.bigEndian64(at: 12)))

    var offset = stunHeaderSize
    var count = 0
    while offset < bytes.count {
      count += 1
      guard count <= 64 else { throw .tooManyAttributes }
      let type = bytes.bigEndian16(at: offset)
      let length = Int(bytes.bigEndian16(at: offset + 2))
      let end = offset + 4 + (length + 3) & ~3
      guard end <= bytes.count else { throw .truncatedAttribute(type: type) }
      let value = UnsafeRawBufferPointer(rebasing: bytes[offset + 4..<offset + 4 + length])
      switch type {
      case STUNAttributeType.fingerprint:
        guard length == 4 else { throw .malformedAttribute(type: type) }
        // RFC 8489 §14.7: it is the last attribute, so the length field of the header counts it already.
        fingerprint =
          end == bytes.count
            && crc32(UnsafeRawBufferPointer(rebasing: bytes[..<offset])) ^ stunFingerprintMask
              == value.bigEndian32(at: 0)
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
  public func isAuthentic(_ bytes: UnsafeRawBufferPointer, key: [UInt8]) -> Bool {
    guard let offset = integrityOffset, offset + 24 <= bytes.count else { return false }
    return STUNMessage.covers(bytes, offset: offset, count: 20) { hmacSHA1($0, key: key) }
  }

  /// Whether the MESSAGE-INTEGRITY-SHA256 of the message, parsed from these same `bytes`, was made with `key` (RFC 8489 §14.6).
  public func isAuthenticSHA256(_ bytes: UnsafeRawBufferPointer, key: [UInt8]) -> Bool {
    guard let (offset, count) = integritySHA256, offset + 4 + count <= bytes.count else {
      return false
    }
    return STUNMessage.covers(bytes, offset: offset, count: count) {
      Array(hmacSHA256($0, key: key).prefix(count))
    }
  }

  private static func covers(
    _ bytes: UnsafeRawBufferPointer, offset: Int, count: Int, _ code: ([UInt8]) -> [UInt8]
  ) -> Bool {
    var covered = Array(bytes[..<offset])
    // The length field counts up to the end of the attribute, whatever follows it.
    let length = UInt16(truncatingIfNeeded: offset + 4 + count - stunHeaderSize)
    covered[2] = UInt8(length >> 8)
    covered[3] = UInt8(truncatingIfNeeded: length)
    return code(covered).withUnsafeBytes {
      constantTimeEqual(
        $0, UnsafeRawBufferPointer(rebasing: bytes[offset + 4..<offset + 4 + count]))
    }
  }

  private static func attribute(
    _ type: UInt16, _ value: UnsafeRawBufferPointer, _ id: STUNTransactionID
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
      try require(value.count <= 513)
      return .username(Array(value))
    case STUNAttributeType.priority:
      try require(value.count == 4)
      return .priority(value.bigEndian32(at: 0))
    case STUNAttributeType.useCandidate:
      try require(value.isEmpty)
      return .useCandidate
    case STUNAttributeType.iceControlling:
      try require(value.count == 8)
      return .iceControlling(value.bigEndian64(at: 0))
    case STUNAttributeType.iceControlled:
      try require(value.count == 8)
      return .iceControlled(value.bigEndian64(at: 0))
    case STUNAttributeType.errorCode:
      // RFC 8489 §14.8: the hundreds in three bits, the rest in a byte, a reason of less than 764 bytes.
      try require(value.count >= 4 && value.count < 768 && value[3] < 100)
      let hundreds = Int(value[2] & 7)
      try require((3...6).contains(hundreds))
      let reason = String(decoding: UnsafeRawBufferPointer(rebasing: value[4...]), as: UTF8.self)
      return .errorCode(hundreds * 100 + Int(value[3]), reason: reason)
    case STUNAttributeType.unknownAttributes:
      try require(value.count % 2 == 0)
      return .unknownAttributes(
        stride(from: 0, to: value.count, by: 2).map { value.bigEndian16(at: $0) })
    case STUNAttributeType.software:
      try require(value.count < 764)
      return .software(String(decoding: value, as: UTF8.self))
    case STUNAttributeType.realm:
      try require(value.count < 764)
      return .realm(Array(value))
    case STUNAttributeType.nonce:
      try require(value.count < 764)
      return .nonce(Array(value))
    default:
      return try turnAttribute(type, value, id) ?? .other(type: type, value: Array(value))
    }
  }

  // RFC 8656 §18 and the long-term credentials of RFC 8489; nil for types this module doesn't know.
  private static func turnAttribute(
    _ type: UInt16, _ value: UnsafeRawBufferPointer, _ id: STUNTransactionID
  ) throws(STUNError) -> STUNAttribute? {
    func require(_ condition: Bool) throws(STUNError) {
      if !condition { throw STUNError.malformedAttribute(type: type) }
    }
    switch type {
    case STUNAttributeType.channelNumber:
      try require(value.count == 4)
      return .channelNumber(value.bigEndian16(at: 0))
    case STUNAttributeType.lifetime:
      try require(value.count == 4)
      return .lifetime(value.bigEndian32(at: 0))
    case STUNAttributeType.xorPeerAddress:
      return .xorPeerAddress(try address(type, value, xor: id))
    case STUNAttributeType.xorRelayedAddress:
      return .xorRelayedAddress(try address(type, value, xor: id))
    case STUNAttributeType.data:
      return .data(Array(value))
    case STUNAttributeType.requestedAddressFamily:
      // The family is checked where the request is: another one is answered with 440.
      try require(value.count == 4)
      guard let family = STUNAddressFamily(rawValue: value[0]) else { return nil }
      return .requestedAddressFamily(family)
    case STUNAttributeType.evenPort:
      try require(value.count == 1)
      return .evenPort(reservesNext: value[0] & 0x80 != 0)
    case STUNAttributeType.requestedTransport:
      try require(value.count == 4)
      return .requestedTransport(value[0])
    case STUNAttributeType.alternateServer:
      return .alternateServer(try address(type, value, xor: nil))
    case STUNAttributeType.userhash:
      try require(value.count == 32)
      return .userhash(Array(value))
    case STUNAttributeType.passwordAlgorithm:
      guard let (algorithm, _) = passwordAlgorithm(value, at: 0) else {
        throw .malformedAttribute(type: type)
      }
      return .passwordAlgorithm(algorithm)
    case STUNAttributeType.passwordAlgorithms:
      // Far more than the two that exist take.
      try require(value.count < 764)
      var algorithms: [STUNPasswordAlgorithm] = []
      var offset = 0
      while offset < value.count {
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
    _ value: UnsafeRawBufferPointer, at offset: Int
  ) -> (STUNPasswordAlgorithm, end: Int)? {
    guard offset + 4 <= value.count else { return nil }
    let length = Int(value.bigEndian16(at: offset + 2))
    guard offset + 4 + length <= value.count else { return nil }
    let algorithm = STUNPasswordAlgorithm(
      number: value.bigEndian16(at: offset),
      parameters: Array(value[offset + 4..<offset + 4 + length]))
    return (algorithm, min(value.count, offset + 4 + (length + 3) & ~3))
  }

  // RFC 8489 §14.1 and §14.2.
  static func address(
    _ type: UInt16, _ value: UnsafeRawBufferPointer, xor id: STUNTransactionID?
  ) throws(STUNError) -> TransportAddress {
    let family = value.count >= 4 ? value[1] : 0
    let cookie = id == nil ? 0 : stunMagicCookie
    let port = value.bigEndian16(at: 2) ^ UInt16(truncatingIfNeeded: cookie >> 16)
    switch (family, value.count) {
    case (1, 8):
      return TransportAddress(ip: IPAddress(v4: value.bigEndian32(at: 4) ^ cookie), port: port)
    case (2, 20):
      let mask = xorMask(id)
      return TransportAddress(
        ip: IPAddress(
          v6: (value.bigEndian64(at: 4) ^ mask.high, value.bigEndian64(at: 12) ^ mask.low)),
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
