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

  func make(_ settings: VideoEncoderSettings) throws -> any VideoEncoder {
    switch self {
    #if GPL
      case .x264: try X264Encoder(settings)
    #endif
    case .openH264: try OpenH264Encoder(settings)
    }
  }

  /// The part of its shared library's file name.
  var libraryFile: String {
    switch self {
    #if GPL
      case .x264: "libx264.so"
    #endif
    case .openH264: "libopenh264.so"
    }
  }
}

/// The decoders under test.
enum Decoding: String, Sendable, CaseIterable {
  case openH264

  func make(_ settings: VideoDecoderSettings = VideoDecoderSettings()) throws -> any VideoDecoder {
    switch self {
    case .openH264: try OpenH264Decoder(settings)
    }
  }
}

/// The bytes as a frame that says nothing of itself.
func frame(_ bytes: [UInt8], rtpTimestamp: UInt32 = 0) -> EncodedFrame {
  EncodedFrame(
    payload: EncodedBuffer(bytes), isKeyFrame: false, rtpTimestamp: rtpTimestamp, timestamp: .zero)
}
