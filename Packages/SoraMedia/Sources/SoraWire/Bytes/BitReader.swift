/// Reads bits, most significant first. Beyond the end it reads zeros and notes it, so that a parser asks once, at its end.
///
/// Borrows the bytes and allocates nothing.
public struct BitReader: ~Escapable {
  @usableFromInline
  let bytes: RawSpan
  /// Bits that were read, those beyond the end among them.
  public private(set) var position = 0
  /// More was read than there is.
  public private(set) var isExhausted = false

  @inlinable
  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan) {
    self.bytes = bytes
  }

  /// Bits that are left.
  public var remaining: Int { max(0, bytes.byteCount * 8 - position) }

  /// The next `count` bits, 0 to 32; the value is right-aligned.
  @_lifetime(self: copy self)
  public mutating func read(_ count: Int) -> UInt32 {
    precondition(count >= 0 && count <= 32)
    var value: UInt64 = 0
    var left = count
    while left > 0 {
      let index = position >> 3
      let used = position & 7
      let taken = min(8 - used, left)
      var byte: UInt8 = 0
      if index < bytes.byteCount { byte = bytes.u8(index) } else { isExhausted = true }
      value = value << UInt64(taken) | UInt64((byte << UInt8(used)) >> UInt8(8 - taken))
      position += taken
      left -= taken
    }
    return UInt32(truncatingIfNeeded: value)
  }

  /// The next bit as a flag.
  @_lifetime(self: copy self)
  public mutating func flag() -> Bool { read(1) == 1 }

  /// Passes over `count` bits, 0 or more.
  @_lifetime(self: copy self)
  public mutating func skip(_ count: Int) {
    precondition(count >= 0)
    position += count
    if position > bytes.byteCount * 8 { isExhausted = true }
  }
}
