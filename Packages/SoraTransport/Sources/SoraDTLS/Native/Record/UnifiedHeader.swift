import SoraWire

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
  init?(_ bytes: RawSpan) {
    guard !bytes.isEmpty else { return nil }
    let flags = bytes.u8(0)
    guard Self.isOne(flags), flags & Self.connectionIDFlag == 0 else { return nil }
    epochBits = UInt64(flags & 3)
    numberLength = flags & Self.longNumberFlag != 0 ? 2 : 1
    let hasLength = flags & Self.lengthFlag != 0
    length = 1 + numberLength + (hasLength ? 2 : 0)
    guard bytes.byteCount >= length + Self.sampleLength else { return nil }
    if hasLength {
      bodyLength = Int(bytes.u16(length - 2))
    } else {
      bodyLength = bytes.byteCount - length
    }
    // RFC 9147 §4.2.3: at least 16 bytes, which the tag alone has. One more is the content type.
    guard bodyLength > AEADCipher.tagLength, bodyLength <= bytes.byteCount - length,
      bodyLength <= Record.contentLimit + 256
    else { return nil }
  }

  /// Writes a protected record.
  static func seal(
    _ type: UInt8, _ number: RecordNumber, _ payload: RawSpan, _ keys: RecordProtection,
    into memory: inout MutableRawSpan
  ) -> Bool {
    guard let numberCipher = keys.numberCipher else { return false }
    let bodyLength = memory.byteCount - writtenLength
    var header = InlineArray<5, UInt8>(repeating: 0)
    header[0] = fixed | longNumberFlag | lengthFlag | UInt8(truncatingIfNeeded: number.epoch & 3)
    header.withMutableRawSpan {
      $0.put16(UInt16(truncatingIfNeeded: number.sequence), at: 1)
      $0.put16(UInt16(truncatingIfNeeded: bodyLength), at: 3)
    }
    // RFC 9147 §4: the header is authenticated as it is before its number is hidden.
    var body = memory.part(writtenLength, bodyLength)
    guard
      keys.seal(
        number: number.sequence, header: header.rawSpan, content: payload, trailer: type,
        into: &body),
      let mask = numberCipher.mask(body.bytes.part(0, sampleLength))
    else { return false }
    header[1] ^= mask.0
    header[2] ^= mask.1
    memory.put(header.rawSpan, at: 0)
    return true
  }

  /// Decrypts a record where it is: what it holds, or why it is of no use, a replay or not genuine.
  ///
  /// - Parameter bytes: the record with its header.
  func open(_ bytes: inout MutableRawSpan, _ state: inout EpochReading) -> DecryptedRecord {
    guard let keys = state.keys,
      let mask = keys.numberCipher?.mask(bytes.bytes.part(length, Self.sampleLength))
    else { return .dropped(.unauthenticated) }
    // The header as it was before its number was hidden; it has five bytes at most.
    var header = InlineArray<5, UInt8>(repeating: 0)
    for position in 0..<length { header[position] = bytes.bytes.u8(position) }
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
    guard sequence < RecordNumber.sequenceLimit else { return .dropped(.unauthenticated) }
    var sealed = bytes.part(length, bodyLength)
    guard keys.open(number: sequence, header: header.rawSpan.part(0, length), sealed: &sealed)
    else { return .dropped(.unauthenticated) }
    state.window.take(sequence)
    // RFC 8446 §5.4: zeros pad, the last other byte is the type.
    let content = sealed.bytes
    var end = bodyLength - AEADCipher.tagLength
    while end > 0, content.u8(end - 1) == 0 { end -= 1 }
    guard end > 0, end - 1 <= Record.contentLimit else { return .dropped(.malformed) }
    return .content(
      type: content.u8(end - 1), RecordNumber(epoch: state.epoch, sequence: sequence),
      length..<(length + end - 1))
  }
}
