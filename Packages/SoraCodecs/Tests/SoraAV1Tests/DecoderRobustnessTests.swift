import CodecTestSupport
import SoraCodecs
import Testing

@Suite struct DecoderRobustnessTests {
  @Test func hugePicturesAreRefusedBeforeMemoryIsReserved() throws {
    let bytes = try av1.stream(1, 320, 240)[0]
    let decoder = try av1.decoder(VideoDecoderSettings(maximumPixels: 320 * 239))
    #expect(throws: CodecError.pictureTooLarge(width: 320, height: 240)) {
      try decoder.decode(unknownFrame(bytes))
    }
  }
}
