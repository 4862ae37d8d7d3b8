/// The NAL units of a byte stream with start codes of three or four bytes (H.264 and H.265 §B.1), one after the other.
///
/// Units come without their start codes and without the zero bytes that may follow them; empty ones are left out, and so is
/// what lies before the first start code. Any input is taken. Borrows the bytes and allocates nothing.
public struct AnnexBUnits: ~Escapable {
  private let bytes: RawSpan
  /// The start of the next unit, behind its start code; nil at the end.
  private var start: Int?

  /// The units of a whole stream, such as an access unit.
  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan) {
    self.bytes = bytes
    start = Self.startCode(in: bytes, from: 0).map { $0 + 3 }
  }

  /// Where the next unit lies within the stream, its header first; nil at the end. Never empty.
  @_lifetime(self: copy self)
  public mutating func next() -> Range<Int>? {
    while let first = start {
      let code = Self.startCode(in: bytes, from: first)
      start = code.map { $0 + 3 }
      var end = code ?? bytes.byteCount
      // trailing_zero_8bits, and the zero in front of a start code of four bytes: no unit ends in a zero (H.264 §7.4.1).
      while end > first, bytes.u8(end - 1) == 0 { end -= 1 }
      if end > first { return first..<end }
    }
    return nil
  }

  /// The next unit, its header first; nil at the end. Never empty.
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  public mutating func nextUnit() -> RawSpan? {
    guard let unit = next() else { return nil }
    return bytes.part(unit.lowerBound, unit.count)
  }

  /// Where the next 00 00 01 begins.
  private static func startCode(in bytes: RawSpan, from first: Int) -> Int? {
    var index = first
    let last = bytes.byteCount - 3
    while index <= last {
      // Passes over what comes before a zero byte, eight bytes at a time (the test of Mycroft 1987, exact for the lowest byte).
      if index + 8 <= bytes.byteCount {
        let word = bytes.u64(index).byteSwapped
        let zeros = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
        guard zeros != 0 else {
          index += 8
          continue
        }
        index += zeros.trailingZeroBitCount / 8
        guard index <= last else { return nil }
      }
      let third = bytes.u8(index + 2)
      if third > 1 {
        index += 3
      } else if third == 1 {
        if bytes.u8(index) == 0, bytes.u8(index + 1) == 0 { return index }
        index += 3
      } else {
        index += 1
      }
    }
    return nil
  }
}
