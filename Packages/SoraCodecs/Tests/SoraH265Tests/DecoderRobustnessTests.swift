import CodecTestSupport
import Foundation
import SoraCodecs
import SoraMedia
import SoraX265
import Testing

@Suite struct DecoderRobustnessTests {
  @Test(arguments: Decoder.allCases)
  func picturesOnMissingReferencesAreReportedUntilAKeyFrame(_ implementation: Decoder) throws {
    let encoder = try x265.encoder(96, 80)
    let frames = try (0..<16).map { index in
      Array(
        try #require(
          try encoder.encode(
            Pictures.frame(96, 80, index: index), forceKeyFrame: index == 10, rtpTimestamp: 0)
        ).payload.bytes)
    }
    let decoder = try implementation.make()
    var reported: [Int] = []
    for index in [0, 1, 2, 4, 5, 6, 10, 11, 12, 14, 15] {
      #expect(try decoder.decode(unknownFrame(frames[index])) != nil)
      if decoder.isLastFrameCorrupted { reported.append(index) }
    }
    #expect(reported == [4, 5, 6, 14, 15])
  }

  @Test(arguments: Decoder.allCases)
  func picturesAboveTheLimitAreRefused(_ implementation: Decoder) throws {
    let small = try x265.stream(2, 160, 160)
    let large = try x265.stream(1, 322, 182)
    let decoder = try implementation.make(VideoDecoderSettings(maximumPixels: 160 * 160))
    #expect(try decoder.decode(unknownFrame(small[0])) != nil)
    #expect(throws: CodecError.pictureTooLarge(width: 322, height: 182)) {
      try decoder.decode(unknownFrame(large[0]))
    }
    #expect(try decoder.decode(unknownFrame(small[0])) != nil)
    #expect(try decoder.decode(unknownFrame(small[1])) != nil)
  }

  @Test(
    .enabled(if: tool("x265") != nil, "x265 isn't installed"),
    arguments: [
      ("--output-depth 10", "profile 4, 4:2:0, 10 bits"),
      ("--input-csp i444", "profile 4, 4:4:4, 8 bits"),
    ])
  func otherFormatsAreRefusedByName(_ option: String, _ name: String) throws {
    try withTemporaryFolder { folder in
      let source = folder.appendingPathComponent("source.yuv")
      let coded = folder.appendingPathComponent("coded.265")
      try Data(repeating: 90, count: 64 * 64 * 3).write(to: source)
      let status = try run(
        "x265",
        option.split(separator: " ").map(String.init) + [
          "--preset", "ultrafast", "--input-res", "64x64", "--fps", "30", "--frames", "1",
          source.path, "-o", coded.path,
        ])
      #expect(status == 0)
      let units = AnnexB.accessUnits([UInt8](try Data(contentsOf: coded)))
      for implementation in Decoder.allCases {
        let decoder = try implementation.make()
        #expect(throws: CodecError.unsupportedProfile(kind: .h265, profile: name)) {
          try decoder.decode(unknownFrame(units[0]))
        }
      }
    }
  }

  /// libde265 notices where a slice's data ends before its blocks do. libavcodec reads on in zeros and says nothing: whoever
  /// feeds it must hand over whole NAL units, as the RTP jitter buffer does.
  @Test(arguments: Decoder.allCases)
  func truncatedFramesNeverTrapAndAKeyFrameCuresThem(_ implementation: Decoder) throws {
    let frames = try x265.stream(3, 320, 240)
    let decoder = try implementation.make()
    var unnoticed = 0
    for part in 1..<8 {
      #expect(try decoder.decode(unknownFrame(frames[0])) != nil)
      #expect(!decoder.isLastFrameCorrupted)
      do {
        let decoded = try decoder.decode(
          unknownFrame(Array(frames[1].prefix(frames[1].count * part / 8))))
        if decoded != nil, !decoder.isLastFrameCorrupted { unnoticed += 1 }
        // What refers to a damaged picture is damaged too.
        let isKnown = decoder.isLastFrameCorrupted
        _ = try decoder.decode(unknownFrame(frames[2]))
        #expect(decoder.isLastFrameCorrupted == isKnown)
      } catch {
        #expect(error.isCuredByKeyFrame)
      }
    }
    if implementation == .libde265 { #expect(unnoticed <= 2, "\(unnoticed) of 7") }
  }
}
