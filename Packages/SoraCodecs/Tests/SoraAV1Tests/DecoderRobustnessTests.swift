import CodecTestSupport
import SoraCodecs
import Testing

@Suite struct DecoderRobustnessTests {
  @Test func interFramesWaitForAKeyFrame() throws { try av1.interFramesWaitForAKeyFrame() }

  @Test func anErrorIsCuredByAKeyFrame() throws { try av1.anErrorIsCuredByAKeyFrame() }

  @Test func truncatedFramesAreFlaggedOrRefused() throws {
    try av1.truncatedFramesAreFlaggedOrRefused()
  }

  @Test func mutatedFramesNeverTrap() throws { try av1.mutatedFramesNeverTrap() }

  @Test func hugePicturesAreRefusedBeforeMemoryIsReserved() throws {
    let bytes = try av1.stream(1, 320, 240)[0]
    let decoder = try av1.decoder(VideoDecoderSettings(maximumPixels: 320 * 239))
    #expect(throws: CodecError.pictureTooLarge(width: 320, height: 240)) {
      try decoder.decode(unknownFrame(bytes))
    }
  }
}
