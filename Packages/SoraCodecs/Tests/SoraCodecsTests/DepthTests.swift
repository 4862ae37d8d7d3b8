import CodecTestSupport
import SoraCodecs
import SoraMedia
import SoraVP9
import Testing

/// 10 bits a sample: that they arrive, and what becomes of pictures and streams of different depths.
@Suite struct DepthTests {
  private static let field = 32
  /// Luma of neighbouring fields, in steps that 8 bits don't have.
  private static let levels: [UInt16] = [401, 402, 403, 405, 406, 407, 409, 410]

  private func fields() -> PixelBuffer {
    PixelBuffer(width: Self.field * Self.levels.count, height: 64, format: .i010) { planes in
      for (index, plane) in planes.enumerated() {
        for y in 0..<plane.height {
          let row = plane.row(y).bindMemory(to: UInt16.self)
          for x in row.indices { row[x] = index == 0 ? Self.levels[x / Self.field] : 514 }
        }
      }
    }
  }

  @Test(arguments: CodecUnderTest.deep)
  func stepsThatEightBitsDontHaveArrive(_ codec: CodecUnderTest) throws {
    let source = fields()
    let encoder = try codec.encoder(source.width, source.height, bits: 8_000_000)
    let decoder = try codec.decoder()
    var shown: PixelBuffer?
    for index in 0..<8 {
      let frame = RawVideoFrame(
        buffer: source, timestamp: Instant(nanoseconds: Int64(index) * 33_333_333))
      let encoded = try #require(
        try encoder.encode(frame, forceKeyFrame: false, rtpTimestamp: 0))
      shown = try #require(try decoder.decode(encoded)).buffer
    }
    let picture = try #require(shown)
    #expect(picture.format == .i010)
    let row = picture.plane(0).row(32).bindMemory(to: UInt16.self)
    let seen = Self.levels.indices.map { Int(row[$0 * Self.field + Self.field / 2]) }
    for (a, b) in zip(seen, Self.levels) { #expect(abs(a - Int(b)) <= 1, "\(seen)") }
    #expect(Set(seen).count > 4, "\(seen)")
    let chroma = picture.plane(1).row(16).bindMemory(to: UInt16.self)
    #expect(abs(Int(chroma[20]) - 514) <= 1)
  }

  @Test(arguments: CodecUnderTest.encoders)
  func streamsOfEightBitsTakeDeepPictures(_ codec: CodecUnderTest) throws {
    let encoder = try codec.encoder(320, 180, bits: 2_000_000)
    let decoder = try codec.decoder()
    for index in 0..<4 {
      let source = Pictures.frame(320, 180, index: index, format: .i010)
      let encoded = try #require(
        try encoder.encode(source, forceKeyFrame: false, rtpTimestamp: 0))
      let decoded = try #require(try decoder.decode(encoded))
      #expect(decoded.buffer.format.bitDepth == 8)
      #expect(codec.psnr(decoded, 320, 180, index: index) > 30)
    }
  }

  @Test(arguments: CodecUnderTest.encoders)
  func whoHasOnlyEightBitsRefusesTen(_ codec: CodecUnderTest) {
    let hasTen = codec.encoding.capability.kind == .vp9 || codec.encoding.capability.kind == .av1
    var settings = VideoEncoderSettings(width: 64, height: 64)
    for (depth, isTaken) in [(8, true), (10, hasTen), (9, false), (12, false)] {
      settings.bitDepth = depth
      let encoder = try? codec.encoding.makeEncoder(settings)
      #expect((encoder != nil) == isTaken, "\(depth)")
    }
  }

  @Test func deepAV1HasNoSpatialLayers() throws {
    for mode in ["L2T3_KEY", "L3T1", "S2T1"] {
      let mode = try #require(ScalabilityMode(mode))
      let refused = CodecUnderTest.av1.refusedSetting { $0.scalabilityMode = mode }
      #expect(refused == "none")
      #expect(
        CodecUnderTest.deepAV1.refusedSetting { $0.scalabilityMode = mode } == "scalabilityMode")
    }
  }

  /// RFC 9628 §6: what was negotiated decides.
  @Test func theNegotiatedProfileOfVP9Rules() throws {
    var settings = VideoEncoderSettings(width: 64, height: 64, allowsFrameDropping: false)
    for (profile, asked) in [("0", 10), ("2", 8), ("2", 10), ("0", 8)] {
      settings.formatParameters = ["profile-id": profile]
      settings.bitDepth = asked
      let encoder = try VP9CodecFactory().makeEncoder(settings)
      let frame = try #require(
        try encoder.encode(
          Pictures.frame(64, 64, index: 0), forceKeyFrame: false, rtpTimestamp: 0))
      let bytes = Array(frame.payload.bytes)
      let read = VP9FrameHeader(bytes.span)
      let header = try #require(read)
      #expect(header.profile == Int(profile))
      #expect(header.bitDepth == (profile == "2" ? 10 : 8))
      #expect(header.width == 64 && header.height == 64)
    }
    settings.formatParameters = ["profile-id": "1"]
    #expect(throws: CodecError.self) { try VP9CodecFactory().makeEncoder(settings) }
  }

  /// A decoder goes from one depth to the other at a key frame, as when a publisher changes.
  @Test(arguments: [[CodecUnderTest.vp9, .deepVP9], [CodecUnderTest.av1, .deepAV1]])
  func aDecoderFollowsTheStreamsDepth(_ codecs: [CodecUnderTest]) throws {
    let decoder = try codecs[0].decoder()
    for codec in [codecs[0], codecs[1], codecs[0], codecs[1]] {
      for (index, bytes) in try codec.stream(4, 96, 80).enumerated() {
        let decoded = try #require(try decoder.decode(unknownFrame(bytes)))
        #expect(decoded.buffer.format.bitDepth == codec.bitDepth)
        #expect(codec.psnr(decoded, 96, 80, index: index) > 30)
      }
    }
  }
}
