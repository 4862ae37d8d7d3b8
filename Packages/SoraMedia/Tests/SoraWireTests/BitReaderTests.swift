import SoraWire
import Testing

@Suite struct BitReaderTests {
  private let bytes: [UInt8] = [0b1010_0101, 0xFF, 0x00, 0x3C, 0x81, 0x7E]

  private func bit(_ index: Int) -> UInt32 {
    index >> 3 < bytes.count ? UInt32(bytes[index >> 3] >> UInt8(7 - index & 7)) & 1 : 0
  }

  /// Every width at every position, against bits picked one by one; those beyond the end are zeros and noted.
  @Test func everyWidthAtEveryPosition() {
    let all = bytes.count * 8
    for start in 0...all {
      for width in 0...32 {
        var reader = BitReader(bytes.rawSpan)
        reader.skip(start)
        let wasExhausted = reader.isExhausted
        let value = reader.read(width)
        let (isExhausted, position, left) = (reader.isExhausted, reader.position, reader.remaining)
        #expect(!wasExhausted)
        #expect(value == (start..<start + width).reduce(UInt32(0)) { $0 << 1 | bit($1) })
        #expect(isExhausted == (start + width > all))
        #expect(position == start + width)
        #expect(left == max(0, all - start - width))
      }
    }
  }

  @Test func skippingBeyondTheEndIsNoted() {
    var reader = BitReader(bytes.rawSpan)
    reader.skip(bytes.count * 8 + 1)
    let (isExhausted, flag) = (reader.isExhausted, reader.flag())
    #expect(isExhausted && !flag)
    let nothing: [UInt8] = []
    var empty = BitReader(nothing.rawSpan)
    let none = empty.read(0)
    let before = empty.isExhausted
    let one = empty.read(1)
    let after = empty.isExhausted
    #expect(none == 0 && !before && one == 0 && after)
  }
}
