import CodecTestSupport
import Foundation
import SoraCodecs
import SoraMedia
import SoraNAL
import Testing

@Suite struct DecoderRobustnessTests {
  private func stream(
    _ encoding: Encoding, _ count: Int, _ width: Int, _ height: Int,
    parameters: [String: String] = [:], keys: [Int] = []
  ) throws -> [[UInt8]] {
    let encoder = try encoding.make(
      VideoEncoderSettings(
        width: width, height: height, targetBitsPerSecond: 1_000_000, allowsFrameDropping: false,
        formatParameters: parameters))
    return try (0..<count).map { index in
      let encoded = try #require(
        try encoder.encode(
          Pictures.frame(width, height, index: index), forceKeyFrame: keys.contains(index),
          rtpTimestamp: 0))
      return Array(encoded.payload.bytes)
    }
  }

  @Test(arguments: Decoding.allCases)
  func interFramesWaitForAKeyFrame(_ decoding: Decoding) throws {
    let frames = try stream(.openH264, 3, 64, 64)
    let decoder = try decoding.make()
    #expect(decoder.needsKeyFrame)
    #expect(throws: CodecError.keyFrameRequired) { try decoder.decode(frame(frames[1])) }
    #expect(try decoder.decode(frame(frames[0])) != nil)
    #expect(!decoder.needsKeyFrame)
    #expect(try decoder.decode(frame(frames[1])) != nil)
  }

  @Test(arguments: Decoding.allCases)
  func anErrorIsCuredByAKeyFrame(_ decoding: Decoding) throws {
    let frames = try stream(.openH264, 3, 64, 64)
    let decoder = try decoding.make()
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
    #expect(throws: CodecError.keyFrameRequired) { try decoder.decode(frame(frames[1])) }
    #expect(try decoder.decode(frame(frames[0])) != nil)
    #expect(try decoder.decode(frame(frames[1])) != nil)
  }

  @Test(arguments: Decoding.allCases)
  func hugePicturesAreRefusedBeforeMemoryIsReserved(_ decoding: Decoding) throws {
    let frames = try stream(.openH264, 1, 640, 480)
    let decoder = try decoding.make(VideoDecoderSettings(maximumPixels: 320 * 240))
    #expect(throws: CodecError.pictureTooLarge(width: 640, height: 480)) {
      try decoder.decode(frame(frames[0]))
    }
  }

  @Test(
    .enabled(if: tool("ffmpeg") != nil, "ffmpeg isn't installed (Debian's package ffmpeg)"),
    arguments: Decoding.allCases)
  func otherProfilesAreRefusedByName(_ decoding: Decoding) throws {
    for format in ["yuv420p10le", "yuv422p", "yuv444p"] {
      try withTemporaryFolder { folder in
        let coded = folder.appendingPathComponent("coded.h264")
        #expect(
          try run(
            "ffmpeg",
            [
              "-loglevel", "error", "-f", "lavfi", "-i", "testsrc2=size=128x128", "-frames:v", "1",
              "-pix_fmt", format, "-c:v", "libx264", coded.path,
            ]) == 0)
        let bytes = try AccessUnits.read(coded)[0]
        let decoder = try decoding.make()
        do {
          _ = try decoder.decode(frame(bytes))
          Issue.record("decoded \(format)")
        } catch {
          guard case .unsupportedProfile(.h264, _)? = error as? CodecError else {
            Issue.record("\(format): \(error)")
            return
          }
        }
      }
    }
  }

  @Test(arguments: Decoding.allCases)
  func truncatedFramesAreFlaggedOrRefused(_ decoding: Decoding) throws {
    let frames = try stream(.openH264, 2, 320, 240)
    let decoder = try decoding.make()
    _ = try decoder.decode(frame(frames[0]))
    do {
      let decoded = try decoder.decode(frame(Array(frames[1].prefix(frames[1].count / 3))))
      #expect(decoded == nil || decoder.isLastFrameCorrupted)
    } catch {
      #expect(error.isCuredByKeyFrame)
    }
  }

  /// What came after a frame that is missing is wrong: the decoder must say so.
  @Test(arguments: RoundTripTests.Pair.all)
  func aMissingFrameIsNoticed(_ pair: RoundTripTests.Pair) throws {
    let frames = try stream(pair.encoding, 8, 320, 240, keys: [6])
    let decoder = try pair.decoding.make()
    for bytes in frames[..<2] { _ = try decoder.decode(frame(bytes)) }
    var isNoticed = false
    do {
      _ = try decoder.decode(frame(frames[3]))
      isNoticed = decoder.isLastFrameCorrupted
    } catch {
      isNoticed = error.isCuredByKeyFrame
    }
    #expect(isNoticed)
    let decoded = try #require(try decoder.decode(frame(frames[6])))
    #expect(!decoder.isLastFrameCorrupted)
    #expect(Pictures.psnr(decoded.buffer, Pictures.make(320, 240, index: 6)) > 30)
    #expect(try decoder.decode(frame(frames[7])) != nil && !decoder.isLastFrameCorrupted)
  }

  @Test(arguments: RoundTripTests.Pair.all, ["42e01f", "64001f"])
  func mutatedFramesNeverTrap(_ pair: RoundTripTests.Pair, _ profile: String) throws {
    let random = RandomSource(seed: 0x5EED)
    let frames = try stream(
      pair.encoding, 8, 96, 80,
      parameters: ["profile-level-id": profile, "packetization-mode": "1"])
    let decoder = try pair.decoding.make(VideoDecoderSettings(maximumPixels: 512 * 512))
    var errors = 0
    for round in 0..<2_000 {
      var bytes = frames[Int(random.next() % UInt64(frames.count))]
      switch round % 4 {
      case 0: bytes = [0, 0, 1] + random.bytes(Int(random.next() % 200))
      case 1: bytes.removeLast(Int(random.next() % UInt64(bytes.count)))
      default:
        for _ in 0...(random.next() % 8) {
          // Half of the changes go to the parameter sets and headers, where they do most.
          let reach = random.next() & 1 == 0 ? min(bytes.count, 48) : bytes.count
          bytes[Int(random.next() % UInt64(reach))] = UInt8(truncatingIfNeeded: random.next())
        }
      }
      do {
        if let decoded = try decoder.decode(frame(bytes)) {
          #expect(decoded.width * decoded.height <= 512 * 512)
        }
      } catch {
        errors += 1
        _ = try? decoder.decode(frame(frames[0]))
      }
    }
    #expect(errors > 0)
    // Pictures that a broken parameter set made the decoder keep back come out first.
    var clean: VideoFrame?
    for _ in 0..<4 {
      clean = try? decoder.decode(frame(frames[0]))
      if clean != nil, !decoder.isLastFrameCorrupted { break }
    }
    #expect(!decoder.isLastFrameCorrupted)
    #expect(Pictures.psnr(try #require(clean).buffer, Pictures.make(96, 80, index: 0)) > 30)
  }
}
