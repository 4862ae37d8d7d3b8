import SoraAVCodec
import SoraCodecs
import SoraDE265
import SoraMedia
import SoraX265
import Testing

/// The decoders that every test of decoding is run with.
enum Decoder: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case libavcodec
  case libde265

  func make(_ settings: VideoDecoderSettings = VideoDecoderSettings()) throws -> any VideoDecoder {
    switch self {
    case .libavcodec: try AVCodecDecoder(.h265, settings)
    case .libde265: try DE265Decoder(settings)
    }
  }

  var testDescription: String { rawValue }
}

func makeEncoder(
  _ width: Int, _ height: Int, bitsPerSecond: Int = 2_000_000, allowsFrameDropping: Bool = false
) throws -> X265Encoder {
  try X265Encoder(
    VideoEncoderSettings(
      width: width, height: height, targetBitsPerSecond: bitsPerSecond,
      allowsFrameDropping: allowsFrameDropping))
}
