/// The NAL units of a byte stream with start codes (ITU-T H.264 and H.265, annex B), one after the other: where each lies,
/// without its start code and without zeros behind it. Allocates nothing.
///
/// Borrows the bytes: use it only while they are valid.
struct AnnexBUnits: Sequence, IteratorProtocol {
  private let bytes: UnsafeRawBufferPointer
  /// The start of the next unit, behind its start code; `nil` at the end.
  private var start: Int?

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    start = Self.startCode(in: bytes, from: 0).map { $0 + 3 }
  }

  mutating func next() -> Range<Int>? {
    while let first = start {
      let code = Self.startCode(in: bytes, from: first)
      start = code.map { $0 + 3 }
      var end = code ?? bytes.count
      // trailing_zero_8bits, and the zero in front of a start code of four bytes: no unit ends in a zero.
      while end > first, bytes[end - 1] == 0 { end -= 1 }
      if end > first { return first..<end }
    }
    return nil
  }

  /// Where the next 00 00 01 begins.
  private static func startCode(in bytes: UnsafeRawBufferPointer, from first: Int) -> Int? {
    var index = first
    let last = bytes.count - 3
    while index <= last {
      // A start code within eight bytes needs a zero among them (the test of Mycroft 1987 for a zero byte).
      if index + 8 <= bytes.count {
        let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 == 0 {
          index += 8
          continue
        }
      }
      let third = bytes[index + 2]
      if third > 1 {
        index += 3
      } else if third == 1 {
        if bytes[index] == 0, bytes[index + 1] == 0 { return index }
        index += 3
      } else {
        index += 1
      }
    }
    return nil
  }
}
