public import SoraCodecs
@_exported public import SoraOpenH264

#if GPL
  @_exported public import SoraAVCodec
  @_exported public import SoraX264
#endif

/// H.264 with the libraries that the package's traits allow.
public enum H264Codec {
  /// What encodes and decodes H.264, in order of preference.
  public static var factories: [any VideoCodecFactory] {
    #if GPL
      [X264EncoderFactory(), AVCodecDecoderFactory(.h264), OpenH264CodecFactory()]
    #else
      [OpenH264CodecFactory()]
    #endif
  }
}
