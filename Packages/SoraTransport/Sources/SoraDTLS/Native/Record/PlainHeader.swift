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
  init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard bytes.count >= Self.length else { return nil }
    type = bytes[0]
    version = UInt16(bytes[1]) << 8 | UInt16(bytes[2])
    var sequence: UInt64 = 0
    for position in 5..<11 { sequence = sequence << 8 | UInt64(bytes[position]) }
    number = RecordNumber(epoch: UInt64(bytes[3]) << 8 | UInt64(bytes[4]), sequence: sequence)
    length = Int(bytes[11]) << 8 | Int(bytes[12])
  }

  /// Epoch and sequence as one number: what the nonce and the authenticated header of 1.2 have.
  var combined: UInt64 { number.epoch << 48 | number.sequence }

  func write(to memory: UnsafeMutableBufferPointer<UInt8>) {
    memory[0] = type
    memory[1] = UInt8(truncatingIfNeeded: version >> 8)
    memory[2] = UInt8(truncatingIfNeeded: version)
    for position in 0..<8 {
      memory[3 + position] = UInt8(truncatingIfNeeded: combined >> UInt64(56 - 8 * position))
    }
    memory[11] = UInt8(truncatingIfNeeded: length >> 8)
    memory[12] = UInt8(truncatingIfNeeded: length)
  }

  /// What 1.2 authenticates beside the content: number, type, version and the content's length (RFC 5246 §6.2.3.3).
  private func withAuthenticated<R>(
    contentLength: Int, _ body: (UnsafeBufferPointer<UInt8>) -> R
  ) -> R {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.length) { memory in
      for position in 0..<8 {
        memory[position] = UInt8(truncatingIfNeeded: combined >> UInt64(56 - 8 * position))
      }
      memory[8] = type
      memory[9] = UInt8(truncatingIfNeeded: version >> 8)
      memory[10] = UInt8(truncatingIfNeeded: version)
      memory[11] = UInt8(truncatingIfNeeded: contentLength >> 8)
      memory[12] = UInt8(truncatingIfNeeded: contentLength)
      return body(UnsafeBufferPointer(memory))
    }
  }

  /// Writes a protected record of 1.2.
  static func seal(
    _ type: UInt8, _ number: RecordNumber, _ payload: UnsafeBufferPointer<UInt8>,
    _ keys: RecordProtection, into memory: UnsafeMutableBufferPointer<UInt8>
  ) -> Bool {
    let header = PlainHeader(type: type, number: number, length: memory.count - length)
    header.write(to: memory)
    guard let base = memory.baseAddress else { return false }
    // The number makes an explicit nonce that never comes twice.
    for position in 0..<keys.explicitNonceLength {
      base[length + position] = base[3 + position]
    }
    return header.withAuthenticated(contentLength: payload.count) {
      keys.seal(
        number: header.combined, header: $0, content: payload, trailer: nil,
        into: base + length + keys.explicitNonceLength)
    }
  }

  /// The content of a protected record of 1.2, or `nil` where it isn't genuine.
  func open(_ body: UnsafeBufferPointer<UInt8>, _ keys: RecordProtection) -> [UInt8]? {
    let count = body.count - keys.explicitNonceLength - AEADCipher.tagLength
    guard count >= 0, count <= RecordLayer.contentLimit, let base = body.baseAddress else {
      return nil
    }
    var nonce = combined
    if keys.explicitNonceLength == 8 {
      nonce = 0
      for position in 0..<8 { nonce = nonce << 8 | UInt64(body[position]) }
    }
    return withAuthenticated(contentLength: count) {
      keys.open(
        number: nonce, header: $0, ciphertext: base + keys.explicitNonceLength, count: count)
    }
  }
}
