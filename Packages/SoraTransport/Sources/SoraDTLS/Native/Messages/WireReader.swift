/// Reads numbers and vectors of TLS's presentation language (RFC 8446 §3) from a part of a message.
struct WireReader {
  private let bytes: [UInt8]
  private var offset: Int
  private let end: Int

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    offset = 0
    end = bytes.count
  }

  private init(_ bytes: [UInt8], _ range: Range<Int>) {
    self.bytes = bytes
    offset = range.lowerBound
    end = range.upperBound
  }

  var isAtEnd: Bool { offset == end }

  private mutating func number(_ count: Int) throws(HandshakeFailure) -> UInt64 {
    guard end - offset >= count else { throw .decode("a message is too short") }
    var value: UInt64 = 0
    for position in offset..<(offset + count) { value = value << 8 | UInt64(bytes[position]) }
    offset += count
    return value
  }

  mutating func read8() throws(HandshakeFailure) -> UInt8 {
    UInt8(truncatingIfNeeded: try number(1))
  }
  mutating func read16() throws(HandshakeFailure) -> UInt16 {
    UInt16(truncatingIfNeeded: try number(2))
  }
  mutating func read24() throws(HandshakeFailure) -> Int { Int(try number(3)) }
  mutating func read64() throws(HandshakeFailure) -> UInt64 { try number(8) }

  mutating func take(_ count: Int) throws(HandshakeFailure) -> [UInt8] {
    guard count >= 0, end - offset >= count else { throw .decode("a message is too short") }
    defer { offset += count }
    return Array(bytes[offset..<(offset + count)])
  }

  private mutating func part(_ count: Int) throws(HandshakeFailure) -> WireReader {
    guard count >= 0, end - offset >= count else { throw .decode("a vector is too long") }
    defer { offset += count }
    return WireReader(bytes, offset..<(offset + count))
  }

  /// A reader of a vector whose length takes one byte.
  mutating func vector8() throws(HandshakeFailure) -> WireReader { try part(Int(try number(1))) }
  mutating func vector16() throws(HandshakeFailure) -> WireReader { try part(Int(try number(2))) }
  mutating func vector24() throws(HandshakeFailure) -> WireReader { try part(Int(try number(3))) }

  /// What is left.
  mutating func rest() -> [UInt8] {
    defer { offset = end }
    return Array(bytes[offset..<end])
  }

  /// The rest as numbers of 16 bits.
  mutating func numbers16() throws(HandshakeFailure) -> [UInt16] {
    var values: [UInt16] = []
    values.reserveCapacity((end - offset) / 2)
    while !isAtEnd { values.append(try read16()) }
    return values
  }

  /// Fails where something is left that nobody asked for.
  func finish() throws(HandshakeFailure) {
    guard isAtEnd else { throw .decode("a message is too long") }
  }
}

extension [UInt8] {
  mutating func append16(_ value: UInt16) {
    append(UInt8(truncatingIfNeeded: value >> 8))
    append(UInt8(truncatingIfNeeded: value))
  }

  mutating func append24(_ value: Int) {
    append(UInt8(truncatingIfNeeded: value >> 16))
    append16(UInt16(truncatingIfNeeded: value))
  }

  mutating func append64(_ value: UInt64) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }

  /// Appends what `fill` appends, behind its length in `size` bytes.
  private mutating func appendVector(_ size: Int, _ fill: (inout [UInt8]) -> Void) {
    let start = count
    for _ in 0..<size { append(0) }
    fill(&self)
    var length = count - start - size
    for position in stride(from: start + size - 1, through: start, by: -1) {
      self[position] = UInt8(truncatingIfNeeded: length)
      length >>= 8
    }
  }

  mutating func appendVector8(_ fill: (inout [UInt8]) -> Void) { appendVector(1, fill) }
  mutating func appendVector16(_ fill: (inout [UInt8]) -> Void) { appendVector(2, fill) }
  mutating func appendVector24(_ fill: (inout [UInt8]) -> Void) { appendVector(3, fill) }
}
