/// Walks the NAL units of an Annex B byte stream (H.264 and H.265 §B.1): those between start codes of three or four bytes.
///
/// Units come without their start codes and without the zero bytes that may follow them; empty ones are left out, and so
/// is what lies before the first start code. Reads the bytes in place and allocates nothing. Any input is taken.
public struct NALUnitIterator: Sequence, IteratorProtocol {
  private let bytes: UnsafeRawBufferPointer
  /// First byte behind the last start code that was found; the count where there is none left.
  private var start: Int

  /// The bytes must stay valid while the iterator and its units are used.
  public init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    start = Self.startCode(in: bytes, from: 0).map { $0 + 3 } ?? bytes.count
  }

  /// The next unit, its header first; nil at the end.
  public mutating func next() -> UnsafeRawBufferPointer? {
    nextRange().map { UnsafeRawBufferPointer(rebasing: bytes[$0]) }
  }

  /// Where the next unit lies within the stream; nil at the end. Never empty.
  public mutating func nextRange() -> Range<Int>? {
    while start < bytes.count {
      let begin = start
      var end = bytes.count
      if let code = Self.startCode(in: bytes, from: begin) {
        end = code
        start = code + 3
      } else {
        start = bytes.count
      }
      // No unit ends in a zero byte (H.264 §7.4.1): this one belongs to a longer start code, or it is padding.
      while end > begin, bytes[end - 1] == 0 { end -= 1 }
      if end > begin { return begin..<end }
    }
    return nil
  }

  /// The first of the next three bytes that are 0, 0, 1.
  private static func startCode(in bytes: UnsafeRawBufferPointer, from: Int) -> Int? {
    var last = from + 2
    while last < bytes.count {
      switch bytes[last] {
      case 0: last += 1
      case 1 where bytes[last - 1] == 0 && bytes[last - 2] == 0: return last - 2
      // No start code holds this byte, so none ends on it or on the next two.
      default: last += 3
      }
    }
    return nil
  }
}
