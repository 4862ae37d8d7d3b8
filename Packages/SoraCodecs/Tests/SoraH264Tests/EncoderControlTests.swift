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

  @Test(arguments: Pair.all.filter { $0.decoding == .openH264 })
  func rateFollowsItsTargetWithoutRestart(_ pair: Pair) throws {
    try pair.codec.rateFollowsItsTargetWithoutRestart()
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

  @Test(arguments: Pair.all.filter { $0.decoding == .openH264 })
  func targetZeroPausesAndAKeyFrameRequestIsKept(_ pair: Pair) throws {
    try pair.codec.targetZeroPausesAndAKeyFrameRequestIsKept()
  }

  @Test(arguments: Pair.all)
  func sizeChangesWithOneKeyFrameEach(_ pair: Pair) throws {
    try pair.codec.sizeChangesWithOneKeyFrameEach()
  }

  @Test(arguments: Pair.all.filter { $0.decoding == .openH264 })
  func badSettingsAreRefusedByName(_ pair: Pair) {
    pair.codec.badSettingsAreRefusedByName(refused: ScalabilityMode("L2T1"))
  }

  @Test(arguments: Encoding.allCases)
  func formatsThatCannotBeAreRefusedByName(_ encoding: Encoding) {
    func error(_ change: (inout VideoEncoderSettings) -> Void) -> String {
      var settings = VideoEncoderSettings(width: 64, height: 64)
      change(&settings)
      do {
        _ = try encoding.make(settings)
        return "none"
      } catch {
        guard case .invalidSetting(let name, _, _) = error else {
          return "\(error)"
        }
        return name
      }
    }
    // 4:2:0 has no picture of one column.
    #expect(error { $0.width = 1 } == "size")
    #expect(error { $0.formatParameters["profile-level-id"] = "42" } == "profile-level-id")
    #expect(error { $0.formatParameters["profile-level-id"] = "f4001f" } == "profile-level-id")
    #expect(error { $0.formatParameters["packetization-mode"] = "2" } == "packetization-mode")
    #expect(
      error {
        $0.formatParameters["packetization-mode"] = "0"
        $0.maximumPayloadBytes = 50
      } == "maximumPayloadBytes")
  }

  @Test(arguments: Encoding.allCases)
  func aSizeThatCannotBeIsRefusedWithEachFrame(_ encoding: Encoding) throws {
    let encoder = try encoding.make(VideoEncoderSettings(width: 64, height: 64))
    let (width, height) = encoding.takes(PictureSize(8, 8)) ? (1, 8) : (8, 8)
    for index in 0..<3 {
      #expect(throws: CodecError.self) {
        try encoder.encode(
          Pictures.frame(width, height, index: index), forceKeyFrame: false, rtpTimestamp: 0)
      }
    }
    let frame = try encoder.encode(
      Pictures.frame(64, 64, index: 3), forceKeyFrame: false, rtpTimestamp: 0)
    #expect(frame?.isKeyFrame == true)
  }
}
