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
  #if GPL
    case libavcodec
  #endif
  case openH264

  func make(_ settings: VideoDecoderSettings = VideoDecoderSettings()) throws -> any VideoDecoder {
    switch self {
    #if GPL
      case .libavcodec: try AVCodecDecoder(.h264, settings)
    #endif
    case .openH264: try OpenH264Decoder(settings)
    }
  }

  /// Whether it puts B-frames into their order.
  var takesReordering: Bool { self != .openH264 }

  /// Parts of the file names of its shared libraries.
  var libraryFiles: [String] {
    switch self {
    #if GPL
      case .libavcodec: ["libavcodec.so", "libavutil.so"]
    #endif
    case .openH264: ["libopenh264.so"]
    }
  }
}

/// The bytes as a frame that says nothing of itself.
func frame(_ bytes: [UInt8], rtpTimestamp: UInt32 = 0) -> EncodedFrame {
  EncodedFrame(
    payload: EncodedBuffer(bytes), isKeyFrame: false, rtpTimestamp: rtpTimestamp, timestamp: .zero)
}
