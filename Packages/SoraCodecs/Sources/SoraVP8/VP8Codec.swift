public import SoraCodecs

/// VP8 over libvpx.
public struct VP8CodecFactory: VideoCodecFactory {
  public init() {}

  public var capability: VideoCodecCapability {
    VideoCodecCapability(
      kind: .vp8, implementation: "libvpx", scalabilityModes: VP8EncoderAdapter.scalabilityModes,
      canEncode: true, canDecode: true)
  }

  public func makeEncoder(_ settings: VideoEncoderSettings) throws(CodecError)
    -> sending any VideoEncoder
  {
    try EncoderDriver<VP8EncoderAdapter>(settings)
  }

  public func makeDecoder(_ settings: VideoDecoderSettings) throws(CodecError)
    -> sending any VideoDecoder
  {
    try VP8Decoder(settings)
  }
}
