import SoraWire

/// Reads the bits of a NAL unit's payload, and skips the bytes that keep start codes out of it (emulation_prevention_three_byte,
/// ITU-T H.264 §7.4.1). Reads zeros beyond the end and notes it.
struct NALBitReader: ~Escapable {
  private let bytes: RawSpan
  private var offset: Int
  private var zeros = 0
  private var current: UInt8 = 0
  private var left = 0
  /// More was read than there is.
  private(set) var isExhausted = false

  /// `offset` is where the bits begin, behind the unit's header.
  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, from offset: Int) {
    self.bytes = bytes
    self.offset = offset
  }

  @_lifetime(self: copy self)
  mutating func bit() -> UInt32 {
    if left == 0 {
      if zeros >= 2, offset < bytes.byteCount, bytes.u8(offset) == 3 {
        offset += 1
        zeros = 0
      }
      guard offset < bytes.byteCount else {
        isExhausted = true
        return 0
      }
      current = bytes.u8(offset)
      offset += 1
      zeros = current == 0 ? zeros + 1 : 0
      left = 8
    }
    left -= 1
    return UInt32(current >> UInt8(left) & 1)
  }

  /// Up to 32 bits.
  @_lifetime(self: copy self)
  mutating func bits(_ count: Int) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<count { value = value << 1 | bit() }
    return value
  }

  @_lifetime(self: copy self)
  mutating func skip(_ count: Int) {
    for _ in 0..<count { _ = bit() }
  }

  /// ue(v) (ITU-T H.264 §9.1); `nil` for a value of more than 31 bits or beyond the end.
  @_lifetime(self: copy self)
  mutating func unsignedExponential() -> UInt32? {
    var leading = 0
    while bit() == 0 {
      leading += 1
      if leading > 30 || isExhausted { return nil }
    }
    let value = (1 << UInt32(leading)) - 1 + bits(leading)
    return isExhausted ? nil : value
  }
}
