import CodecTestSupport
import SoraCodecs
import SoraMedia
import Testing

/// What decoders do with what they can't decode.
@Suite struct DecoderRobustnessTests {
  @Test(arguments: CodecUnderTest.all)
  func interFramesWaitForAKeyFrame(_ codec: CodecUnderTest) throws {
    let frames = try codec.stream(3, 64, 64)
    let decoder = try codec.decoder()
    #expect(decoder.needsKeyFrame)
    #expect(throws: CodecError.keyFrameRequired) { try decoder.decode(unknownFrame(frames[1])) }
    #expect(try decoder.decode(unknownFrame(frames[0])) != nil)
    #expect(!decoder.needsKeyFrame)
    #expect(try decoder.decode(unknownFrame(frames[1])) != nil)
  }

  @Test(arguments: CodecUnderTest.all)
  func anErrorIsCuredByAKeyFrame(_ codec: CodecUnderTest) throws {
    let frames = try codec.stream(3, 64, 64)
    let decoder = try codec.decoder()
    _ = try decoder.decode(unknownFrame(frames[0]))
    for garbage in [[], [0x00], Array(repeating: UInt8(0xFF), count: 40)] as [[UInt8]] {
      do throws(CodecError) {
        _ = try decoder.decode(unknownFrame(garbage))
        Issue.record("decoded \(garbage.count) bytes of garbage")
      } catch {
        #expect(error.isCuredByKeyFrame)
      }
    }
    #expect(decoder.needsKeyFrame)
    #expect(throws: CodecError.keyFrameRequired) { try decoder.decode(unknownFrame(frames[1])) }
    #expect(try decoder.decode(unknownFrame(frames[0])) != nil)
  }

  @Test(arguments: CodecUnderTest.all.filter(\.noticesTruncation))
  func truncatedFramesAreFlaggedOrRefused(_ codec: CodecUnderTest) throws {
    let frames = try codec.stream(2, 320, 240)
    let decoder = try codec.decoder()
    _ = try decoder.decode(unknownFrame(frames[0]))
    do throws(CodecError) {
      let decoded = try decoder.decode(
        unknownFrame(Array(frames[1].prefix(frames[1].count / 3))))
      #expect(decoded == nil || decoder.isLastFrameCorrupted)
    } catch {
      #expect(error.isCuredByKeyFrame)
    }
  }

  @Test(arguments: CodecUnderTest.all.filter { $0.mutations > 0 })
  func mutatedFramesNeverTrap(_ codec: CodecUnderTest) throws {
    let random = RandomSource(seed: 0x5EED)
    let frames = try codec.stream(8, 96, 80)
    let damaged = try codec.decoder(VideoDecoderSettings(threads: 1, maximumPixels: 512 * 512))
    var errors = 0
    for round in 0..<codec.mutations {
      var bytes = frames[Int(random.next() % UInt64(frames.count))]
      switch round % 4 {
      case 0: bytes = random.bytes(Int(random.next() % 200))
      case 1: bytes.removeLast(Int(random.next() % UInt64(bytes.count)))
      default:
        for _ in 0...(random.next() % 8) {
          let reach = random.next() & 1 == 0 ? min(bytes.count, codec.headerBytes) : bytes.count
          bytes[Int(random.next() % UInt64(reach))] = UInt8(truncatingIfNeeded: random.next())
        }
      }
      do {
        _ = try damaged.decode(unknownFrame(bytes))
      } catch {
        errors += 1
        _ = try? damaged.decode(unknownFrame(frames[0]))
      }
    }
    #expect(errors > 0)
    // From a key frame on it is as good as a new one.
    let clean = try codec.decoder()
    for bytes in frames {
      let decoded = try #require(try damaged.decode(unknownFrame(bytes)))
      #expect(!damaged.isLastFrameCorrupted)
      let reference = try #require(try clean.decode(unknownFrame(bytes)))
      #expect(Pictures.bytes(decoded.buffer) == Pictures.bytes(reference.buffer))
    }
  }
}
