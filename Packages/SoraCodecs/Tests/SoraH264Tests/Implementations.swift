import CodecTestSupport
import SoraCodecs
import SoraH264
import SoraMedia
import SoraOpenH264
import Testing

#if GPL
  import SoraAVCodec
  import SoraX264
#endif

/// The encoders under test.
enum Encoding: String, Sendable, CaseIterable {
  #if GPL
    case x264
  #endif
  case openH264

  var factory: any VideoCodecFactory {
    switch self {
    #if GPL
      case .x264: X264EncoderFactory()
    #endif
    case .openH264: OpenH264CodecFactory()
    }
  }

  func make(_ settings: VideoEncoderSettings) throws(CodecError) -> any VideoEncoder {
    try factory.makeEncoder(settings)
  }

  /// For the behaviour of encoders alone.
  var codec: CodecUnderTest {
    CodecUnderTest(rawValue, encoding: factory, decoding: OpenH264CodecFactory())
  }

  /// OpenH264 takes nothing that is less than a macroblock.
  func takes(_ size: PictureSize) -> Bool {
    self != .openH264 || min(size.width, size.height) >= 16
  }
}

/// The decoders under test.
enum Decoding: String, Sendable, CaseIterable {
  #if GPL
    case libavcodec
  #endif
  case openH264

  var factory: any VideoCodecFactory {
    switch self {
    #if GPL
      case .libavcodec: AVCodecDecoderFactory(.h264)
    #endif
    case .openH264: OpenH264CodecFactory()
    }
  }

  func make(_ settings: VideoDecoderSettings = VideoDecoderSettings()) throws(CodecError)
    -> any VideoDecoder
  {
    try factory.makeDecoder(settings)
  }

  /// Whether it puts B-frames into their order.
  var takesReordering: Bool { self != .openH264 }
}

/// An encoder with a decoder.
struct Pair: CustomTestStringConvertible, Sendable {
  let encoding: Encoding
  let decoding: Decoding
  var testDescription: String { "\(encoding) to \(decoding)" }

  static let all = Encoding.allCases.flatMap { encoding in
    Decoding.allCases.map { Pair(encoding: encoding, decoding: $0) }
  }
}
