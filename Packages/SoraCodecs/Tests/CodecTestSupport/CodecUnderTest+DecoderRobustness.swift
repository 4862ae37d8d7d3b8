import SoraCodecs
import SoraMedia
import Testing

extension CodecUnderTest {
  package func interFramesWaitForAKeyFrame() throws {
    let frames = try stream(3, 64, 64)
    let decoder = try decoder()
    #expect(decoder.needsKeyFrame)
    #expect(throws: CodecError.keyFrameRequired) { try decoder.decode(unknownFrame(frames[1])) }
    #expect(try decoder.decode(unknownFrame(frames[0])) != nil)
    #expect(!decoder.needsKeyFrame)
    #expect(try decoder.decode(unknownFrame(frames[1])) != nil)
  }

  package func anErrorIsCuredByAKeyFrame() throws {
    let frames = try stream(3, 64, 64)
    let decoder = try decoder()
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

  package func truncatedFramesAreFlaggedOrRefused() throws {
    let frames = try stream(2, 320, 240)
    let decoder = try decoder()
    _ = try decoder.decode(unknownFrame(frames[0]))
    do throws(CodecError) {
      let decoded = try decoder.decode(
        unknownFrame(Array(frames[1].prefix(frames[1].count / 3))))
      #expect(decoded == nil || decoder.isLastFrameCorrupted)
    } catch {
      #expect(error.isCuredByKeyFrame)
    }
  }

  /// - Parameters:
  ///   - rounds: frames that are tried.
  ///   - headerBytes: at the start of a frame, which get half of the changes: they do most there.
  package func mutatedFramesNeverTrap(rounds: Int = 5_000, headerBytes: Int = 24) throws {
    let random = RandomSource(seed: 0x5EED)
    let frames = try stream(8, 96, 80)
    let damaged = try decoder(VideoDecoderSettings(threads: 1, maximumPixels: 512 * 512))
    var errors = 0
    for round in 0..<rounds {
      var bytes = frames[Int(random.next() % UInt64(frames.count))]
      switch round % 4 {
      case 0: bytes = random.bytes(Int(random.next() % 200))
      case 1: bytes.removeLast(Int(random.next() % UInt64(bytes.count)))
      default:
        for _ in 0...(random.next() % 8) {
          let reach = random.next() & 1 == 0 ? min(bytes.count, headerBytes) : bytes.count
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
    let clean = try decoder()
    for bytes in frames {
      let decoded = try #require(try damaged.decode(unknownFrame(bytes)))
      #expect(!damaged.isLastFrameCorrupted)
      let reference = try #require(try clean.decode(unknownFrame(bytes)))
      #expect(Pictures.bytes(decoded.buffer) == Pictures.bytes(reference.buffer))
    }
  }
}
