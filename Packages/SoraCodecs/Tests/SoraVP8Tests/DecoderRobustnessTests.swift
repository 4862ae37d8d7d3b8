import CodecTestSupport
import SoraCodecs
import Testing

@Suite struct DecoderRobustnessTests {
  @Test func hugePicturesAreRefusedBeforeMemoryIsReserved() throws {
    var bytes = try vp8.stream(1, 64, 64)[0]
    bytes[6] = 0xFF
    bytes[7] = 0x3F
    bytes[8] = 0xFF
    bytes[9] = 0x3F
    let decoder = try vp8.decoder()
    #expect(throws: CodecError.pictureTooLarge(width: 16_383, height: 16_383)) {
      try decoder.decode(unknownFrame(bytes))
    }
  }
}
