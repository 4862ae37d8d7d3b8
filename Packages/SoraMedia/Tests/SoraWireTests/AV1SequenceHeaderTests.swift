import SoraWire
import Testing

@Suite struct AV1SequenceHeaderTests {
  /// Sequence headers of 64x48 pixels, as aomenc writes them for 8 and 10 bits.
  @Test(
    arguments: [
      ([0x18, 0x15, 0x7F, 0xBD, 0xA0, 0x08], 8), ([0x18, 0x15, 0x7F, 0xBD, 0xA8, 0x08], 10),
    ] as [([UInt8], Int)]) func tellsItsBitDepth(_ bytes: [UInt8], _ depth: Int)
  {
    let header = AV1SequenceHeader(bytes.rawSpan)
    #expect(header?.bitDepth == depth)
    #expect(header?.width == 64 && header?.height == 48)
  }

  /// The size is all that's needed: what is cut behind it counts as 8 bits, and never traps.
  @Test func aCutHeaderHasEightBits() {
    let bytes: [UInt8] = [0x18, 0x15, 0x7F, 0xBD, 0xA8, 0x08]
    for count in 0..<4 {
      let cut = Array(bytes[..<count])
      let header = AV1SequenceHeader(cut.rawSpan)
      #expect(header == nil || header?.bitDepth == 8)
    }
    let cut = Array(bytes[..<4])
    #expect(AV1SequenceHeader(cut.rawSpan)?.bitDepth == 8)
  }
}
