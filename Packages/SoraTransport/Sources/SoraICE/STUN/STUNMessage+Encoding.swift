import SoraWire

extension STUNMessage {
  /// The bytes of the message.
  ///
  /// - Parameters:
  ///   - key: The key of MESSAGE-INTEGRITY: for short-term credentials the password's bytes (RFC 8489 §9.1.1). `nil` leaves
  ///     the attribute out.
  ///   - fingerprint: Whether FINGERPRINT ends the message, as ICE demands (RFC 8445 §7.1).
  ///   - integrity: Which attribute the key is used for.
  public func encoded(
    key: [UInt8]?, fingerprint: Bool = true, integrity: STUNIntegrity = .sha1
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(160)
    let bits = UInt16(messageClass.rawValue)
    let type =
      (method & 0x000F) | (method & 0x0070) << 1 | (method & 0x0F80) << 2
      | (bits & 1) << 4 | (bits & 2) << 7
    bytes.append(bigEndian: type)
    bytes.append(bigEndian: UInt16(0))
    bytes.append(bigEndian: stunMagicCookie)
    bytes.append(bigEndian: transactionID.high)
    bytes.append(bigEndian: transactionID.low)
    for attribute in attributes { append(attribute, to: &bytes) }
    if let key {
      switch integrity {
      case .sha1:
        setLength(&bytes, extra: 24)
        let code = hmacSHA1(bytes, key: key)
        appendAttribute(STUNAttributeType.messageIntegrity, code, to: &bytes)
      case .sha256:
        setLength(&bytes, extra: 36)
        let code = hmacSHA256(bytes, key: key)
        appendAttribute(STUNAttributeType.messageIntegritySHA256, code, to: &bytes)
      }
    }
    setLength(&bytes, extra: fingerprint ? 8 : 0)
    if fingerprint {
      let sum = crc32(bytes.rawSpan) ^ stunFingerprintMask
      bytes.append(bigEndian: STUNAttributeType.fingerprint)
      bytes.append(bigEndian: UInt16(4))
      bytes.append(bigEndian: sum)
    }
    return bytes
  }

  private func setLength(_ bytes: inout [UInt8], extra: Int) {
    let length = UInt16(truncatingIfNeeded: bytes.count - stunHeaderSize + extra)
    bytes[2] = UInt8(length >> 8)
    bytes[3] = UInt8(truncatingIfNeeded: length)
  }

  private func append(_ attribute: STUNAttribute, to bytes: inout [UInt8]) {
    switch attribute {
    case .mappedAddress(let address):
      appendAttribute(
        STUNAttributeType.mappedAddress, encodedAddress(address, xor: nil), to: &bytes)
    case .xorMappedAddress(let address):
      appendAttribute(
        STUNAttributeType.xorMappedAddress, encodedAddress(address, xor: transactionID), to: &bytes)
    case .username(let value):
      appendAttribute(STUNAttributeType.username, value, to: &bytes)
    case .priority(let value):
      appendAttribute(STUNAttributeType.priority, [UInt8](bigEndian: value), to: &bytes)
    case .useCandidate:
      appendAttribute(STUNAttributeType.useCandidate, [], to: &bytes)
    case .iceControlling(let value):
      appendAttribute(STUNAttributeType.iceControlling, [UInt8](bigEndian: value), to: &bytes)
    case .iceControlled(let value):
      appendAttribute(STUNAttributeType.iceControlled, [UInt8](bigEndian: value), to: &bytes)
    case .errorCode(let code, let reason):
      let bounded = min(max(code, 300), 699)
      appendAttribute(
        STUNAttributeType.errorCode,
        [0, 0, UInt8(bounded / 100), UInt8(bounded % 100)] + reason.utf8.prefix(512), to: &bytes)
    case .unknownAttributes(let types):
      var value: [UInt8] = []
      for type in types.prefix(64) { value.append(bigEndian: type) }
      appendAttribute(STUNAttributeType.unknownAttributes, value, to: &bytes)
    case .software(let text):
      appendAttribute(STUNAttributeType.software, Array(text.utf8.prefix(512)), to: &bytes)
    case .realm(let value):
      appendAttribute(STUNAttributeType.realm, value, to: &bytes)
    case .nonce(let value):
      appendAttribute(STUNAttributeType.nonce, value, to: &bytes)
    case .other(let type, let value):
      appendAttribute(type, value, to: &bytes)
    default: appendTURN(attribute, to: &bytes)
    }
  }

  private func appendTURN(_ attribute: STUNAttribute, to bytes: inout [UInt8]) {
    switch attribute {
    case .channelNumber(let number):
      appendAttribute(
        STUNAttributeType.channelNumber, [UInt8](bigEndian: number) + [0, 0], to: &bytes)
    case .lifetime(let seconds):
      appendAttribute(STUNAttributeType.lifetime, [UInt8](bigEndian: seconds), to: &bytes)
    case .xorPeerAddress(let address):
      appendAttribute(
        STUNAttributeType.xorPeerAddress, encodedAddress(address, xor: transactionID), to: &bytes)
    case .xorRelayedAddress(let address):
      appendAttribute(
        STUNAttributeType.xorRelayedAddress, encodedAddress(address, xor: transactionID), to: &bytes
      )
    case .data(let value):
      appendAttribute(STUNAttributeType.data, value, to: &bytes)
    case .requestedAddressFamily(let family):
      appendAttribute(
        STUNAttributeType.requestedAddressFamily, [family.rawValue, 0, 0, 0], to: &bytes)
    case .evenPort(let reservesNext):
      appendAttribute(STUNAttributeType.evenPort, [reservesNext ? 0x80 : 0], to: &bytes)
    case .requestedTransport(let number):
      appendAttribute(STUNAttributeType.requestedTransport, [number, 0, 0, 0], to: &bytes)
    case .alternateServer(let address):
      appendAttribute(
        STUNAttributeType.alternateServer, encodedAddress(address, xor: nil), to: &bytes)
    case .userhash(let value):
      appendAttribute(STUNAttributeType.userhash, value, to: &bytes)
    case .passwordAlgorithm(let algorithm):
      appendAttribute(STUNAttributeType.passwordAlgorithm, algorithm.encoded, to: &bytes)
    case .passwordAlgorithms(let algorithms):
      appendAttribute(
        STUNAttributeType.passwordAlgorithms, algorithms.flatMap(\.padded), to: &bytes)
    default: break
    }
  }

  private func appendAttribute(_ type: UInt16, _ value: [UInt8], to bytes: inout [UInt8]) {
    bytes.append(bigEndian: type)
    bytes.append(bigEndian: UInt16(truncatingIfNeeded: min(value.count, 1024)))
    bytes.append(contentsOf: value.prefix(1024))
    while bytes.count % 4 != 0 { bytes.append(0) }
  }

  private func encodedAddress(_ address: TransportAddress, xor id: STUNTransactionID?) -> [UInt8] {
    let cookie = id == nil ? 0 : stunMagicCookie
    var value: [UInt8] = [0, address.ip.isV4 ? 1 : 2]
    value.append(bigEndian: address.port ^ UInt16(truncatingIfNeeded: cookie >> 16))
    if let bits = address.ip.v4Bits {
      value.append(bigEndian: bits ^ cookie)
    } else if let bits = address.ip.v6Bits {
      let mask = STUNMessage.xorMask(id)
      value.append(bigEndian: bits.0 ^ mask.high)
      value.append(bigEndian: bits.1 ^ mask.low)
    }
    return value
  }
}
