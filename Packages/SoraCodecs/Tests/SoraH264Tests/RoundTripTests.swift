import CodecTestSupport
import SoraCodecs
import SoraMedia
import Testing

@Suite struct RoundTripTests {
  /// 4:2:0 has no pictures of one column or row.
  static let sizes =
    PictureSize.common.filter { $0.width > 1 } + [PictureSize(1_920, 1_080)]

  @Test(arguments: Pair.all, sizes)
  func decodedPicturesLookLikeTheirSources(_ pair: Pair, _ size: PictureSize) throws {
    guard pair.encoding.takes(size) else {
      let error = #expect(throws: CodecError.self) {
        try pair.encoding.make(VideoEncoderSettings(width: size.width, height: size.height))
      }
      guard case .invalidSetting("size", _, _)? = error else { throw try #require(error) }
      return
    }
    for format in [PixelFormat.i420, .nv12] {
      try pair.codec.decodedPicturesLookLikeTheirSources(size, format)
    }
  }

  @Test(arguments: Pair.all)
  func picturesSurviveTheirDecoder(_ pair: Pair) throws {
    try pair.codec.picturesSurviveTheirDecoder()
  }

  @Test(arguments: Pair.all)
  func steadyStateReusesItsMemory(_ pair: Pair) throws {
    // Pictures may be memory that the library still refers to.
    try pair.codec.steadyStateReusesItsMemory(pictures: 8)
  }

  @Test(arguments: Pair.all, VideoContentHint.allCases)
  func contentHintsAreTaken(_ pair: Pair, _ hint: VideoContentHint) throws {
    try pair.codec.contentHintIsTaken(hint)
  }
}
