import CodecTestSupport
import Foundation
import SoraCodecs
import SoraMedia
import SoraX265
import Testing

@Suite struct DecoderRobustnessTests {
  private func stream(_ count: Int, _ width: Int, _ height: Int) throws -> [[UInt8]] {
    let encoder = try makeEncoder(width, height, bitsPerSecond: 1_000_000)
    return try (0..<count).compactMap { index in
      try encoder.encode(
        Pictures.frame(width, height, index: index), forceKeyFrame: false, rtpTimestamp: 0
      ).map { Array($0.payload.bytes) }
    }
  }

  @Test(arguments: Decoder.allCases)
  func interFramesWaitForAKeyFrame(_ implementation: Decoder) throws {
    let frames = try stream(3, 64, 64)
    let decoder = try implementation.make()
    #expect(decoder.needsKeyFrame)
    do {
      _ = try decoder.decode(frame(frames[1]))
      Issue.record("decoded without a key frame")
    } catch {
      #expect(error.isCuredByKeyFrame)
    }
    #expect(decoder.needsKeyFrame)
    #expect(try decoder.decode(frame(frames[0])) != nil)
    #expect(!decoder.needsKeyFrame && !decoder.isLastFrameCorrupted)
    #expect(try decoder.decode(frame(frames[1])) != nil)
    #expect(!decoder.isLastFrameCorrupted)
  }

  @Test(arguments: Decoder.allCases)
  func anErrorIsCuredByAKeyFrame(_ implementation: Decoder) throws {
    let frames = try stream(3, 64, 64)
    let decoder = try implementation.make()
    _ = try decoder.decode(frame(frames[0]))
    for garbage in [[], [0x00], Array(repeating: UInt8(0xFF), count: 40)] as [[UInt8]] {
      do {
        _ = try decoder.decode(frame(garbage))
        Issue.record("decoded \(garbage.count) bytes of garbage")
      } catch {
        #expect(error.isCuredByKeyFrame)
      }
    }
    #expect(decoder.needsKeyFrame)
    do {
      _ = try decoder.decode(frame(frames[1]))
      Issue.record("decoded without a key frame")
    } catch {
      #expect(error.isCuredByKeyFrame)
    }
    for bytes in frames {
      #expect(try decoder.decode(frame(bytes)) != nil)
      #expect(!decoder.isLastFrameCorrupted)
    }
  }

  @Test(arguments: Decoder.allCases)
  func picturesOnMissingReferencesAreReportedUntilAKeyFrame(_ implementation: Decoder) throws {
    let encoder = try makeEncoder(96, 80)
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
      #expect(try decoder.decode(frame(frames[index])) != nil)
      if decoder.isLastFrameCorrupted { reported.append(index) }
    }
    #expect(reported == [4, 5, 6, 14, 15])
  }

  @Test(arguments: Decoder.allCases)
  func picturesAboveTheLimitAreRefused(_ implementation: Decoder) throws {
    let small = try stream(2, 160, 160)
    let large = try stream(1, 322, 182)
    let decoder = try implementation.make(VideoDecoderSettings(maximumPixels: 160 * 160))
    #expect(try decoder.decode(frame(small[0])) != nil)
    #expect(throws: CodecError.pictureTooLarge(width: 322, height: 182)) {
      try decoder.decode(frame(large[0]))
    }
    #expect(try decoder.decode(frame(small[0])) != nil)
    #expect(try decoder.decode(frame(small[1])) != nil)
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
          try decoder.decode(frame(units[0]))
        }
      }
    }
  }

  /// libde265 notices where a slice's data ends before its blocks do. libavcodec reads on in zeros and says nothing: whoever
  /// feeds it must hand over whole NAL units, as the RTP jitter buffer does.
  @Test(arguments: Decoder.allCases)
  func truncatedFramesNeverTrapAndAKeyFrameCuresThem(_ implementation: Decoder) throws {
    let frames = try stream(3, 320, 240)
    let decoder = try implementation.make()
    var unnoticed = 0
    for part in 1..<8 {
      #expect(try decoder.decode(frame(frames[0])) != nil)
      #expect(!decoder.isLastFrameCorrupted)
      do {
        let decoded = try decoder.decode(frame(Array(frames[1].prefix(frames[1].count * part / 8))))
        if decoded != nil, !decoder.isLastFrameCorrupted { unnoticed += 1 }
        // What refers to a damaged picture is damaged too.
        let isKnown = decoder.isLastFrameCorrupted
        _ = try decoder.decode(frame(frames[2]))
        #expect(decoder.isLastFrameCorrupted == isKnown)
      } catch {
        #expect(error.isCuredByKeyFrame)
      }
    }
    if implementation == .libde265 { #expect(unnoticed <= 2, "\(unnoticed) of 7") }
  }

  @Test(arguments: Decoder.allCases)
  func mutatedFramesNeverTrap(_ implementation: Decoder) throws {
    let random = RandomSource(seed: 0x5EED)
    let frames = try stream(8, 96, 80)
    let decoder = try implementation.make(
      VideoDecoderSettings(threads: 1, maximumPixels: 512 * 512))
    var errors = 0
    for round in 0..<1_200 {
      var bytes = frames[Int(random.next() % UInt64(frames.count))]
      switch round % 4 {
      case 0: bytes = random.bytes(Int(random.next() % 200))
      case 1: bytes.removeLast(Int(random.next() % UInt64(bytes.count)))
      default:
        for _ in 0...(random.next() % 8) {
          // Half of the changes go to the headers, where they do most.
          let reach = random.next() & 1 == 0 ? min(bytes.count, 90) : bytes.count
          bytes[Int(random.next() % UInt64(reach))] = UInt8(truncatingIfNeeded: random.next())
        }
      }
      do {
        _ = try decoder.decode(frame(bytes))
      } catch {
        errors += 1
        _ = try? decoder.decode(frame(frames[0]))
      }
    }
    #expect(errors > 0)
    let clean = try implementation.make()
    for bytes in frames {
      let decoded = try #require(try decoder.decode(frame(bytes)))
      #expect(!decoder.isLastFrameCorrupted)
      let reference = try #require(try clean.decode(frame(bytes)))
      #expect(Pictures.bytes(decoded.buffer) == Pictures.bytes(reference.buffer))
    }
  }
}
