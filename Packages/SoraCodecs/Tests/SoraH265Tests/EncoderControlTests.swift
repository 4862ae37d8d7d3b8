import CodecTestSupport
import SoraAVCodec
import SoraCodecs
import SoraMedia
import SoraNAL
import SoraX265
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

  @Test func keyFramesComeOnlyWhenAskedFor() throws {
    let encoder = try makeEncoder(160, 120)
    var keys: [Int] = []
    for index in 0..<60 {
      // A cut in the middle, which an encoder for files would answer with a key frame.
      let picture = Pictures.frame(160, 120, index: index < 30 ? index : index * 37)
      let encoded = try #require(
        try encoder.encode(
          picture, forceKeyFrame: index == 17 || index == 40, rtpTimestamp: 0))
      #expect(encoded.isKeyFrame == H265StreamInspector.isKeyFrame(encoded.payload.bytes))
      if encoded.isKeyFrame { keys.append(index) }
    }
    #expect(keys == [0, 17, 40])
  }

  @Test func everyKeyFrameBringsItsParameterSets() throws {
    let encoder = try makeEncoder(160, 120)
    for index in 0..<6 {
      let encoded = try #require(
        try encoder.encode(
          Pictures.frame(160, 120, index: index), forceKeyFrame: index % 2 == 0, rtpTimestamp: 0))
      var types: [UInt8] = []
      for unit in NALUnitIterator(encoded.payload.bytes) {
        types.append(try #require(H265NALUnitHeader(unit)).type.rawValue)
      }
      #expect(types == (index % 2 == 0 ? [32, 33, 34, 20] : [1]))
    }
  }

  @Test func rateFollowsItsTargetWithoutRestart() throws {
    let random = RandomSource(seed: 7)
    let encoder = try X265Encoder(
      VideoEncoderSettings(width: 240, height: 180, targetBitsPerSecond: 500_000))
    var index = 0
    func run(seconds: Int) throws -> (bits: Double, keys: Int) {
      var bytes = 0
      var keys = 0
      for second in 0..<seconds {
        for _ in 0..<30 {
          let frame = try encoder.encode(
            noisy(240, 180, index: index, random: random), forceKeyFrame: false, rtpTimestamp: 0)
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
    for target in [500_000, 200_000, 900_000] {
      encoder.setRates(targetBitsPerSecond: target, framesPerSecond: 30)
      let (bits, keys) = try run(seconds: 4)
      #expect(keys == 0)
      #expect(
        abs(bits - Double(target)) < 0.15 * Double(target), "target \(target), got \(Int(bits))")
    }
  }

  @Test func rateHoldsWhenFramesComeAtAnotherRate() throws {
    let random = RandomSource(seed: 9)
    let encoder = try X265Encoder(
      VideoEncoderSettings(width: 240, height: 180, targetBitsPerSecond: 400_000))
    encoder.setRates(targetBitsPerSecond: 400_000, framesPerSecond: 10)
    var bytes = 0
    for index in 0..<60 {
      let frame = try encoder.encode(
        noisy(240, 180, index: index, random: random, fps: 10), forceKeyFrame: false,
        rtpTimestamp: 0)
      if index >= 20, let frame {
        #expect(!frame.isKeyFrame)
        bytes += frame.payload.count
      }
    }
    let bits = Double(bytes) * 8 / 4
    #expect(abs(bits - 400_000) < 60_000, "\(bits)")
  }

  @Test func framesAreDroppedRatherThanOvershoot() throws {
    let random = RandomSource(seed: 8)
    let encoder = try X265Encoder(
      VideoEncoderSettings(width: 640, height: 480, targetBitsPerSecond: 3_000))
    var dropped = 0
    for index in 0..<30 {
      let frame = try encoder.encode(
        noisy(640, 480, index: index, random: random), forceKeyFrame: false, rtpTimestamp: 0)
      if frame == nil { dropped += 1 }
    }
    #expect(dropped > 5)
  }

  @Test func targetZeroPausesAndAKeyFrameRequestIsKept() throws {
    let encoder = try X265Encoder(VideoEncoderSettings(width: 64, height: 64))
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
    let encoder = try makeEncoder(320, 180)
    for implementation in Decoder.allCases {
      let decoder = try implementation.make()
      for (width, height) in [(320, 180), (160, 90), (640, 360), (16, 16), (162, 90), (320, 180)] {
        for index in 0..<3 {
          let encoded = try #require(
            try encoder.encode(
              Pictures.frame(width, height, index: index),
              forceKeyFrame: index == 0 && width == 320, rtpTimestamp: 0))
          #expect(encoded.isKeyFrame == (index == 0))
          let decoded = try #require(try decoder.decode(encoded))
          #expect(decoded.width == width && decoded.height == height)
          #expect(!decoder.isLastFrameCorrupted)
          let reference = Pictures.make(width, height, index: index)
          #expect(Pictures.psnr(decoded.buffer, reference) > 30)
        }
      }
    }
    #expect(encoder.settings.width == 320)
  }

  @Test func badSettingsAreRefusedByName() {
    func error(_ change: (inout VideoEncoderSettings) -> Void) -> String {
      var settings = VideoEncoderSettings(width: 64, height: 64)
      change(&settings)
      do {
        _ = try X265Encoder(settings)
        return "none"
      } catch {
        guard case .invalidSetting(let name, _, _) = error else { return "\(error)" }
        return name
      }
    }
    #expect(error { $0.width = 0 } == "size")
    #expect(error { $0.height = 15 } == "size")
    #expect(error { $0.width = 16_384 } == "size")
    #expect(error { $0.framesPerSecond = .nan } == "framesPerSecond")
    #expect(error { $0.targetBitsPerSecond = -1 } == "bitsPerSecond")
    #expect(error { $0.scalabilityMode = .l1t2 } == "scalabilityMode")
    #expect(error { $0.formatParameters = ["profile-id": "2"] } == "profile-id")
    #expect(error { $0.formatParameters = ["level-id": "x"] } == "formatParameters")
    #expect(error { $0.formatParameters = ["profile-id": "1"] } == "none")
  }

  @Test(
    arguments: [
      // Size, format parameters, and the level that the stream must say.
      (320, 180, [:], 93), (1280, 720, [:], 93), (1920, 1080, [:], 120),
      (320, 180, ["level-id": "60"], 60), (1280, 720, ["level-id": "120"], 120),
      (1280, 720, ["level-id": "60"], 93), (320, 180, ["level-id": "156", "tier-flag": "1"], 156),
    ] as [(Int, Int, [String: String], UInt8)])
  func theStreamSaysItsLevel(
    _ width: Int, _ height: Int, _ parameters: [String: String], _ level: UInt8
  ) throws {
    let encoder = try X265Encoder(
      VideoEncoderSettings(width: width, height: height, formatParameters: parameters))
    let encoded = try #require(
      try encoder.encode(
        Pictures.frame(width, height, index: 0), forceKeyFrame: false, rtpTimestamp: 0))
    var found: H265SequenceParameterSet?
    for unit in NALUnitIterator(encoded.payload.bytes)
    where H265NALUnitHeader(unit)?.type == .sequenceParameterSet {
      found = try H265SequenceParameterSet(unit)
    }
    let set = try #require(found)
    #expect(set.profileTierLevel.levelID == level && !set.profileTierLevel.isHighTier)
    #expect(set.profileTierLevel.profile == 1 && set.profileTierLevel.isMainCompatible)
    #expect(set.width == width && set.height == height && set.maximumReorderedPictures == 0)
  }

  @Test(arguments: VideoContentHint.allCases)
  func contentHintsAreTaken(_ hint: VideoContentHint) throws {
    let encoder = try X265Encoder(
      VideoEncoderSettings(
        width: 320, height: 180, contentHint: hint, allowsFrameDropping: false))
    let decoder = try AVCodecDecoder(.h265)
    for index in 0..<6 {
      let frame = try #require(
        try encoder.encode(
          Pictures.frame(320, 180, index: index), forceKeyFrame: false, rtpTimestamp: 0))
      let decoded = try #require(try decoder.decode(frame))
      #expect(Pictures.psnr(decoded.buffer, Pictures.make(320, 180, index: index)) > 30)
    }
  }
}
