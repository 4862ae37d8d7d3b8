import CodecTestSupport
import SoraCodecs
import SoraMedia
import Testing

/// A size and a format for a codec.
struct RoundTripCase: CustomTestStringConvertible, Sendable {
  let codec: CodecUnderTest
  let size: PictureSize
  let format: PixelFormat
  var testDescription: String { "\(codec.name), \(size.testDescription) \(format)" }

  static let all = CodecUnderTest.all.flatMap { codec in
    (PictureSize.common + [PictureSize(1_920, 1_080)] + codec.furtherSizes).flatMap { size in
      codec.formats.map { RoundTripCase(codec: codec, size: size, format: $0) }
    }
  }
}

@Suite struct RoundTripTests {
  @Test(arguments: RoundTripCase.all)
  func decodedPicturesLookLikeTheirSources(_ test: RoundTripCase) throws {
    let (codec, size, format) = (test.codec, test.size, test.format)
    guard min(size.width, size.height) >= codec.smallestSide else {
      let refused = codec.refusedSetting {
        $0.width = size.width
        $0.height = size.height
      }
      #expect(refused == "size")
      return
    }
    for padding in size.width > 700 || format == .i010 ? [0] : [0, 1, 45] {
      let encoder = try codec.encoder(size.width, size.height, bits: 4_000_000)
      let decoder = try codec.decoder()
      var worst = 99.0
      for index in 0..<6 {
        let source = Pictures.frame(
          size.width, size.height, index: index, format: format, padding: padding)
        let encoded = try #require(
          try encoder.encode(source, forceKeyFrame: false, rtpTimestamp: UInt32(index) * 3_000))
        #expect(encoded.isKeyFrame == (index == 0))
        #expect(encoded.rtpTimestamp == UInt32(index) * 3_000)
        #expect(
          encoded.width == codec.coded(size.width) && encoded.height == codec.coded(size.height))
        let decoded = try #require(try decoder.decode(encoded))
        #expect(!decoder.isLastFrameCorrupted)
        #expect(decoded.rtpTimestamp == encoded.rtpTimestamp)
        worst = min(worst, codec.psnr(decoded, size.width, size.height, index: index))
      }
      #expect(worst > 30, "\(size) \(format) padding \(padding): \(worst) dB")
    }
  }

  @Test(arguments: CodecUnderTest.all)
  func picturesSurviveTheirDecoder(_ codec: CodecUnderTest) throws {
    let encoder = try codec.encoder(VideoEncoderSettings(width: 64, height: 48))
    var kept: [RawVideoFrame] = []
    var copies: [[UInt8]] = []
    do {
      let decoder = try codec.decoder()
      for index in 0..<24 {
        let encoded = try encoder.encode(
          Pictures.frame(64, 48, index: index), forceKeyFrame: false, rtpTimestamp: 0)
        guard let encoded, let decoded = try decoder.decode(encoded) else { continue }
        kept.append(decoded)
        copies.append(Pictures.bytes(decoded.buffer))
      }
    }
    #expect(kept.count > 16)
    for (frame, copy) in zip(kept, copies) { #expect(Pictures.bytes(frame.buffer) == copy) }
  }

  @Test(arguments: CodecUnderTest.all)
  func steadyStateReusesItsMemory(_ codec: CodecUnderTest) throws {
    let encoder = try codec.encoder(64, 48)
    let decoder = try codec.decoder()
    var buffers = Set<ObjectIdentifier>()
    var pictures = Set<ObjectIdentifier>()
    for index in 0..<50 {
      let encoded = try #require(
        try encoder.encode(
          Pictures.frame(64, 48, index: index), forceKeyFrame: false, rtpTimestamp: 0))
      let decoded = try #require(try decoder.decode(encoded))
      buffers.insert(ObjectIdentifier(encoded.payload))
      pictures.insert(ObjectIdentifier(decoded.buffer))
    }
    #expect(buffers.count <= 2)
    #expect(pictures.count <= codec.pictures)
  }

  @Test(arguments: CodecUnderTest.all, VideoContentHint.allCases)
  func contentHintsAreTaken(_ codec: CodecUnderTest, _ hint: VideoContentHint) throws {
    let encoder = try codec.encoder(320, 180, bits: 1_000_000, hint: hint)
    let decoder = try codec.decoder()
    for index in 0..<6 {
      let frame = try #require(
        try encoder.encode(
          Pictures.frame(320, 180, index: index), forceKeyFrame: false, rtpTimestamp: 0))
      let decoded = try #require(try decoder.decode(frame))
      #expect(codec.psnr(decoded, 320, 180, index: index) > 30)
    }
  }

  @Test(
    arguments: [
      (.vp8, "libvpx 1.", [], ["L1T1", "L1T2", "L1T3"]),
      (.vp9, "libvpx 1.", ["0", "2"], ["L1T1", "L1T3", "L2T3_KEY", "L3T3_KEY", "S2T1", "S3T3"]),
      (.av1, "dav1d ", ["0"], ["L1T1", "L1T3", "L2T3_KEY", "L3T3_KEY", "S2T1", "S3T3"]),
    ] as [(CodecUnderTest, String, [String], [String])])
  func theFactoryNamesWhatItMakes(
    _ codec: CodecUnderTest, decoder name: String, profiles: [String], modes: [String]
  ) throws {
    let registry = VideoCodecRegistry([codec.encoding])
    let kind = codec.encoding.capability.kind
    #expect(registry.encodableKinds == [kind] && registry.decodableKinds == [kind])
    #expect(registry.capabilities[0].profiles == profiles)
    for mode in modes {
      let mode = try #require(ScalabilityMode(mode))
      #expect(registry.capabilities[0].scalabilityModes.contains(mode))
    }
    #expect(try registry.makeDecoder(kind).implementationName.hasPrefix(name))
  }

  @Test(arguments: CodecUnderTest.all)
  func encodersAndDecodersSayWhatTheyAre(_ codec: CodecUnderTest) throws {
    let capability = codec.encoding.capability
    let encoder = try codec.encoder(64, 64)
    #expect(encoder.kind == capability.kind && capability.canEncode)
    #expect(encoder.implementationName.contains { $0.isNumber })
    #expect(try codec.decoder().kind == capability.kind)
    #expect(capability.scalabilityModes.first == .l1t1)
  }
}
