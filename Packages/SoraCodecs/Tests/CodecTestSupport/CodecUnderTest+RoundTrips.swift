package import SoraCodecs
package import SoraMedia
import Testing

extension CodecUnderTest {
  package func decodedPicturesLookLikeTheirSources(_ size: PictureSize, _ format: PixelFormat)
    throws
  {
    for padding in size.width > 700 ? [0] : [0, 1, 45] {
      let encoder = try encoder(size.width, size.height, bits: 4_000_000)
      let decoder = try decoder()
      var worst = 99.0
      for index in 0..<6 {
        let source = Pictures.frame(
          size.width, size.height, index: index, format: format, padding: padding)
        let encoded = try #require(
          try encoder.encode(source, forceKeyFrame: false, rtpTimestamp: UInt32(index) * 3_000))
        #expect(encoded.isKeyFrame == (index == 0))
        #expect(encoded.rtpTimestamp == UInt32(index) * 3_000)
        #expect(encoded.width == coded(size.width) && encoded.height == coded(size.height))
        let decoded = try #require(try decoder.decode(encoded))
        #expect(!decoder.isLastFrameCorrupted)
        #expect(decoded.rtpTimestamp == encoded.rtpTimestamp)
        worst = min(worst, psnr(decoded, size.width, size.height, index: index))
      }
      #expect(worst > 30, "\(size) \(format) padding \(padding): \(worst) dB")
    }
  }

  package func picturesSurviveTheirDecoder() throws {
    let encoder = try encoder(VideoEncoderSettings(width: 64, height: 48))
    var kept: [VideoFrame] = []
    var copies: [[UInt8]] = []
    do {
      let decoder = try decoder()
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

  /// - Parameter pictures: how many the library may refer to at a time, with those of our pool.
  package func steadyStateReusesItsMemory(pictures limit: Int) throws {
    let encoder = try encoder(64, 48)
    let decoder = try decoder()
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
    #expect(pictures.count <= limit)
  }

  package func contentHintIsTaken(_ hint: VideoContentHint) throws {
    let encoder = try encoder(320, 180, bits: 1_000_000, hint: hint)
    let decoder = try decoder()
    for index in 0..<6 {
      let frame = try #require(
        try encoder.encode(
          Pictures.frame(320, 180, index: index), forceKeyFrame: false, rtpTimestamp: 0))
      let decoded = try #require(try decoder.decode(frame))
      #expect(psnr(decoded, 320, 180, index: index) > 30)
    }
  }

  /// - Parameter modes: what the encoder is known to make, of which the factory must speak.
  package func theFactoryNamesWhatItMakes(
    _ kind: VideoCodecKind, decoder name: String, profiles: [String], modes: [String]
  ) throws {
    let registry = VideoCodecRegistry([encoding])
    #expect(registry.encodableKinds == [kind] && registry.decodableKinds == [kind])
    #expect(registry.capabilities[0].profiles == profiles)
    for mode in modes {
      let mode = try #require(ScalabilityMode(mode))
      #expect(registry.capabilities[0].scalabilityModes.contains(mode))
    }
    #expect(try registry.makeDecoder(kind).implementationName.hasPrefix(name))
  }
}
