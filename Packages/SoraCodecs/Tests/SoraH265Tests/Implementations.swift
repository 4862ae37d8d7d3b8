import CodecTestSupport
import SoraAVCodec
import SoraCodecs
import SoraDE265
import SoraMedia
import SoraX265
import Testing

/// For the behaviour of the encoder alone.
let x265 = Decoder.libavcodec.codec

/// The decoders that every test of decoding is run with.
enum Decoder: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case libavcodec
  case libde265

  var factory: any VideoCodecFactory {
    switch self {
    case .libavcodec: AVCodecDecoderFactory(.h265)
    case .libde265: DE265DecoderFactory()
    }
  }

  func make(_ settings: VideoDecoderSettings = VideoDecoderSettings()) throws -> any VideoDecoder {
    try factory.makeDecoder(settings)
  }

  /// For the behaviour that every codec's must have.
  var codec: CodecUnderTest {
    var codec = CodecUnderTest(rawValue, encoding: X265EncoderFactory(), decoding: factory)
    codec.roundsToEven = true
    return codec
  }

  var testDescription: String { rawValue }
}
