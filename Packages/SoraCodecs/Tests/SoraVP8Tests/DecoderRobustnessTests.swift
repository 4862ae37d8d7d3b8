import SoraCodecs
import SoraMedia
import SoraVP8
import Testing

@Suite struct DecoderRobustnessTests {
  private func stream(_ count: Int, _ width: Int, _ height: Int) throws -> [[UInt8]] {
    let encoder = try VP8Encoder(
      VideoEncoderSettings(
        width: width, height: height, targetBitsPerSecond: 1_000_000, allowsFrameDropping: false))
    return try (0..<count).compactMap { index in
      try encoder.encode(
        Pictures.frame(width, height, index: index), forceKeyFrame: false, rtpTimestamp: 0
      ).map { Array($0.payload.bytes) }
    }
  }

  private func frame(_ bytes: [UInt8]) -> EncodedFrame {
    EncodedFrame(
      payload: EncodedBuffer(bytes), isKeyFrame: false, rtpTimestamp: 0, timestamp: .zero)
  }

  @Test func interFramesWaitForAKeyFrame() throws {
    let frames = try stream(3, 64, 64)
    let decoder = try VP8Decoder()
    #expect(decoder.needsKeyFrame)
    #expect(throws: CodecError.keyFrameRequired) { try decoder.decode(frame(frames[1])) }
    #expect(try decoder.decode(frame(frames[0])) != nil)
    #expect(!decoder.needsKeyFrame)
    #expect(try decoder.decode(frame(frames[1])) != nil)
  }

  @Test func anErrorIsCuredByAKeyFrame() throws {
    let frames = try stream(3, 64, 64)
    let decoder = try VP8Decoder()
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
  }

  @Test func hugePicturesAreRefusedBeforeMemoryIsReserved() throws {
    var bytes = try stream(1, 64, 64)[0]
    bytes[6] = 0xFF
    bytes[7] = 0x3F
    bytes[8] = 0xFF
    bytes[9] = 0x3F
    let decoder = try VP8Decoder()
    #expect(throws: CodecError.pictureTooLarge(width: 16_383, height: 16_383)) {
      try decoder.decode(frame(bytes))
    }
  }

  @Test func truncatedFramesAreFlaggedOrRefused() throws {
    let frames = try stream(2, 320, 240)
    let decoder = try VP8Decoder()
    _ = try decoder.decode(frame(frames[0]))
    do {
      let decoded = try decoder.decode(frame(Array(frames[1].prefix(frames[1].count / 3))))
      #expect(decoded == nil || decoder.isLastFrameCorrupted)
    } catch {
      #expect(error.isCuredByKeyFrame)
    }
  }

  @Test func mutatedFramesNeverTrap() throws {
    let random = RandomSource(seed: 0x5EED)
    let frames = try stream(8, 96, 80)
    let decoder = try VP8Decoder(VideoDecoderSettings(maximumPixels: 512 * 512))
    var errors = 0
    for round in 0..<5_000 {
      var bytes = frames[Int(random.next() % UInt64(frames.count))]
      switch round % 4 {
      case 0: bytes = random.bytes(Int(random.next() % 200))
      case 1: bytes.removeLast(Int(random.next() % UInt64(bytes.count)))
      default:
        for _ in 0...(random.next() % 8) {
          // Half of the changes go to the headers, where they do most.
          let reach = random.next() & 1 == 0 ? min(bytes.count, 24) : bytes.count
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
    #expect(try decoder.decode(frame(frames[0])) != nil)
  }
}
