import CodecTestSupport
import SoraCodecs
import SoraMedia
import Testing

@Suite struct RoundTripTests {
  @Test(arguments: PictureSize.common, [PixelFormat.i420, .nv12])
  func decodedPicturesLookLikeTheirSources(_ size: PictureSize, _ format: PixelFormat) throws {
    try vp8.decodedPicturesLookLikeTheirSources(size, format)
  }

  @Test func picturesSurviveTheirDecoder() throws { try vp8.picturesSurviveTheirDecoder() }

  @Test func steadyStateReusesItsMemory() throws {
    // libvpx's own memory is copied from at once: one in use, one being filled.
    try vp8.steadyStateReusesItsMemory(pictures: 2)
  }
}

@Suite struct CapabilityTests {
  @Test func theFactoryNamesWhatItMakes() throws {
    try vp8.theFactoryNamesWhatItMakes(
      .vp8, decoder: "libvpx 1.", profiles: [],
      modes: ["L1T1", "L1T2", "L1T3"])
  }

  @Test(arguments: VideoContentHint.allCases)
  func contentHintsAreTaken(_ hint: VideoContentHint) throws {
    try vp8.contentHintIsTaken(hint)
  }
}
