import CodecTestSupport
import SoraCodecs
import SoraH265
import SoraMedia
import SoraNAL
import Testing

@Suite struct RoundTripTests {
  struct Size: CustomTestStringConvertible, Sendable {
    let width: Int
    let height: Int
    var testDescription: String { "\(width)x\(height)" }
  }

  static let sizes = [
    Size(width: 16, height: 16), Size(width: 17, height: 19), Size(width: 18, height: 200),
    Size(width: 33, height: 31), Size(width: 176, height: 144), Size(width: 321, height: 241),
    Size(width: 639, height: 359), Size(width: 1280, height: 720),
    Size(width: 1920, height: 1080),
  ]

  /// What is left of a picture whose sides are rounded down to even numbers.
  private func cropped(_ width: Int, _ height: Int, index: Int) -> PixelBuffer {
    let whole = Pictures.make(width, height, index: index)
    return PixelBuffer(width: width & ~1, height: height & ~1) { planes in
      for (number, plane) in planes.enumerated() {
        for y in 0..<plane.height {
          plane.row(y).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: whole.plane(number).row(y)[..<plane.width]))
        }
      }
    }
  }

  @Test(arguments: sizes, Decoder.allCases)
  func decodedPicturesLookLikeTheirSources(_ size: Size, _ implementation: Decoder) throws {
    let (width, height) = (size.width & ~1, size.height & ~1)
    for (format, padding) in [(PixelFormat.i420, 0), (.nv12, 0), (.i420, 45), (.nv12, 1)]
    where width < 700 || padding == 0 {
      let encoder = try makeEncoder(size.width, size.height, bitsPerSecond: 4_000_000)
      let decoder = try implementation.make()
      var worst = 99.0
      for index in 0..<(width < 700 ? 5 : 3) {
        let source = Pictures.frame(
          size.width, size.height, index: index, format: format, padding: padding)
        let encoded = try #require(
          try encoder.encode(
            source, forceKeyFrame: false, rtpTimestamp: UInt32(index) * 3_000))
        #expect(encoded.isKeyFrame == (index == 0))
        #expect(H265StreamInspector.isKeyFrame(encoded.payload.bytes) == (index == 0))
        #expect(encoded.rtpTimestamp == UInt32(index) * 3_000)
        #expect(encoded.width == width && encoded.height == height)
        let decoded = try #require(try decoder.decode(encoded))
        #expect(!decoder.isLastFrameCorrupted)
        #expect(decoded.rtpTimestamp == encoded.rtpTimestamp)
        #expect(decoded.timestamp == source.timestamp)
        let reference = cropped(size.width, size.height, index: index)
        worst = min(worst, Pictures.psnr(decoded.buffer, reference))
      }
      #expect(worst > 30, "\(size) \(format) padding \(padding): \(worst) dB")
    }
  }

  @Test(arguments: Decoder.allCases)
  func picturesSurviveTheirDecoder(_ implementation: Decoder) throws {
    let encoder = try makeEncoder(64, 48)
    var kept: [VideoFrame] = []
    var copies: [[UInt8]] = []
    do {
      let decoder = try implementation.make()
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

  @Test(arguments: Decoder.allCases)
  func steadyStateReusesItsMemory(_ implementation: Decoder) throws {
    let encoder = try makeEncoder(64, 48)
    let decoder = try implementation.make()
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
    #expect(pictures.count <= 8)
  }
}
