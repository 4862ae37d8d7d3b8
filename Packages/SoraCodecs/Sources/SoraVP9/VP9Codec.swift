public import SoraCodecs

/// VP9 over libvpx: profile 0 (8 bits a sample, 4:2:0).
public struct VP9CodecFactory: VideoCodecFactory {
  public init() {}

  public var capability: VideoCodecCapability {
    VideoCodecCapability(
      kind: .vp9, implementation: "libvpx", profiles: ["0"],
      scalabilityModes: VP9EncoderAdapter.scalabilityModes, canEncode: true, canDecode: true)
  }

  public func makeEncoder(_ settings: VideoEncoderSettings) throws(CodecError)
    -> sending any VideoEncoder
  {
    try EncoderDriver<VP9EncoderAdapter>(settings)
  }

  public func makeDecoder(_ settings: VideoDecoderSettings) throws(CodecError)
    -> sending any VideoDecoder
  {
    try VP9Decoder(settings)
  }
}
