/// The header of protected records of 1.3 (RFC 9147 §4): 001CSLEE.
struct UnifiedHeader {
  private static let fixed: UInt8 = 0b0010_0000
  private static let connectionIDFlag: UInt8 = 0b1_0000
  private static let longNumberFlag: UInt8 = 0b1000
  private static let lengthFlag: UInt8 = 0b100

  /// Flags, two bytes of the number, two of the length: what this end sends.
  static let writtenLength = 5
  /// Bytes of ciphertext that the number's mask is made from.
  private static let sampleLength = 16

  /// The epoch's low two bits.
  let epochBits: UInt64
  /// Bytes of the number: 1 or 2.
  let numberLength: Int
  /// Bytes of the header.
  let length: Int
  /// Bytes of the ciphertext, its tag included.
  let bodyLength: Int

  static func isOne(_ first: UInt8) -> Bool { first & 0b1110_0000 == fixed }

  /// Reads a header; `nil` where the bytes hold no whole record, or one with a connection ID, which was never agreed on.
  init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let flags = bytes.first, Self.isOne(flags), flags & Self.connectionIDFlag == 0 else {
      return nil
    }
    epochBits = UInt64(flags & 3)
    numberLength = flags & Self.longNumberFlag != 0 ? 2 : 1
    let hasLength = flags & Self.lengthFlag != 0
    length = 1 + numberLength + (hasLength ? 2 : 0)
    guard bytes.count >= length + Self.sampleLength else { return nil }
    if hasLength {
      bodyLength = Int(bytes[length - 2]) << 8 | Int(bytes[length - 1])
    } else {
      bodyLength = bytes.count - length
    }
    // RFC 9147 §4.2.3: at least 16 bytes, which the tag alone has. One more is the content type.
    guard bodyLength > AEADCipher.tagLength, bodyLength <= bytes.count - length,
      bodyLength <= RecordLayer.contentLimit + 256
    else { return nil }
  }

  /// Writes a protected record.
  static func seal(
    _ type: UInt8, _ number: RecordNumber, _ payload: UnsafeBufferPointer<UInt8>,
    _ keys: RecordProtection, into memory: UnsafeMutableBufferPointer<UInt8>
  ) -> Bool {
    guard let base = memory.baseAddress, let numberCipher = keys.numberCipher else { return false }
    let body = memory.count - writtenLength
    base[0] = fixed | longNumberFlag | lengthFlag | UInt8(truncatingIfNeeded: number.epoch & 3)
    base[1] = UInt8(truncatingIfNeeded: number.sequence >> 8)
    base[2] = UInt8(truncatingIfNeeded: number.sequence)
    base[3] = UInt8(truncatingIfNeeded: body >> 8)
    base[4] = UInt8(truncatingIfNeeded: body)
    // RFC 9147 §4: the header is authenticated as it is before its number is hidden.
    guard
      keys.seal(
        number: number.sequence,
        header: UnsafeBufferPointer(start: base, count: writtenLength), content: payload,
        trailer: type, into: base + writtenLength),
      let mask = numberCipher.mask(base + writtenLength)
    else { return false }
    base[1] ^= mask.0
    base[2] ^= mask.1
    return true
  }

  /// The content of a record, or why there is none: it is a replay, or isn't genuine.
  func open(
    _ bytes: UnsafeBufferPointer<UInt8>, _ state: inout RecordLayer.Reading
  ) -> RecordLayer.Opened {
    guard let base = bytes.baseAddress, let keys = state.keys,
      let mask = keys.numberCipher?.mask(base + length)
    else { return .dropped(.unauthenticated) }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: length) {
      header -> RecordLayer.Opened in
      for position in 0..<length { header[position] = base[position] }
      header[1] ^= mask.0
      var truncated = UInt64(header[1])
      if numberLength == 2 {
        header[2] ^= mask.1
        truncated = truncated << 8 | UInt64(header[2])
      }
      let sequence = RecordNumber.reconstruct(
        truncated, bits: UInt64(8 * numberLength), expected: state.window.expected)
      // Replays are dropped before they cost a decryption.
      guard state.window.isFresh(sequence) else { return .dropped(.replayed) }
      guard sequence < RecordNumber.sequenceLimit,
        var content = keys.open(
          number: sequence, header: UnsafeBufferPointer(header), ciphertext: base + length,
          count: bodyLength - AEADCipher.tagLength)
      else { return .dropped(.unauthenticated) }
      state.window.take(sequence)
      // RFC 8446 §5.4: zeros pad, the last other byte is the type.
      while content.last == 0 { content.removeLast() }
      guard let type = content.popLast(), content.count <= RecordLayer.contentLimit else {
        return .dropped(.malformed)
      }
      return .record(
        Record(
          type: type, number: RecordNumber(epoch: state.epoch, sequence: sequence),
          payload: content))
    }
  }
}
