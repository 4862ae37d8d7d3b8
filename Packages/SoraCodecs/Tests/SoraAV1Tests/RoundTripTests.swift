import CodecTestSupport
import SoraAV1
import SoraAV1Decoding
import SoraAV1Encoding
import SoraCodecs
import SoraMedia
import Testing

@Suite struct RoundTripTests {
  struct Size: CustomTestStringConvertible, Sendable {
    let width: Int
    let height: Int
    var testDescription: String { "\(width)x\(height)" }
  }

  static let sizes = [
    Size(width: 16, height: 16), Size(width: 17, height: 19), Size(width: 1, height: 1),
    Size(width: 33, height: 2), Size(width: 176, height: 144), Size(width: 321, height: 241),
    Size(width: 639, height: 359), Size(width: 1280, height: 720),
    Size(width: 1920, height: 1080),
  ]

  @Test(arguments: sizes, [PixelFormat.i420, .nv12])
  func decodedPicturesLookLikeTheirSources(_ size: Size, _ format: PixelFormat) throws {
    for padding in size.width > 700 ? [0] : [0, 1, 45] {
      let encoder = try AV1Encoder(
        VideoEncoderSettings(
          width: size.width, height: size.height, targetBitsPerSecond: 4_000_000,
          allowsFrameDropping: false))
      let decoder = try AV1Decoder()
      var worst = 99.0
      for index in 0..<6 {
        let source = Pictures.frame(
          size.width, size.height, index: index, format: format, padding: padding)
        let encoded = try #require(
          try encoder.encode(
            source, forceKeyFrame: false, rtpTimestamp: UInt32(index) * 3_000))
        #expect(encoded.isKeyFrame == (index == 0))
        #expect(encoded.rtpTimestamp == UInt32(index) * 3_000)
        #expect(encoded.width == size.width && encoded.height == size.height)
        let decoded = try #require(try decoder.decode(encoded))
        #expect(!decoder.isLastFrameCorrupted)
        #expect(decoded.rtpTimestamp == encoded.rtpTimestamp)
        let reference = Pictures.make(size.width, size.height, index: index)
        worst = min(worst, Pictures.psnr(decoded.buffer, reference))
      }
      #expect(worst > 30, "\(size) \(format) padding \(padding): \(worst) dB")
    }
  }

  @Test func picturesSurviveTheirDecoder() throws {
    let encoder = try AV1Encoder(VideoEncoderSettings(width: 64, height: 48))
    var kept: [VideoFrame] = []
    var copies: [[UInt8]] = []
    do {
      let decoder = try AV1Decoder()
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

  @Test func steadyStateReusesItsMemory() throws {
    let encoder = try AV1Encoder(
      VideoEncoderSettings(width: 64, height: 48, allowsFrameDropping: false))
    let decoder = try AV1Decoder()
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
    // Pictures are memory that the library still refers to.
    #expect(pictures.count <= 12)
  }
}

@Suite struct CapabilityTests {
  @Test func theFactoryNamesWhatItMakes() throws {
    let registry = VideoCodecRegistry([AV1CodecFactory()])
    #expect(registry.encodableKinds == [.av1] && registry.decodableKinds == [.av1])
    #expect(registry.capabilities[0].profiles == ["0"])
    for mode in ["L1T1", "L1T3", "L2T3_KEY", "L3T3_KEY", "S2T1", "S3T3"] {
      let mode = try #require(ScalabilityMode(mode))
      #expect(registry.capabilities[0].scalabilityModes.contains(mode))
    }
    #expect(try registry.makeDecoder(.av1).implementationName.hasPrefix("dav1d "))
  }

  @Test(arguments: VideoContentHint.allCases)
  func contentHintsAreTaken(_ hint: VideoContentHint) throws {
    let encoder = try AV1Encoder(
      VideoEncoderSettings(
        width: 320, height: 180, contentHint: hint, allowsFrameDropping: false))
    let decoder = try AV1Decoder()
    for index in 0..<6 {
      let frame = try #require(
        try encoder.encode(
          Pictures.frame(320, 180, index: index), forceKeyFrame: false, rtpTimestamp: 0))
      let decoded = try #require(try decoder.decode(frame))
      #expect(Pictures.psnr(decoded.buffer, Pictures.make(320, 180, index: index)) > 30)
    }
  }
}
