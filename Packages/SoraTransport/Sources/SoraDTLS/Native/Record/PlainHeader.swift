import SoraWire

/// The record header of 1.2, and of 1.3 before there are keys (RFC 6347 §4.1, RFC 9147 §4).
struct PlainHeader {
  static let length = 13

  var type: UInt8
  var version: UInt16 = DTLSVersion.v12.rawValue
  var number: RecordNumber
  /// Bytes behind the header.
  var length: Int

  init(type: UInt8, number: RecordNumber, length: Int) {
    self.type = type
    self.number = number
    self.length = length
  }

  /// Reads a header; `nil` where there are too few bytes.
  init?(_ bytes: RawSpan) {
    guard bytes.byteCount >= Self.length else { return nil }
    type = bytes.u8(0)
    version = bytes.u16(1)
    let combined = bytes.u64(3)
    number = RecordNumber(
      epoch: combined >> 48, sequence: combined & RecordNumber.sequenceLimit)
    length = Int(bytes.u16(11))
  }

  /// Epoch and sequence as one number: what the nonce and the authenticated header of 1.2 have.
  var combined: UInt64 { number.epoch << 48 | number.sequence }

  func write(to memory: inout MutableRawSpan) {
    memory.put8(type, at: 0)
    memory.put16(version, at: 1)
    memory.put64(combined, at: 3)
    memory.put16(UInt16(truncatingIfNeeded: length), at: 11)
  }

  /// What 1.2 authenticates beside the content: number, type, version and the content's length (RFC 5246 §6.2.3.3).
  private func authenticated(contentLength: Int) -> InlineArray<13, UInt8> {
    var bytes = InlineArray<13, UInt8>(repeating: 0)
    bytes.withMutableRawSpan { memory in
      memory.put64(combined, at: 0)
      memory.put8(type, at: 8)
      memory.put16(version, at: 9)
      memory.put16(UInt16(truncatingIfNeeded: contentLength), at: 11)
    }
    return bytes
  }

  /// Writes a protected record of 1.2.
  static func seal(
    _ type: UInt8, _ number: RecordNumber, _ payload: RawSpan, _ keys: RecordProtection,
    into memory: inout MutableRawSpan
  ) -> Bool {
    let header = PlainHeader(type: type, number: number, length: memory.byteCount - length)
    header.write(to: &memory)
    // The number makes an explicit nonce that never comes twice.
    if keys.explicitNonceLength == 8 { memory.put64(header.combined, at: length) }
    let authenticated = header.authenticated(contentLength: payload.byteCount)
    let start = length + keys.explicitNonceLength
    var body = memory.part(start, memory.byteCount - start)
    return keys.seal(
      number: header.combined, header: authenticated.rawSpan, content: payload, trailer: nil,
      into: &body)
  }

  /// Decrypts a protected record of 1.2 where it is.
  ///
  /// - Parameter body: what follows the header.
  /// - Returns: where the content lies in it, or `nil` where it isn't genuine.
  func open(_ body: inout MutableRawSpan, _ keys: RecordProtection) -> Range<Int>? {
    let start = keys.explicitNonceLength
    let count = body.byteCount - start - AEADCipher.tagLength
    guard count >= 0, count <= Record.contentLimit else { return nil }
    let nonce = start == 8 ? body.bytes.u64(0) : combined
    let header = authenticated(contentLength: count)
    var sealed = body.part(start, count + AEADCipher.tagLength)
    return keys.open(number: nonce, header: header.rawSpan, sealed: &sealed)
      ? start..<(start + count) : nil
  }
}
