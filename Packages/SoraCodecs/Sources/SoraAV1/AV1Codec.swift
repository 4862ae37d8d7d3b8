@_exported public import SoraAV1Decoding
@_exported public import SoraAV1Encoding
public import SoraCodecs

/// AV1, encoded by libaom and decoded by dav1d: main profile (8 or 10 bits a sample, 4:2:0).
///
/// Who needs one direction only imports `SoraAV1Encoding` or `SoraAV1Decoding` and links one library.
public struct AV1CodecFactory: VideoCodecFactory {
  private let encoding = AV1EncoderFactory()
  private let decoding = AV1DecoderFactory()

  public init() {}

  public var capability: VideoCodecCapability {
    var capability = encoding.capability
    capability.implementation = "libaom+dav1d"
    capability.canDecode = true
    return capability
  }

  public func makeEncoder(_ settings: VideoEncoderSettings) throws(CodecError)
    -> sending any VideoEncoder
  {
    try encoding.makeEncoder(settings)
  }

  public func makeDecoder(_ settings: VideoDecoderSettings) throws(CodecError)
    -> sending any VideoDecoder
  {
    try AV1Decoder(settings)
  }
}
