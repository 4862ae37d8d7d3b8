import CodecTestSupport
import SoraAV1
import SoraAV1Decoding
import SoraAV1Encoding
import SoraCodecs
import SoraMedia
import Testing

@Suite struct EncoderControlTests {
  /// Noise over the moving picture, so that rate control has something to do.
  private func noisy(_ width: Int, _ height: Int, index: Int, random: RandomSource) -> VideoFrame {
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
      buffer: buffer, timestamp: Instant(nanoseconds: Int64(index) * 1_000_000_000 / 30))
  }

  @Test func keyFramesComeOnlyWhenAskedFor() throws {
    let encoder = try AV1Encoder(
      VideoEncoderSettings(width: 160, height: 120, allowsFrameDropping: false))
    var keys: [Int] = []
    for index in 0..<60 {
      let frame = try encoder.encode(
        Pictures.frame(160, 120, index: index), forceKeyFrame: index == 17 || index == 40,
        rtpTimestamp: 0)
      if frame?.isKeyFrame == true { keys.append(index) }
    }
    #expect(keys == [0, 17, 40])
  }

  @Test func rateFollowsItsTargetWithoutRestart() throws {
    let random = RandomSource(seed: 7)
    let encoder = try AV1Encoder(
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

  @Test func rateControlDropsFramesRatherThanOvershoot() throws {
    let random = RandomSource(seed: 8)
    let encoder = try AV1Encoder(
      VideoEncoderSettings(width: 640, height: 480, targetBitsPerSecond: 60_000))
    var dropped = 0
    var bytes = 0
    for index in 0..<240 {
      let frame = try encoder.encode(
        noisy(640, 480, index: index, random: random), forceKeyFrame: false, rtpTimestamp: 0)
      // The key frame alone is more than a second's worth.
      if index >= 120 { bytes += frame?.payload.count ?? 0 }
      if frame == nil { dropped += 1 }
    }
    #expect(dropped > 0)
    #expect(bytes * 8 / 4 < 60_000 * 13 / 10, "\(bytes * 8 / 4) bits a second, \(dropped) dropped")
  }

  @Test func targetZeroPausesAndAKeyFrameRequestIsKept() throws {
    let encoder = try AV1Encoder(VideoEncoderSettings(width: 64, height: 64))
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

  @Test func sizeChangesWithOneKeyFrameEach() throws {
    let encoder = try AV1Encoder(
      VideoEncoderSettings(
        width: 320, height: 180, targetBitsPerSecond: 2_000_000, allowsFrameDropping: false))
    let decoder = try AV1Decoder()
    for (width, height) in [(320, 180), (160, 91), (640, 360), (161, 90), (320, 180)] {
      for index in 0..<4 {
        let encoded = try #require(
          try encoder.encode(
            Pictures.frame(width, height, index: index), forceKeyFrame: false, rtpTimestamp: 0))
        #expect(encoded.isKeyFrame == (index == 0))
        let decoded = try #require(try decoder.decode(encoded))
        #expect(decoded.width == width && decoded.height == height)
        let reference = Pictures.make(width, height, index: index)
        #expect(Pictures.psnr(decoded.buffer, reference) > 30)
      }
    }
    #expect(encoder.settings.width == 320)
  }

  @Test(arguments: [ScalabilityMode.l1t2, .l1t3])
  func upperTemporalLayersCanBeDropped(_ mode: ScalabilityMode) throws {
    for highest in 0..<mode.temporalLayers {
      let encoder = try AV1Encoder(
        VideoEncoderSettings(
          width: 320, height: 180, targetBitsPerSecond: 2_000_000, scalabilityMode: mode,
          allowsFrameDropping: false))
      let decoder = try AV1Decoder()
      var layers: [Int] = []
      for index in 0..<32 {
        let encoded = try #require(
          try encoder.encode(
            Pictures.frame(320, 180, index: index), forceKeyFrame: index == 10, rtpTimestamp: 0))
        layers.append(encoded.temporalLayer)
        guard encoded.temporalLayer <= highest else { continue }
        let decoded = try #require(try decoder.decode(encoded))
        let reference = Pictures.make(320, 180, index: index)
        let psnr = Pictures.psnr(decoded.buffer, reference)
        #expect(psnr > 30, "\(mode) up to layer \(highest), frame \(index): \(psnr) dB")
      }
      #expect(Set(layers) == Set(0..<mode.temporalLayers))
      #expect(layers[10] == 0)
    }
  }

  @Test func badSettingsAreRefusedByName() {
    func error(_ change: (inout VideoEncoderSettings) -> Void) -> String {
      var settings = VideoEncoderSettings(width: 64, height: 64)
      change(&settings)
      do {
        _ = try AV1Encoder(settings)
        return "none"
      } catch {
        guard case .invalidSetting(let name, _, _) = error else { return "\(error)" }
        return name
      }
    }
    #expect(error { $0.width = 0 } == "size")
    #expect(error { $0.height = 16_384 } == "size")
    #expect(error { $0.framesPerSecond = .nan } == "framesPerSecond")
    #expect(error { $0.targetBitsPerSecond = -1 } == "bitsPerSecond")
  }
}
