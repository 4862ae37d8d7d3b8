import CodecTestSupport
import SoraCodecs
import SoraH264
import SoraMedia
import SoraNAL
import Testing

@Suite struct RoundTripTests {
  struct Size: CustomTestStringConvertible, Sendable {
    let width: Int
    let height: Int
    var testDescription: String { "\(width)x\(height)" }
  }

  struct Pair: CustomTestStringConvertible, Sendable {
    let encoding: Encoding
    let decoding: Decoding
    var testDescription: String { "\(encoding) to \(decoding)" }

    static let all = Encoding.allCases.flatMap { encoding in
      Decoding.allCases.map { Pair(encoding: encoding, decoding: $0) }
    }
  }

  static let sizes = [
    Size(width: 16, height: 16), Size(width: 17, height: 19), Size(width: 34, height: 18),
    Size(width: 176, height: 144), Size(width: 321, height: 241), Size(width: 639, height: 359),
    Size(width: 1280, height: 720), Size(width: 1920, height: 1080),
  ]

  /// The top left part of a picture: what is left of an odd size.
  private func even(_ index: Int, _ size: Size) -> PixelBuffer {
    let whole = Pictures.make(size.width, size.height, index: index)
    return PixelBuffer(width: size.width & ~1, height: size.height & ~1) { planes in
      for (number, plane) in planes.enumerated() {
        for y in 0..<plane.height {
          plane.row(y).copyBytes(from: whole.plane(number).row(y).prefix(plane.width))
        }
      }
    }
  }

  @Test(arguments: Pair.all, sizes)
  func decodedPicturesLookLikeTheirSources(_ pair: Pair, _ size: Size) throws {
    for (format, padding) in size.width > 700
      ? [(PixelFormat.i420, 0), (.nv12, 0)]
      : [(.i420, 0), (.i420, 1), (.nv12, 0), (.nv12, 45)] as [(PixelFormat, Int)]
    {
      let encoder = try pair.encoding.make(
        VideoEncoderSettings(
          width: size.width, height: size.height, targetBitsPerSecond: 4_000_000,
          allowsFrameDropping: false))
      let decoder = try pair.decoding.make()
      var worst = 99.0
      for index in 0..<(size.width > 700 ? 3 : 6) {
        let source = Pictures.frame(
          size.width, size.height, index: index, format: format, padding: padding)
        let encoded = try #require(
          try encoder.encode(source, forceKeyFrame: false, rtpTimestamp: UInt32(index) * 3_000))
        #expect(encoded.isKeyFrame == (index == 0))
        #expect(encoded.rtpTimestamp == UInt32(index) * 3_000)
        #expect(encoded.width == size.width & ~1 && encoded.height == size.height & ~1)
        let decoded = try #require(try decoder.decode(encoded))
        #expect(!decoder.isLastFrameCorrupted)
        #expect(decoded.rtpTimestamp == encoded.rtpTimestamp)
        worst = min(worst, Pictures.psnr(decoded.buffer, even(index, size)))
      }
      #expect(worst > 30, "\(pair) \(size) \(format) padding \(padding): \(worst) dB")
    }
  }

  @Test(arguments: Pair.all)
  func picturesSurviveTheirDecoder(_ pair: Pair) throws {
    let encoder = try pair.encoding.make(VideoEncoderSettings(width: 64, height: 48))
    var kept: [VideoFrame] = []
    var copies: [[UInt8]] = []
    do {
      let decoder = try pair.decoding.make()
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

  @Test(arguments: Pair.all)
  func steadyStateReusesItsMemory(_ pair: Pair) throws {
    let encoder = try pair.encoding.make(
      VideoEncoderSettings(width: 64, height: 48, allowsFrameDropping: false))
    let decoder = try pair.decoding.make()
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
    // Pictures may be memory that the library still refers to.
    #expect(pictures.count <= 8)
  }

  @Test(arguments: Encoding.allCases, VideoContentHint.allCases)
  func contentHintsAreTaken(_ encoding: Encoding, _ hint: VideoContentHint) throws {
    let encoder = try encoding.make(
      VideoEncoderSettings(width: 320, height: 180, contentHint: hint, allowsFrameDropping: false))
    let decoder = try Decoding.openH264.make()
    for index in 0..<6 {
      let frame = try #require(
        try encoder.encode(
          Pictures.frame(320, 180, index: index), forceKeyFrame: false, rtpTimestamp: 0))
      let decoded = try #require(try decoder.decode(frame))
      let psnr = Pictures.psnr(decoded.buffer, Pictures.make(320, 180, index: index))
      #expect(psnr > 30, "\(hint), frame \(index): \(psnr) dB")
    }
  }
}
