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
  func hugePicturesAreRefusedBeforeMemoryIsReserved(_ decoding: Decoding) throws {
    let frames = try stream(.openH264, 1, 640, 480)
    let decoder = try decoding.make(VideoDecoderSettings(maximumPixels: 320 * 240))
    #expect(throws: CodecError.pictureTooLarge(width: 640, height: 480)) {
      try decoder.decode(unknownFrame(frames[0]))
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
          _ = try decoder.decode(unknownFrame(bytes))
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

  /// What came after a frame that is missing is wrong: the decoder must say so.
  @Test(arguments: Pair.all)
  func aMissingFrameIsNoticed(_ pair: Pair) throws {
    let frames = try stream(pair.encoding, 8, 320, 240, keys: [6])
    let decoder = try pair.decoding.make()
    for bytes in frames[..<2] { _ = try decoder.decode(unknownFrame(bytes)) }
    var isNoticed = false
    do {
      _ = try decoder.decode(unknownFrame(frames[3]))
      isNoticed = decoder.isLastFrameCorrupted
    } catch {
      isNoticed = error.isCuredByKeyFrame
    }
    #expect(isNoticed)
    let decoded = try #require(try decoder.decode(unknownFrame(frames[6])))
    #expect(!decoder.isLastFrameCorrupted)
    #expect(Pictures.psnr(decoded.buffer, Pictures.make(320, 240, index: 6)) > 30)
    #expect(try decoder.decode(unknownFrame(frames[7])) != nil && !decoder.isLastFrameCorrupted)
  }

  @Test(arguments: Pair.all, ["42e01f", "64001f"])
  func mutatedFramesNeverTrap(_ pair: Pair, _ profile: String) throws {
    let random = RandomSource(seed: 0x5EED)
    let frames = try stream(
      pair.encoding, 8, 96, 80,
      parameters: ["profile-level-id": profile, "packetization-mode": "1"])
    let decoder = try pair.decoding.make(VideoDecoderSettings(maximumPixels: 512 * 512))
    var errors = 0
    for round in 0..<1_000 {
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
        if let decoded = try decoder.decode(unknownFrame(bytes)) {
          #expect(decoded.width * decoded.height <= 512 * 512)
        }
      } catch {
        errors += 1
        _ = try? decoder.decode(unknownFrame(frames[0]))
      }
    }
    #expect(errors > 0)
    // Pictures that a broken parameter set made the decoder keep back come out first.
    var clean: RawVideoFrame?
    for _ in 0..<4 {
      clean = try? decoder.decode(unknownFrame(frames[0]))
      if clean != nil, !decoder.isLastFrameCorrupted { break }
    }
    #expect(!decoder.isLastFrameCorrupted)
    #expect(Pictures.psnr(try #require(clean).buffer, Pictures.make(96, 80, index: 0)) > 30)
  }
}
