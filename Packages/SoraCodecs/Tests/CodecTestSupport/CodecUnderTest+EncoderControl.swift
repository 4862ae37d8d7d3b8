package import SoraCodecs
import SoraMedia
import Testing

extension CodecUnderTest {
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

  package func keyFramesComeOnlyWhenAskedFor() throws {
    let encoder = try encoder(160, 120, bits: 1_000_000)
    var keys: [Int] = []
    for index in 0..<60 {
      let frame = try encoder.encode(
        Pictures.frame(160, 120, index: index), forceKeyFrame: index == 17 || index == 40,
        rtpTimestamp: 0)
      if frame?.isKeyFrame == true { keys.append(index) }
    }
    #expect(keys == [0, 17, 40])
  }

  package func rateFollowsItsTargetWithoutRestart() throws {
    let random = RandomSource(seed: 7)
    let encoder = try encoder(
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

  /// At a rate that is far too small for the picture.
  ///
  /// - Parameter seconds: with more than two, what goes out after those must be within a third of the target, too; the
  ///   key frame alone may be worth more than a second.
  package func rateControlDropsFramesRatherThanOvershoot(seconds: Int = 2) throws {
    let random = RandomSource(seed: 8)
    let target = 60_000
    let encoder = try encoder(
      VideoEncoderSettings(width: 640, height: 480, targetBitsPerSecond: target))
    var dropped = 0
    var late = 0
    for index in 0..<seconds * 30 {
      let frame = try encoder.encode(
        noisy(640, 480, index: index, random: random), forceKeyFrame: false, rtpTimestamp: 0)
      if frame == nil { dropped += 1 }
      if index >= 60 { late += frame?.payload.count ?? 0 }
    }
    #expect(dropped > (seconds > 2 ? 0 : 5))
    if seconds > 2 {
      let bits = late * 8 / (seconds - 2)
      #expect(bits < target * 4 / 3, "\(bits) bits a second, \(dropped) dropped")
    }
  }

  package func targetZeroPausesAndAKeyFrameRequestIsKept() throws {
    let encoder = try encoder(VideoEncoderSettings(width: 64, height: 64))
    func encode(_ index: Int, force: Bool = false) throws -> EncodedFrame? {
      try encoder.encode(
        Pictures.frame(64, 64, index: index), forceKeyFrame: force, rtpTimestamp: 0)
    }
    #expect(try encode(0) != nil)
    encoder.setRates(targetBitsPerSecond: 0, framesPerSecond: 30)
    #expect(try encode(1, force: true) == nil)
    encoder.setRates(targetBitsPerSecond: 500_000, framesPerSecond: 30)
    #expect(try encode(2)?.isKeyFrame == true)
  }

  package func sizeChangesWithOneKeyFrameEach() throws {
    let encoder = try encoder(320, 180)
    let decoder = try decoder()
    for (width, height) in [(320, 180), (160, 91), (640, 360), (161, 90), (320, 180)] {
      for index in 0..<4 {
        let encoded = try #require(
          try encoder.encode(
            Pictures.frame(width, height, index: index), forceKeyFrame: false, rtpTimestamp: 0))
        #expect(encoded.isKeyFrame == (index == 0))
        let decoded = try #require(try decoder.decode(encoded))
        #expect(decoded.width == coded(width) && decoded.height == coded(height))
        #expect(psnr(decoded, width, height, index: index) > 30)
      }
    }
    #expect(encoder.settings.width == 320)
  }

  package func upperTemporalLayersCanBeDropped(_ mode: ScalabilityMode) throws {
    for highest in 0..<mode.temporalLayers {
      let encoder = try encoder(320, 180, mode: mode)
      let decoder = try decoder()
      var layers: [Int] = []
      for index in 0..<32 {
        let encoded = try #require(
          try encoder.encode(
            Pictures.frame(320, 180, index: index), forceKeyFrame: index == 10, rtpTimestamp: 0))
        layers.append(encoded.temporalLayer)
        guard encoded.temporalLayer <= highest else { continue }
        let decoded = try #require(try decoder.decode(encoded))
        let psnr = psnr(decoded, 320, 180, index: index)
        #expect(psnr > 30, "\(mode) up to layer \(highest), frame \(index): \(psnr) dB")
      }
      #expect(Set(layers) == Set(0..<mode.temporalLayers))
      #expect(layers[10] == 0)
    }
  }

  /// - Parameter refused: a mode that the encoder can't make.
  package func badSettingsAreRefusedByName(refused: ScalabilityMode? = nil) {
    func error(_ change: (inout VideoEncoderSettings) -> Void) -> String {
      var settings = VideoEncoderSettings(width: 64, height: 64)
      change(&settings)
      do {
        _ = try encoder(settings)
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
    if let refused { #expect(error { $0.scalabilityMode = refused } == "scalabilityMode") }
  }
}
