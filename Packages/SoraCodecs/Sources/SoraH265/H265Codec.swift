public import SoraCodecs
@_exported public import SoraDE265

#if GPL
  @_exported public import SoraAVCodec
  @_exported public import SoraX265
#endif

/// H.265 with the libraries that the package's traits allow.
public enum H265Codec {
  /// What encodes and decodes H.265, in order of preference.
  public static var factories: [any VideoCodecFactory] {
    #if GPL
      [X265EncoderFactory(), AVCodecDecoderFactory(.h265), DE265DecoderFactory()]
    #else
      [DE265DecoderFactory()]
    #endif
  }
}
