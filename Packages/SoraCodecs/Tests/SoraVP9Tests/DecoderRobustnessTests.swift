import CodecTestSupport
import SoraCodecs
import SoraMedia
import SoraVP9
import Testing

@Suite struct DecoderRobustnessTests {
  private func stream(_ count: Int, _ width: Int, _ height: Int) throws -> [[UInt8]] {
    let encoder = try VP9Encoder(
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
    let decoder = try VP9Decoder()
    #expect(decoder.needsKeyFrame)
    #expect(throws: CodecError.keyFrameRequired) { try decoder.decode(frame(frames[1])) }
    #expect(try decoder.decode(frame(frames[0])) != nil)
    #expect(!decoder.needsKeyFrame)
    #expect(try decoder.decode(frame(frames[1])) != nil)
  }

  @Test func anErrorIsCuredByAKeyFrame() throws {
    let frames = try stream(3, 64, 64)
    let decoder = try VP9Decoder()
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
    // Width and height follow the sync code and a nibble of colour information.
    bytes[4] |= 0x0F
    for index in 5..<8 { bytes[index] = 0xFF }
    bytes[8] |= 0xF0
    let decoder = try VP9Decoder()
    #expect(throws: CodecError.pictureTooLarge(width: 65_536, height: 65_536)) {
      try decoder.decode(frame(bytes))
    }
  }

  @Test func otherProfilesAreRefusedByName() throws {
    let decoder = try VP9Decoder()
    // Frame marker 2, then the profile's low and high bit: 10 0 1 is profile 2.
    for (first, profile) in [(0b1001_0010, 2), (0b1010_0010, 1), (0b1011_0011, 3)] {
      #expect(
        throws: CodecError.unsupportedProfile(kind: .vp9, profile: "profile \(profile)")
      ) {
        try decoder.decode(frame([UInt8(first), 0x49, 0x83, 0x42] + Array(repeating: 0, count: 8)))
      }
    }
  }

  @Test func truncatedFramesAreFlaggedOrRefused() throws {
    let frames = try stream(2, 320, 240)
    let decoder = try VP9Decoder()
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
    let decoder = try VP9Decoder(VideoDecoderSettings(maximumPixels: 512 * 512))
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
