package import SoraCodecs
package import SoraMedia
import Testing

/// A codec's encoder and decoder, for the behaviour that every codec's must have, with what is its own.
package struct CodecUnderTest: CustomTestStringConvertible, Sendable {
  package let name: String
  package let encoding: any VideoCodecFactory
  package let decoding: any VideoCodecFactory

  /// Bits of a sample in its streams.
  package var bitDepth = 8
  /// Whether the encoder makes odd sizes even.
  package var roundsToEven = false
  /// Whether it does so where it makes layers.
  package var roundsLayersToEven = false
  /// Pixels of the smallest side that it takes.
  package var smallestSide = 1
  /// Sizes to try besides `PictureSize.common`.
  package var furtherSizes: [PictureSize] = []
  /// How pictures to encode lie in memory.
  package var formats: [PixelFormat] { bitDepth == 8 ? [.i420, .nv12] : [.i010, .nv12] }
  /// Pictures that the decoder's library may refer to at a time, with those of our pool.
  package var pictures = 8
  /// Parts of the file names of its shared libraries.
  package var libraryFiles: [String] = []
  /// Looks at what a frame's bytes say themselves.
  package var inspect: @Sendable (EncodedFrame) -> Void = { _ in }

  /// Bits per second that the rate is to follow, one after another, with pictures of this size.
  package var rateTargets = [800_000, 300_000, 1_200_000]
  package var rateSize = PictureSize(320, 240)
  /// The same where fewer frames come than announced.
  package var rareTarget = 500_000
  /// Bits per second that are far too few, for how long, and how many bytes may come of it.
  package var tightTarget = 60_000
  package var tightSeconds = 2
  package var tightLimit = Int.max

  /// Whether its decoder notices a frame that ends too early.
  package var noticesTruncation = true
  /// Damaged frames to try, and how many bytes at a frame's start get half of the damage: it does most there.
  package var mutations = 5_000
  package var headerBytes = 24

  package var testDescription: String { name }

  package init(_ name: String, _ factory: any VideoCodecFactory) {
    self.init(name, encoding: factory, decoding: factory)
  }

  package init(
    _ name: String, encoding: any VideoCodecFactory, decoding: any VideoCodecFactory
  ) {
    self.name = name
    self.encoding = encoding
    self.decoding = decoding
  }

  package func encoder(_ settings: VideoEncoderSettings) throws(CodecError) -> any VideoEncoder {
    var settings = settings
    settings.bitDepth = bitDepth
    return try encoding.makeEncoder(settings)
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

  /// The name of the setting that an encoder refuses; "none" where it takes them all.
  package func refusedSetting(_ change: (inout VideoEncoderSettings) -> Void) -> String {
    var settings = VideoEncoderSettings(width: 64, height: 64)
    change(&settings)
    do {
      _ = try encoder(settings)
      return "none"
    } catch {
      guard case .invalidSetting(let name, _, _) = error else { return "\(error)" }
      return name
    }
  }

  /// What an encoder makes of a side.
  package func coded(_ side: Int) -> Int { roundsToEven ? side & ~1 : side }

  /// PSNR of a decoded picture against the moving picture, of which an encoder may have cut the last column or row.
  package func psnr(_ picture: RawVideoFrame, _ width: Int, _ height: Int, index: Int) -> Double {
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
