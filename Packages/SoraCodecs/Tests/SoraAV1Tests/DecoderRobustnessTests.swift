import CodecTestSupport
import SoraAV1
import SoraAV1Decoding
import SoraAV1Encoding
import SoraCodecs
import SoraMedia
import Testing

@Suite struct DecoderRobustnessTests {
  private func stream(_ count: Int, _ width: Int, _ height: Int) throws -> [[UInt8]] {
    let encoder = try AV1Encoder(
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
    let decoder = try AV1Decoder()
    #expect(decoder.needsKeyFrame)
    #expect(throws: CodecError.keyFrameRequired) { try decoder.decode(frame(frames[1])) }
    #expect(try decoder.decode(frame(frames[0])) != nil)
    #expect(!decoder.needsKeyFrame)
    #expect(try decoder.decode(frame(frames[1])) != nil)
  }

  @Test func anErrorIsCuredByAKeyFrame() throws {
    let frames = try stream(3, 64, 64)
    let decoder = try AV1Decoder()
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
    let bytes = try stream(1, 320, 240)[0]
    let decoder = try AV1Decoder(VideoDecoderSettings(maximumPixels: 320 * 239))
    #expect(throws: CodecError.pictureTooLarge(width: 320, height: 240)) {
      try decoder.decode(frame(bytes))
    }
  }

  @Test func truncatedFramesAreFlaggedOrRefused() throws {
    let frames = try stream(2, 320, 240)
    let decoder = try AV1Decoder()
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
    let decoder = try AV1Decoder(VideoDecoderSettings(maximumPixels: 512 * 512))
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
