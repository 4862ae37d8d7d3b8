import CodecTestSupport
import SoraCodecs
import SoraH265
import SoraMedia
import SoraNAL
import Testing

@Suite struct RoundTripTests {
  /// H.265 has no picture below a coding block's size.
  static let sizes =
    PictureSize.common.filter { min($0.width, $0.height) >= 16 } + [
      PictureSize(18, 200), PictureSize(33, 31), PictureSize(1920, 1080),
    ]

  @Test(arguments: sizes, Decoder.allCases)
  func decodedPicturesLookLikeTheirSources(_ size: PictureSize, _ implementation: Decoder) throws {
    for format in [PixelFormat.i420, .nv12] {
      try implementation.codec.decodedPicturesLookLikeTheirSources(size, format)
    }
  }

  @Test(arguments: Decoder.allCases)
  func picturesSurviveTheirDecoder(_ implementation: Decoder) throws {
    try implementation.codec.picturesSurviveTheirDecoder()
  }

  @Test(arguments: Decoder.allCases)
  func steadyStateReusesItsMemory(_ implementation: Decoder) throws {
    // Pictures are memory that the library still refers to.
    try implementation.codec.steadyStateReusesItsMemory(pictures: 8)
  }
}
