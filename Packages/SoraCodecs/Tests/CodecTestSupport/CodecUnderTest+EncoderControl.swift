package import SoraCodecs
package import SoraMedia
import Testing

extension CodecUnderTest {
  /// - Parameter inspect: is given each frame, for what its bytes say themselves.
  package func keyFramesComeOnlyWhenAskedFor(_ inspect: (EncodedFrame) -> Void = { _ in }) throws {
    let encoder = try encoder(160, 120, bits: 1_000_000)
    var keys: [Int] = []
    for index in 0..<60 {
      // A cut in the middle, which an encoder for files would answer with a key frame.
      let picture = Pictures.frame(160, 120, index: index < 30 ? index : index * 37)
      let frame = try #require(
        try encoder.encode(
          picture, forceKeyFrame: index == 17 || index == 40, rtpTimestamp: 0))
      inspect(frame)
      if frame.isKeyFrame { keys.append(index) }
    }
    #expect(keys == [0, 17, 40])
  }

  /// - Parameters:
  ///   - size: of the picture.
  ///   - targets: bits a second, one after another; the encoder starts with the first.
  package func rateFollowsItsTargetWithoutRestart(
    _ size: PictureSize = PictureSize(320, 240), targets: [Int] = [800_000, 300_000, 1_200_000]
  ) throws {
    let random = RandomSource(seed: 7)
    let encoder = try encoder(
      VideoEncoderSettings(
        width: size.width, height: size.height, targetBitsPerSecond: targets[0]))
    var index = 0
    func run(seconds: Int) throws -> (bits: Double, keys: Int) {
      var bytes = 0
      var keys = 0
      for second in 0..<seconds {
        for _ in 0..<30 {
          let frame = try encoder.encode(
            Pictures.noisyFrame(size.width, size.height, index: index, random: random),
            forceKeyFrame: false, rtpTimestamp: 0)
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
    for target in targets {
      encoder.setRates(targetBitsPerSecond: target, framesPerSecond: 30)
      let (bits, keys) = try run(seconds: 4)
      #expect(keys == 0)
      #expect(
        abs(bits - Double(target)) < 0.15 * Double(target), "target \(target), got \(Int(bits))")
    }
  }

  /// Of frames that come more rarely than the settings say.
  package func rateFollowsTheFramesThatCome(
    _ size: PictureSize = PictureSize(320, 240), target: Int
  ) throws {
    let random = RandomSource(seed: 9)
    let encoder = try encoder(
      VideoEncoderSettings(width: size.width, height: size.height, targetBitsPerSecond: target))
    var bytes = 0
    for index in 0..<80 {
      let frame = try encoder.encode(
        Pictures.noisyFrame(size.width, size.height, index: index, random: random, fps: 10),
        forceKeyFrame: false, rtpTimestamp: 0)
      if index >= 40, let frame { bytes += frame.payload.count }
    }
    let bits = Double(bytes) * 8 / 4
    #expect(abs(bits - Double(target)) < 0.2 * Double(target), "got \(Int(bits))")
  }

  /// At a rate that is far too small for the picture.
  ///
  /// - Parameters:
  ///   - target: bits a second.
  ///   - seconds: with more than two, what goes out after those must be within a third of the target, too; the key frame
  ///     alone may be worth more than a second.
  ///   - limit: bytes that all of it may have.
  package func rateControlDropsFramesRatherThanOvershoot(
    target: Int = 60_000, seconds: Int = 2, limit: Int = .max
  ) throws {
    let random = RandomSource(seed: 8)
    let encoder = try encoder(
      VideoEncoderSettings(width: 640, height: 480, targetBitsPerSecond: target))
    var dropped = 0
    var bytes = 0
    var late = 0
    for index in 0..<seconds * 30 {
      let frame = try encoder.encode(
        Pictures.noisyFrame(640, 480, index: index, random: random), forceKeyFrame: false,
        rtpTimestamp: 0)
      if frame == nil { dropped += 1 }
      bytes += frame?.payload.count ?? 0
      if index >= 60 { late += frame?.payload.count ?? 0 }
    }
    #expect(dropped > (seconds > 2 ? 0 : 5))
    #expect(bytes < limit, "\(bytes) bytes")
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

  /// The name of the setting that an encoder refuses; "none" where it takes them all.
  package func refusedSetting(_ change: (inout VideoEncoderSettings) -> Void) -> String {
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

  /// - Parameter refused: a mode that the encoder can't make.
  package func badSettingsAreRefusedByName(refused: ScalabilityMode? = nil) {
    #expect(refusedSetting { $0.width = 0 } == "size")
    #expect(refusedSetting { $0.height = 16_384 } == "size")
    #expect(refusedSetting { $0.framesPerSecond = .nan } == "framesPerSecond")
    #expect(refusedSetting { $0.targetBitsPerSecond = -1 } == "bitsPerSecond")
    if let refused { #expect(refusedSetting { $0.scalabilityMode = refused } == "scalabilityMode") }
  }
}
