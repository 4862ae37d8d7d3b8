package import SoraCodecs
package import SoraMedia
import Testing

/// A codec's encoder and decoder, for the behaviour that every codec's must have. Each codec's test target calls these
/// functions, with what is its own: how it rounds odd sizes, and how many pictures its library keeps.
package struct CodecUnderTest: Sendable {
  package let encoding: any VideoCodecFactory
  package let decoding: any VideoCodecFactory
  /// Bits of a size that the encoder drops: 1 where it makes odd sizes even.
  package let roundedBits: Int

  package init(_ factory: any VideoCodecFactory) {
    self.init(encoding: factory, decoding: factory)
  }

  package init(
    encoding: any VideoCodecFactory, decoding: any VideoCodecFactory, roundsToEven: Bool = false
  ) {
    self.encoding = encoding
    self.decoding = decoding
    roundedBits = roundsToEven ? 1 : 0
  }

  package func encoder(_ settings: VideoEncoderSettings) throws(CodecError) -> any VideoEncoder {
    try encoding.makeEncoder(settings)
  }

  package func decoder(_ settings: VideoDecoderSettings = VideoDecoderSettings())
    throws(CodecError) -> any VideoDecoder
  {
    try decoding.makeDecoder(settings)
  }

  /// An encoder that drops nothing.
  package func encoder(
    _ width: Int, _ height: Int, bits: Int = 2_000_000, hint: VideoContentHint = .motion,
    mode: ScalabilityMode = .l1t1
  ) throws(CodecError) -> any VideoEncoder {
    try encoder(
      VideoEncoderSettings(
        width: width, height: height, targetBitsPerSecond: bits, contentHint: hint,
        scalabilityMode: mode, allowsFrameDropping: false))
  }

  /// The moving picture, encoded.
  package func stream(_ count: Int, _ width: Int, _ height: Int) throws -> [[UInt8]] {
    let encoder = try encoder(width, height, bits: 1_000_000)
    return try (0..<count).compactMap { index in
      try encoder.encode(
        Pictures.frame(width, height, index: index), forceKeyFrame: false, rtpTimestamp: 0
      ).map { Array($0.payload.bytes) }
    }
  }

  /// What an encoder makes of a side.
  func coded(_ side: Int) -> Int { side & ~roundedBits }

  /// PSNR of a decoded picture against the moving picture, of which an encoder may have cut the last column or row.
  func psnr(_ picture: VideoFrame, _ width: Int, _ height: Int, index: Int) -> Double {
    Pictures.psnr(picture.buffer, Pictures.make(coded(width), coded(height), index: index))
  }
}

/// Bytes as a frame that says nothing of itself.
package func unknownFrame(_ bytes: [UInt8]) -> EncodedFrame {
  EncodedFrame(
    payload: EncodedBuffer(bytes), isKeyFrame: false, rtpTimestamp: 0, timestamp: .zero)
}

/// A picture's size, which names itself in a test's report.
package struct PictureSize: CustomTestStringConvertible, Sendable {
  package let width: Int
  package let height: Int
  package var testDescription: String { "\(width)x\(height)" }

  package init(_ width: Int, _ height: Int) {
    self.width = width
    self.height = height
  }

  /// From one pixel to 720p, even and odd.
  package static let common = [
    PictureSize(16, 16), PictureSize(17, 19), PictureSize(1, 1), PictureSize(33, 2),
    PictureSize(176, 144), PictureSize(321, 241), PictureSize(639, 359), PictureSize(1280, 720),
  ]
}
