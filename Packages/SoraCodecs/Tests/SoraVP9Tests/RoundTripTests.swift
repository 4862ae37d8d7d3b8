import CodecTestSupport
import SoraCodecs
import SoraMedia
import Testing

@Suite struct RoundTripTests {
  @Test(arguments: PictureSize.common + [PictureSize(1920, 1080)], [PixelFormat.i420, .nv12])
  func decodedPicturesLookLikeTheirSources(_ size: PictureSize, _ format: PixelFormat) throws {
    try vp9.decodedPicturesLookLikeTheirSources(size, format)
  }

  @Test func picturesSurviveTheirDecoder() throws { try vp9.picturesSurviveTheirDecoder() }

  @Test func steadyStateReusesItsMemory() throws {
    // Pictures are memory that the library still refers to.
    try vp9.steadyStateReusesItsMemory(pictures: 8)
  }
}

@Suite struct CapabilityTests {
  @Test func theFactoryNamesWhatItMakes() throws {
    try vp9.theFactoryNamesWhatItMakes(
      .vp9, decoder: "libvpx 1.", profiles: ["0"],
      modes: ["L1T1", "L1T3", "L2T3_KEY", "L3T3_KEY", "S2T1", "S3T3"])
  }

  @Test(arguments: VideoContentHint.allCases)
  func contentHintsAreTaken(_ hint: VideoContentHint) throws {
    try vp9.contentHintIsTaken(hint)
  }
}
