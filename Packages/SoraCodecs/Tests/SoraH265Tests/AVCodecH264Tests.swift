import CodecTestSupport
import Foundation
import SoraAVCodec
import SoraCodecs
import SoraMedia
import SoraNAL
import SoraWire
import Testing

/// libavcodec's H.264 half, as far as it differs from the H.265 one; its pictures are compared elsewhere.
@Suite struct AVCodecH264Tests {
  private func stream(_ options: [String], count: Int, size: (Int, Int) = (322, 182)) throws
    -> [[UInt8]]
  {
    var units: [[UInt8]] = []
    try withTemporaryFolder { folder in
      let source = folder.appendingPathComponent("source.y4m")
      let coded = folder.appendingPathComponent("coded.264")
      try writeY4M(source, width: size.0, height: size.1, count: count)
      let status = try run(
        "x264", ["--preset", "veryfast"] + options + ["-o", coded.path, source.path])
      #expect(status == 0)
      units = AnnexB.h264AccessUnits([UInt8](try Data(contentsOf: coded)))
    }
    return units
  }

  @Test(.enabled(if: tool("x264") != nil, "x264 isn't installed"))
  func everyAccessUnitGivesItsPictureAtOnce() throws {
    let units = try stream(["--tune", "zerolatency", "--crf", "18"], count: 20)
    #expect(units.count == 20)
    let decoder = try AVCodecDecoder(.h264)
    for (index, unit) in units.enumerated() {
      var coded = unknownFrame(unit)
      coded.rtpTimestamp = UInt32(index)
      let decoded = try #require(try decoder.decode(coded))
      #expect(decoded.rtpTimestamp == UInt32(index))
      #expect(decoded.width == 322 && decoded.height == 182 && !decoder.isLastFrameCorrupted)
      #expect(Pictures.psnr(decoded.buffer, Pictures.make(322, 182, index: index)) > 35)
    }
  }

  @Test(
    .enabled(if: tool("x264") != nil, "x264 isn't installed"),
    arguments: [
      ([], .bt601), (["--colormatrix", "bt709"], .bt709),
      (["--colormatrix", "smpte170m"], .bt601),
      (["--colormatrix", "bt709", "--range", "pc"], .init(matrix: .bt709, isFullRange: true)),
    ] as [([String], VideoColorSpace)])
  func theStreamsColorsAreTold(_ options: [String], _ expected: VideoColorSpace) throws {
    let units = try stream(["--tune", "zerolatency"] + options, count: 1)
    let decoder = try AVCodecDecoder(.h264)
    #expect(try decoder.decode(unknownFrame(try #require(units.first)))?.colorSpace == expected)
  }

  @Test(.enabled(if: tool("x264") != nil, "x264 isn't installed"))
  func aMissingReferenceIsReportedUntilAKeyFrame() throws {
    let units = try stream(
      ["--tune", "zerolatency", "--keyint", "10", "--no-scenecut", "--ref", "1"], count: 20)
    let decoder = try AVCodecDecoder(.h264)
    var reported: [Int] = []
    for (index, unit) in units.enumerated() where index != 4 {
      _ = try decoder.decode(unknownFrame(unit))
      if decoder.isLastFrameCorrupted { reported.append(index) }
    }
    #expect(reported == Array(5..<10))
  }

  @Test(.enabled(if: tool("x264") != nil, "x264 isn't installed"))
  func reorderedPicturesComeInOutputOrderWithTheirTimes() throws {
    let units = try stream(["--bframes", "3", "--b-adapt", "0"], count: 24)
    let decoder = try AVCodecDecoder(.h264)
    var numbers: [UInt32] = []
    for (index, unit) in units.enumerated() {
      var coded = unknownFrame(unit)
      coded.rtpTimestamp = UInt32(index)
      if let decoded = try decoder.decode(coded) {
        let source = Pictures.make(322, 182, index: numbers.count)
        #expect(Pictures.psnr(decoded.buffer, source) > 30)
        numbers.append(decoded.rtpTimestamp)
      }
    }
    #expect(numbers.count >= 18 && Set(numbers).count == numbers.count)
    #expect(numbers != numbers.sorted())
  }

  @Test(.enabled(if: tool("x264") != nil, "x264 isn't installed"))
  func picturesAboveTheLimitAndOtherFormatsAreRefused() throws {
    let decoder = try AVCodecDecoder(.h264, VideoDecoderSettings(maximumPixels: 160 * 160))
    let large = try stream(["--tune", "zerolatency"], count: 1)
    #expect(throws: CodecError.pictureTooLarge(width: 322, height: 182)) {
      try decoder.decode(unknownFrame(large[0]))
    }
    let deep = try stream(["--output-csp", "i444"], count: 1, size: (64, 64))
    #expect(
      throws: CodecError.unsupportedProfile(
        kind: .h264, profile: "profile 244, chroma format 3, 8 bits")
    ) {
      try decoder.decode(unknownFrame(deep[0]))
    }
  }

  /// A second sequence parameter set, of a small picture, that the slices don't refer to.
  @Test(.enabled(if: tool("x264") != nil, "x264 isn't installed"))
  func theLimitHoldsForTheParameterSetInUse() throws {
    let large = try stream(["--tune", "zerolatency"], count: 1)[0]
    let small = try stream(["--tune", "zerolatency", "--sps-id", "1"], count: 1, size: (64, 64))[0]
    func units(_ bytes: [UInt8]) -> [[UInt8]] {
      var units: [[UInt8]] = []
      var found = AnnexBUnits(bytes.rawSpan)
      while let unit = found.nextUnit() { units.append([0, 0, 0, 1] + [UInt8](copying: unit)) }
      return units
    }
    let other = try #require(units(small).first { $0[4] & 0x1F == 7 })
    var mixed = units(large)
    mixed.insert(other, at: try #require(mixed.firstIndex { $0[4] & 0x1F == 5 }))
    let decoder = try AVCodecDecoder(.h264, VideoDecoderSettings(maximumPixels: 160 * 160))
    for bytes in [large, mixed.flatMap { $0 }] {
      #expect(throws: CodecError.pictureTooLarge(width: 322, height: 182)) {
        try decoder.decode(unknownFrame(bytes))
      }
    }
    // What fits is decoded afterwards.
    #expect(try decoder.decode(unknownFrame(small)) != nil)
  }
}
