import Dispatch
import SoraCapture
import SoraCodecs
import SoraMedia
import Synchronization
import Testing
import WebRTC

/// Streams of real encoders, damaged on the way to the real decoders behind the pipeline.
@Suite(.timeLimit(.minutes(5))) struct DamagedStreamTests {
  enum Damage: String, CaseIterable, Sendable { case truncated, zeroed, noise, missing }

  struct Case: Sendable, CustomTestStringConvertible {
    var kind: VideoCodecKind
    var damage: Damage
    var testDescription: String { "\(kind), \(damage.rawValue)" }
  }

  static let cases = RTCPeerConnectionFactory().videoCodecs.encodableKinds.flatMap { kind in
    Damage.allCases.map { Case(kind: kind, damage: $0) }
  }

  @Test(arguments: cases) func aKeyFrameEndsTheDamage(_ test: Case) throws {
    let registry = RTCPeerConnectionFactory().videoCodecs
    let pattern = TestPattern(width: 160, height: 96)
    let encoder = try registry.makeEncoder(
      test.kind,
      settings: VideoEncoderSettings(
        width: 160, height: 96, targetBitsPerSecond: 400_000, allowsFrameDropping: false))
    let clock = ManualClock()
    let queue = DispatchQueue(label: "test.decode")
    let requests = Mutex(0)
    let shown = Mutex<[(index: UInt32, psnr: Double)]>([])
    let kind = test.kind
    let pipeline = VideoReceivePipeline(
      queue: queue, now: { clock.now },
      makeDecoder: { () throws(CodecError) in try registry.makeDecoder(kind) },
      needsKeyFrame: { requests.withLock { $0 += 1 } },
      output: { picture in
        let index = picture.rtpTimestamp
        let drawn = pattern.frame(index: index, milliseconds: 0)
        let psnr = PictureQuality.psnr(drawn, picture.buffer) ?? 0
        shown.withLock { $0.append((index, psnr)) }
      })
    defer { pipeline.stop() }
    let damaged: ClosedRange<UInt32> = 10...14
    var answered = false
    for index in 0..<60 as Range<UInt32> {
      // The sender answers requests, half a second late.
      let force = requests.withLock { $0 > 0 } && !answered && index >= 30
      answered = answered || force
      let made = try encoder.encode(
        RawVideoFrame(
          buffer: pattern.frame(index: index, milliseconds: 0),
          timestamp: Instant(nanoseconds: Int64(index) * 33_333_333)),
        forceKeyFrame: force, rtpTimestamp: index)
      var frame = try #require(made)
      if damaged.contains(index) {
        if test.damage == .missing { continue }
        frame.payload = Self.damage(frame.payload, test.damage, seed: index)
      }
      pipeline.decode(frame)
      queue.sync {}
      clock.advance(.milliseconds(33))
    }
    let pictures = shown.withLock { $0 }
    #expect(pictures.prefix { $0.index < 10 }.count == 10)
    let statistics = pipeline.statistics
    if answered {
      // After the answer everything is shown again, and right.
      let after = pictures.filter { $0.index >= 30 }
      #expect(after.count == 30, "\(after.count)")
      #expect(after.allSatisfy { $0.psnr > 25 }, "\(after.map(\.psnr).min() ?? 0) dB")
      // One request, and repeats a fifth of a second apart while no answer came.
      #expect(statistics.keyFrameRequests <= 5)
    } else {
      // A decoder that takes damage for pictures says nothing: then it has to show all that came.
      #expect(pictures.count + Int(statistics.framesDropped + statistics.decodeErrors) >= 55)
    }
  }

  private static func damage(_ payload: EncodedBuffer, _ damage: Damage, seed: UInt32)
    -> EncodedBuffer
  {
    var bytes = Array(payload.bytes)
    switch damage {
    case .truncated: bytes.removeLast(bytes.count / 2)
    case .zeroed: for index in bytes.indices.dropFirst(4) { bytes[index] = 0 }
    case .noise:
      var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
      for index in bytes.indices {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        bytes[index] = UInt8(truncatingIfNeeded: state)
      }
    case .missing: break
    }
    return EncodedBuffer(bytes)
  }
}
