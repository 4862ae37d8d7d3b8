import CodecTestSupport
import SoraCodecs
import SoraMedia
import SoraNAL
import Testing

@Suite struct EncoderControlTests {
  /// Noise over the moving picture, so that rate control has something to do.
  private func noisy(
    _ width: Int, _ height: Int, index: Int, random: RandomSource, fps: Int = 30
  ) -> VideoFrame {
    let buffer = PixelBuffer(width: width, height: height) { planes in
      for (number, plane) in planes.enumerated() {
        for y in 0..<plane.height {
          let row = plane.row(y)
          for x in 0..<plane.width {
            let noise = number == 0 ? UInt8(truncatingIfNeeded: random.next() & 31) : 0
            row[x] = (number == 0 ? Pictures.luma(x, y, index) / 2 : 120) &+ noise
          }
        }
      }
    }
    return VideoFrame(
      buffer: buffer,
      timestamp: Instant(nanoseconds: Int64(index) * 1_000_000_000 / Int64(fps)))
  }

  @Test(arguments: Encoding.allCases)
  func keyFramesComeOnlyWhenAskedFor(_ encoding: Encoding) throws {
    let encoder = try encoding.make(
      VideoEncoderSettings(width: 160, height: 120, allowsFrameDropping: false))
    var keys: [Int] = []
    for index in 0..<90 {
      // The picture is another one altogether from the 60th on.
      let source = Pictures.frame(160, 120, index: index < 60 ? index : index * 1_000)
      let frame = try #require(
        try encoder.encode(
          source, forceKeyFrame: index == 17 || index == 40, rtpTimestamp: 0))
      let unit = H264AccessUnit(frame.payload.bytes)
      #expect(unit.isKeyFrame == frame.isKeyFrame)
      // Whoever enters at a key frame finds what it needs to decode it.
      #expect(unit.hasParameterSets == frame.isKeyFrame)
      if frame.isKeyFrame { keys.append(index) }
    }
    #expect(keys == [0, 17, 40])
  }

  @Test(arguments: Encoding.allCases)
  func rateFollowsItsTargetWithoutRestart(_ encoding: Encoding) throws {
    let random = RandomSource(seed: 7)
    let encoder = try encoding.make(
      VideoEncoderSettings(width: 320, height: 240, targetBitsPerSecond: 800_000))
    var index = 0
    func run(seconds: Int) throws -> (bits: Double, keys: Int) {
      var bytes = 0
      var keys = 0
      for second in 0..<seconds {
        for _ in 0..<30 {
          let frame = try encoder.encode(
            noisy(320, 240, index: index, random: random), forceKeyFrame: false, rtpTimestamp: 0)
          index += 1
          if second > 0, let frame {
            bytes += frame.payload.count
            if frame.isKeyFrame { keys += 1 }
          }
        }
      }
      return (Double(bytes) * 8 / Double(seconds - 1), keys)
    }
    _ = try run(seconds: 2)
    for target in [800_000, 300_000, 1_200_000] {
      encoder.setRates(targetBitsPerSecond: target, framesPerSecond: 30)
      let (bits, keys) = try run(seconds: 4)
      #expect(keys == 0)
      #expect(
        abs(bits - Double(target)) < 0.15 * Double(target), "target \(target), got \(Int(bits))")
    }
  }

  @Test(arguments: Encoding.allCases)
  func rateFollowsTheFramesThatCome(_ encoding: Encoding) throws {
    let random = RandomSource(seed: 9)
    let encoder = try encoding.make(
      VideoEncoderSettings(width: 320, height: 240, targetBitsPerSecond: 500_000))
    var bytes = 0
    // The settings say 30 frames a second, and 10 come.
    for index in 0..<80 {
      let frame = try encoder.encode(
        noisy(320, 240, index: index, random: random, fps: 10), forceKeyFrame: false,
        rtpTimestamp: 0)
      if index >= 40, let frame { bytes += frame.payload.count }
    }
    let bits = Double(bytes) * 8 / 4
    #expect(abs(bits - 500_000) < 100_000, "got \(Int(bits))")
  }

  @Test(arguments: Encoding.allCases)
  func rateControlDropsFramesRatherThanOvershoot(_ encoding: Encoding) throws {
    let random = RandomSource(seed: 8)
    let encoder = try encoding.make(
      VideoEncoderSettings(width: 640, height: 480, targetBitsPerSecond: 20_000))
    var dropped = 0
    var bytes = 0
    for index in 0..<60 {
      let frame = try encoder.encode(
        noisy(640, 480, index: index, random: random), forceKeyFrame: false, rtpTimestamp: 0)
      if frame == nil { dropped += 1 }
      bytes += frame?.payload.count ?? 0
    }
    #expect(dropped > 5)
    // Two seconds, and a key frame.
    #expect(bytes * 8 < 100_000, "\(bytes) bytes")
  }

  @Test(arguments: Encoding.allCases)
  func targetZeroPausesAndAKeyFrameRequestIsKept(_ encoding: Encoding) throws {
    let encoder = try encoding.make(VideoEncoderSettings(width: 64, height: 64))
    #expect(
      try encoder.encode(Pictures.frame(64, 64, index: 0), forceKeyFrame: false, rtpTimestamp: 0)
        != nil)
    encoder.setRates(targetBitsPerSecond: 0, framesPerSecond: 30)
    #expect(
      try encoder.encode(Pictures.frame(64, 64, index: 1), forceKeyFrame: true, rtpTimestamp: 0)
        == nil)
    encoder.setRates(targetBitsPerSecond: 500_000, framesPerSecond: 30)
    let frame = try encoder.encode(
      Pictures.frame(64, 64, index: 2), forceKeyFrame: false, rtpTimestamp: 0)
    #expect(frame?.isKeyFrame == true)
  }

  @Test(arguments: RoundTripTests.Pair.all)
  func sizeChangesWithOneKeyFrameEach(_ pair: RoundTripTests.Pair) throws {
    let encoder = try pair.encoding.make(
      VideoEncoderSettings(
        width: 320, height: 180, targetBitsPerSecond: 2_000_000, allowsFrameDropping: false))
    let decoder = try pair.decoding.make()
    for (width, height) in [(320, 180), (160, 92), (640, 360), (162, 90), (320, 180)] {
      for index in 0..<4 {
        let encoded = try #require(
          try encoder.encode(
            Pictures.frame(width, height, index: index), forceKeyFrame: false, rtpTimestamp: 0))
        #expect(encoded.isKeyFrame == (index == 0))
        let decoded = try #require(try decoder.decode(encoded))
        #expect(decoded.width == width && decoded.height == height)
        #expect(!decoder.isLastFrameCorrupted)
        let psnr = Pictures.psnr(decoded.buffer, Pictures.make(width, height, index: index))
        #expect(psnr > 30, "\(width)x\(height), \(index): \(psnr) dB")
      }
    }
    #expect(encoder.settings.width == 320)
  }

  @Test(arguments: Encoding.allCases)
  func badSettingsAreRefusedByName(_ encoding: Encoding) {
    func error(_ change: (inout VideoEncoderSettings) -> Void) -> String {
      var settings = VideoEncoderSettings(width: 64, height: 64)
      change(&settings)
      do {
        _ = try encoding.make(settings)
        return "none"
      } catch {
        guard case .invalidSetting(let name, _, _)? = error as? CodecError else {
          return "\(error)"
        }
        return name
      }
    }
    #expect(error { $0.width = 0 } == "size")
    #expect(error { $0.height = 16_384 } == "size")
    // 4:2:0 has no picture of one column.
    #expect(error { $0.width = 1 } == "size")
    #expect(error { $0.framesPerSecond = .nan } == "framesPerSecond")
    #expect(error { $0.targetBitsPerSecond = -1 } == "bitsPerSecond")
    #expect(error { $0.formatParameters["profile-level-id"] = "42" } == "profile-level-id")
    #expect(error { $0.formatParameters["profile-level-id"] = "f4001f" } == "profile-level-id")
    #expect(error { $0.formatParameters["packetization-mode"] = "2" } == "packetization-mode")
    #expect(error { $0.scalabilityMode = ScalabilityMode("L2T1")! } == "scalabilityMode")
    #expect(
      error {
        $0.formatParameters["packetization-mode"] = "0"
        $0.maximumPayloadBytes = 50
      } == "maximumPayloadBytes")
  }
}
