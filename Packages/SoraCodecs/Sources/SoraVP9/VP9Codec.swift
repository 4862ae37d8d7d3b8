public import SoraCodecs

/// VP9 over libvpx: profiles 0 (8 bits a sample, 4:2:0) and 2 (10 bits).
public struct VP9CodecFactory: VideoCodecFactory {
  public init() {}

  public var capability: VideoCodecCapability {
    VideoCodecCapability(
      kind: .vp9, implementation: "libvpx", profiles: ["0", "2"],
      scalabilityModes: VP9EncoderAdapter.scalabilityModes, canEncode: true, canDecode: true)
  }

  public func makeEncoder(_ settings: VideoEncoderSettings) throws(CodecError)
    -> sending any VideoEncoder
  {
    var settings = settings
    // A profile that was negotiated rules.
    if let profile = settings.formatParameters["profile-id"] {
      switch profile {
      case "0": settings.bitDepth = 8
      case "2": settings.bitDepth = 10
      default: throw .invalidSetting(name: "profile-id", value: profile, allowed: "0, 2")
      }
    }
    return try EncoderDriver<VP9EncoderAdapter>(settings)
  }

  public func makeDecoder(_ settings: VideoDecoderSettings) throws(CodecError)
    -> sending any VideoDecoder
  {
    try VP9Decoder(settings)
  }
}
