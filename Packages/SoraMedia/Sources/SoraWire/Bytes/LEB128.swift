/// Numbers of seven bits a byte, the lowest first, as AV1 writes sizes (AV1 bitstream specification §4.10.5).
public enum LEB128 {
  /// Bytes that `value`, 0 or more, takes.
  public static func byteCount(_ value: Int) -> Int {
    var count = 1
    var rest = value >> 7
    while rest > 0 {
      count += 1
      rest >>= 7
    }
    return count
  }
}

extension ByteReader {
  /// The next number in LEB128: up to eight bytes long and at most 32 bits large; `nil` where there is none.
  @_lifetime(self: copy self)
  public mutating func leb128() -> Int? {
    var value: UInt64 = 0
    for index in 0..<8 {
      guard let byte = u8() else { return nil }
      value |= UInt64(byte & 0x7F) << UInt64(7 * index)
      if byte & 0x80 == 0 { return value <= UInt64(UInt32.max) ? Int(value) : nil }
    }
    return nil
  }
}

extension MutableRawSpan {
  /// Writes `value`, 0 or more, in as few bytes as it takes, and says how many. Traps where they don't fit.
  @_lifetime(self: copy self)
  public mutating func putLEB128(_ value: Int, at offset: Int) -> Int {
    let count = LEB128.byteCount(value)
    var rest = value
    for index in 0..<count {
      put8(
        UInt8(truncatingIfNeeded: rest & 0x7F) | (index + 1 < count ? 0x80 : 0), at: offset + index)
      rest >>= 7
    }
    return count
  }
}
