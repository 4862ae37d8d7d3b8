import CodecTestSupport
import Foundation
import SoraCodecs
import SoraMedia
import Testing

/// A codec, and what its frames say of their colours.
private struct ColorCase: CustomTestStringConvertible, Sendable {
  let codec: CodecUnderTest
  /// nil says nothing.
  let space: VideoColorSpace?
  var testDescription: String {
    let name = space.map { "\($0.matrix)\($0.isFullRange ? " full" : "")" }
    return "\(codec.name), \(name ?? "nothing said")"
  }

  static func all(_ codecs: [CodecUnderTest]) -> [ColorCase] {
    let spaces: [VideoColorSpace?] = [
      nil, .bt601, .bt709, VideoColorSpace(matrix: .bt601, isFullRange: true),
      VideoColorSpace(matrix: .bt709, isFullRange: true),
    ]
    return codecs.flatMap { codec in spaces.map { ColorCase(codec: codec, space: $0) } }
  }

  /// What its stream says: VP8 has no words for it.
  var told: VideoColorSpace? { codec.encoding.capability.kind == .vp8 ? nil : space }

  func frame(_ index: Int, format: PixelFormat = .i420) -> RawVideoFrame {
    RawVideoFrame(
      buffer: ColoredPictures.make(space ?? .bt601, format: format),
      timestamp: Instant(nanoseconds: Int64(index) * 1_000_000_000 / 30), colorSpace: space)
  }

  func encoder() throws -> any VideoEncoder {
    try codec.encoder(ColoredPictures.width, ColoredPictures.height, bits: 2_000_000)
  }
}

@Suite struct ColorTests {
  @Test(arguments: ColorCase.all(CodecUnderTest.all), PixelFormat.allCases)
  private func colorsArriveAsTheyWere(_ test: ColorCase, _ format: PixelFormat) throws {
    let encoder = try test.encoder()
    let decoder = try test.codec.decoder()
    for index in 0..<4 {
      let encoded = try #require(
        try encoder.encode(
          test.frame(index, format: format), forceKeyFrame: false, rtpTimestamp: 0))
      #expect(encoded.isKeyFrame == (index == 0))
      let decoded = try #require(try decoder.decode(encoded))
      #expect(decoded.statedColorSpace == test.told)
      let error = ColoredPictures.error(decoded.buffer, decoded.colorSpace)
      #expect(error < 9, "\(error) of 255")
    }
  }

  /// The picture is the same and its meaning another: a key frame says so, and the others go on.
  @Test(arguments: CodecUnderTest.all)
  func aChangeIsToldWithAKeyFrame(_ codec: CodecUnderTest) throws {
    let encoder = try codec.encoder(ColoredPictures.width, ColoredPictures.height)
    let decoder = try codec.decoder()
    let isSilent = codec.encoding.capability.kind == .vp8
    let cases = ColorCase.all([codec])
    for index in 0..<10 {
      let test = cases[index / 2]
      let encoded = try #require(
        try encoder.encode(test.frame(index), forceKeyFrame: false, rtpTimestamp: 0))
      #expect(encoded.isKeyFrame == (index == 0 || index % 2 == 0 && !isSilent), "\(index)")
      let decoded = try #require(try decoder.decode(encoded))
      #expect(decoded.statedColorSpace == test.told)
      #expect(ColoredPictures.error(decoded.buffer, decoded.colorSpace) < 16, "\(index)")
    }
  }

  /// Layers of one picture say the same.
  @Test(arguments: ColorCase.all(CodecUnderTest.spatial))
  private func layersTellIt(_ test: ColorCase) throws {
    let encoder = try test.codec.encoder(
      ColoredPictures.width, ColoredPictures.height, mode: ScalabilityMode("L2T2")!)
    let decoder = try test.codec.decoder()
    for index in 0..<4 {
      let encoded = try #require(
        try encoder.encode(test.frame(index), forceKeyFrame: false, rtpTimestamp: 0))
      let decoded = try #require(try decoder.decode(encoded))
      #expect(decoded.statedColorSpace == test.told)
    }
  }

  /// An independent reader. Its words: BT.601's matrix has two names, for 525 and 625 lines, and VP9 has but the latter here.
  @Test(
    .enabled(if: tool("ffprobe") != nil, "ffprobe isn't installed (Debian's package ffmpeg)"),
    arguments: ColorCase.all(CodecUnderTest.probed))
  private func ffprobeSaysTheSame(_ test: ColorCase) throws {
    let encoder = try test.encoder()
    let frames = try (0..<4).map { index in
      Array(
        try #require(
          try encoder.encode(test.frame(index), forceKeyFrame: false, rtpTimestamp: 0)
        ).payload.bytes)
    }
    let kind = test.codec.encoding.capability.kind
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("stream.\(kind == .h265 ? "h265" : "\(kind)")")
      let isAnnexB = kind == .h264 || kind == .h265
      let names = [VideoCodecKind.vp9: "VP90", .av1: "AV01"]
      let data =
        isAnnexB
        ? Data(frames.joined())
        : IVF.write(
          frames, fourCC: names[kind] ?? "VP80", width: ColoredPictures.width,
          height: ColoredPictures.height)
      try data.write(to: file)
      let format = isAnnexB ? (kind == .h264 ? "h264" : "hevc") : "ivf"
      let told = try lines(
        of: "ffprobe",
        [
          "-v", "error", "-f", format, "-show_entries",
          "frame=color_space,color_range", "-of", "csv=p=0", file.path,
        ])
      let matrix =
        switch test.told?.matrix {
        case .bt709: "bt709"
        case .bt601: kind == .vp9 ? "bt470bg" : "smpte170m"
        case nil: "unknown"
        }
      // VP9 and AV1 always say a range; of H.265, FFmpeg takes it for limited where nothing is said.
      let isRangeTold = test.told != nil || kind != .h264
      let range = test.told?.isFullRange == true ? "pc" : isRangeTold ? "tv" : "unknown"
      #expect(told.count == 4)
      for line in told {
        #expect(line.split(separator: ",").map(String.init).sorted() == [matrix, range].sorted())
      }
    }
  }
}
