import CodecTestSupport
import SoraCodecs
import SoraMedia
import Testing

/// Key frames, rates, sizes and settings, which the driver rules for all encoders alike.
@Suite struct EncoderControlTests {
  @Test(arguments: CodecUnderTest.encoders)
  func keyFramesComeOnlyWhenAskedFor(_ codec: CodecUnderTest) throws {
    let encoder = try codec.encoder(160, 120, bits: 1_000_000)
    var keys: [Int] = []
    for index in 0..<60 {
      // A cut in the middle, which an encoder for files would answer with a key frame.
      let picture = Pictures.frame(160, 120, index: index < 30 ? index : index * 37)
      let frame = try #require(
        try encoder.encode(
          picture, forceKeyFrame: index == 17 || index == 40, rtpTimestamp: 0))
      codec.inspect(frame)
      if frame.isKeyFrame { keys.append(index) }
    }
    #expect(keys == [0, 17, 40])
  }

  @Test(arguments: CodecUnderTest.encoders)
  func rateFollowsItsTargetWithoutRestart(_ codec: CodecUnderTest) throws {
    let size = codec.rateSize
    let targets = codec.rateTargets
    let random = RandomSource(seed: 7)
    let encoder = try codec.encoder(
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
  @Test(arguments: CodecUnderTest.encoders)
  func rateFollowsTheFramesThatCome(_ codec: CodecUnderTest) throws {
    let size = codec.rateSize
    let target = codec.rareTarget
    let random = RandomSource(seed: 9)
    let encoder = try codec.encoder(
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

  /// At a rate that is far too small for the picture. With more than two seconds, what goes out after those must be within
  /// a third of the target, too; the key frame alone may be worth more than one.
  @Test(arguments: CodecUnderTest.encoders)
  func rateControlDropsFramesRatherThanOvershoot(_ codec: CodecUnderTest) throws {
    let (target, seconds, limit) = (codec.tightTarget, codec.tightSeconds, codec.tightLimit)
    let random = RandomSource(seed: 8)
    let encoder = try codec.encoder(
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

  @Test(arguments: CodecUnderTest.encoders)
  func targetZeroPausesAndAKeyFrameRequestIsKept(_ codec: CodecUnderTest) throws {
    let encoder = try codec.encoder(VideoEncoderSettings(width: 64, height: 64))
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

  @Test(arguments: CodecUnderTest.all)
  func sizeChangesWithOneKeyFrameEach(_ codec: CodecUnderTest) throws {
    let encoder = try codec.encoder(320, 180)
    let decoder = try codec.decoder()
    for (width, height) in [(320, 180), (160, 91), (640, 360), (161, 90), (320, 180)] {
      for index in 0..<4 {
        let encoded = try #require(
          try encoder.encode(
            Pictures.frame(width, height, index: index), forceKeyFrame: false, rtpTimestamp: 0))
        #expect(encoded.isKeyFrame == (index == 0))
        let decoded = try #require(try decoder.decode(encoded))
        #expect(decoded.width == codec.coded(width) && decoded.height == codec.coded(height))
        #expect(codec.psnr(decoded, width, height, index: index) > 30)
      }
    }
    #expect(encoder.settings.width == 320)
  }

  @Test(arguments: CodecUnderTest.encoders)
  func badSettingsAreRefusedByName(_ codec: CodecUnderTest) {
    let error = codec.refusedSetting
    #expect(error { $0.width = 0 } == "size")
    #expect(error { $0.height = 16_384 } == "size")
    #expect(error { $0.framesPerSecond = .nan } == "framesPerSecond")
    #expect(error { $0.targetBitsPerSecond = -1 } == "bitsPerSecond")
    for mode in ["L1T2", "L1T3", "L2T1", "L3T3_KEY", "S3T3"].compactMap({ ScalabilityMode($0) }) {
      let isMade = codec.encoding.capability.scalabilityModes.contains(mode)
      #expect(error { $0.scalabilityMode = mode } == (isMade ? "none" : "scalabilityMode"))
    }
  }
}
