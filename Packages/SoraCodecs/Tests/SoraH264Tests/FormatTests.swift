import CodecTestSupport
import SoraCodecs
import SoraH264
import SoraMedia
import SoraNAL
import SoraWire
import Testing

/// What was negotiated is what the stream is.
@Suite struct FormatTests {
  private func stream(
    _ encoding: Encoding, _ width: Int, _ height: Int, _ parameters: [String: String],
    count: Int = 3, bits: Int = 1_000_000, payload: Int = 1_180
  ) throws -> [EncodedFrame] {
    let encoder = try encoding.make(
      VideoEncoderSettings(
        width: width, height: height, targetBitsPerSecond: bits, allowsFrameDropping: false,
        formatParameters: parameters, maximumPayloadBytes: payload))
    return try (0..<count).map { index in
      try #require(
        try encoder.encode(
          Pictures.frame(width, height, index: index), forceKeyFrame: false, rtpTimestamp: 0))
    }
  }

  /// The sequence parameter set's profile and level, and the picture parameter set's entropy coding.
  private func format(_ frame: EncodedFrame) throws -> (H264ProfileLevelID, isCABAC: Bool) {
    let unit = H264AccessUnit(frame.payload.span)
    let set = try #require(unit.sequenceParameterSet)
    #expect(set.isProgressive && set.chromaFormat == 1 && set.lumaBits == 8)
    var units = AnnexBUnits(frame.payload.span)
    var isCABAC = false
    while let unit = units.nextUnit() {
      if H264NALUnitType(unit.u8(0)) == .pictureParameterSet {
        isCABAC = try H264PictureParameterSet(unit).usesArithmeticCoding
      }
    }
    return (try #require(set.profileLevelID), isCABAC)
  }

  @Test(arguments: Encoding.allCases)
  func streamsHaveTheNegotiatedProfile(_ encoding: Encoding) throws {
    for (text, profile) in [
      ("42e01f", H264Profile.constrainedBaseline), ("42001f", .constrainedBaseline),
      ("4d001f", .main), ("64001f", .high), ("640c1f", .high),
    ] {
      let frames = try stream(
        encoding, 320, 180, ["profile-level-id": text, "packetization-mode": "1"])
      let (made, isCABAC) = try format(frames[0])
      // What is within Constrained High is within High.
      #expect(made.profile == profile || (profile == .high && made.profile == .constrainedHigh))
      #expect(made.level == .level3_1)
      #expect(isCABAC == (profile != .constrainedBaseline))
      for decoding in Decoding.allCases {
        let decoder = try decoding.make()
        for (index, frame) in frames.enumerated() {
          let decoded = try #require(try decoder.decode(frame))
          #expect(
            Pictures.psnr(decoded.buffer, Pictures.make(320, 180, index: index)) > 30, "\(text)")
        }
      }
    }
  }

  @Test(arguments: Encoding.allCases)
  func fullHDNeedsNoProfileSetByHand(_ encoding: Encoding) throws {
    let (made, _) = try format(try stream(encoding, 1_920, 1_080, [:], count: 1)[0])
    #expect(made.profile == .constrainedBaseline && made.level == .level4)
  }

  @Test(arguments: Encoding.allCases)
  func theNegotiatedLevelIsKeptWherePicturesFit(_ encoding: Encoding) throws {
    for (text, width, height, level) in [
      ("42e00d", 320, 240, H264Level.level1_3), ("42e028", 320, 240, .level4),
      // 720p at 30 frames a second is the most of level 3.1.
      ("42e01f", 1_280, 720, .level3_1),
      // They don't fit: the stream says what it is.
      ("42e01f", 1_920, 1_080, .level4), ("42e00a", 320, 240, .level1_3),
    ] {
      let frames = try stream(
        encoding, width, height, ["profile-level-id": text, "packetization-mode": "1"], count: 1)
      #expect(try format(frames[0]).0.level == level, "\(text) \(width)x\(height)")
    }
  }

  @Test func formatsSayWhatTheyExceed() throws {
    func format(_ width: Int, _ height: Int, _ text: String?, bits: Int = 1_000_000) throws
      -> H264EncodingFormat
    {
      try H264EncodingFormat(
        VideoEncoderSettings(
          width: width, height: height, targetBitsPerSecond: bits,
          formatParameters: text.map { ["profile-level-id": $0] } ?? [:],
          maximumPayloadBytes: 1_000),
        profiles: [.constrainedBaseline, .high])
    }
    #expect(try !format(1_280, 720, "42e01f").exceedsNegotiatedLevel)
    #expect(try format(1_920, 1_080, "42e01f").exceedsNegotiatedLevel)
    #expect(try !format(1_920, 1_080, nil).exceedsNegotiatedLevel)
    // Bits are kept within the level: 14 Mbit/s in level 3.1, a quarter more in High.
    let baseline = try format(640, 360, "42e01f", bits: 30_000_000)
    #expect(!baseline.exceedsNegotiatedLevel && baseline.maximumBitsPerSecond == 14_000_000)
    #expect(try format(640, 360, "64001f").maximumBitsPerSecond == 17_500_000)
    #expect(try format(640, 360, nil, bits: 30_000_000).profileLevelID.level == .level4_1)
    // Without packetization-mode, RFC 6184 §8.1 means 0.
    #expect(try format(640, 360, "42e01f").maximumSliceBytes == 1_000)
    #expect(try format(640, 360, nil).maximumSliceBytes == nil)
    #expect(try format(641, 361, nil).width == 640)
  }

  @Test(arguments: Encoding.allCases, ["42e01f", "64001f"])
  func packetizationMode0CutsSlicesToThePayload(_ encoding: Encoding, _ profile: String) throws {
    for payload in [600, 1_180] {
      let frames = try stream(
        encoding, 640, 360, ["profile-level-id": profile, "packetization-mode": "0"], count: 12,
        bits: 4_000_000, payload: payload)
      let units = frames.map { H264AccessUnit($0.payload.span) }
      #expect(units.allSatisfy { $0.longestUnit <= payload }, "\(units.map(\.longestUnit))")
      #expect(units[0].slices >= 2)
      // Slices are used well, not cut into crumbs.
      #expect(units[0].slices < 4 * frames[0].payload.count / payload)
      for decoding in Decoding.allCases {
        let decoder = try decoding.make()
        for (index, frame) in frames.enumerated() {
          let decoded = try #require(try decoder.decode(frame))
          #expect(Pictures.psnr(decoded.buffer, Pictures.make(640, 360, index: index)) > 30)
        }
      }
    }
  }

  @Test(arguments: Encoding.allCases)
  func packetizationMode1MakesOneSlice(_ encoding: Encoding) throws {
    let frames = try stream(
      encoding, 640, 360, ["profile-level-id": "42e01f", "packetization-mode": "1"], count: 6,
      bits: 4_000_000)
    let units = frames.map { H264AccessUnit($0.payload.span) }
    for unit in units { #expect(unit.slices == 1) }
  }

  @Test func theRegistryFindsAnEncoderForEveryMode() throws {
    let registry = VideoCodecRegistry(H264Codec.factories)
    #expect(registry.encodableKinds == [.h264] && registry.decodableKinds == [.h264])
    for mode in [ScalabilityMode.l1t1, .l1t2, .l1t3] {
      let encoder = try registry.makeEncoder(
        .h264, settings: VideoEncoderSettings(width: 320, height: 180, scalabilityMode: mode))
      #if GPL
        let expected = mode == .l1t1 ? "libx264" : "OpenH264"
      #else
        let expected = "OpenH264"
      #endif
      #expect(encoder.implementationName.hasPrefix(expected))
    }
    for capability in registry.capabilities where capability.canEncode {
      #expect(capability.profiles.allSatisfy { H264ProfileLevelID($0) != nil })
    }
  }
}
