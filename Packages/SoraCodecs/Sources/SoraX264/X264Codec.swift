import CSoraX264
public import SoraCodecs
import SoraNAL

/// H.264 encoding over libx264, which is under the GPL.
public struct X264EncoderFactory: VideoCodecFactory {
  public init() {}

  public var capability: VideoCodecCapability {
    VideoCodecCapability(
      kind: .h264, implementation: "libx264",
      profiles: X264EncoderAdapter.profiles.map {
        H264ProfileLevelID(profile: $0, level: .level5_2).description
      }, scalabilityModes: X264EncoderAdapter.scalabilityModes, canEncode: true, canDecode: false)
  }

  public func makeEncoder(_ settings: VideoEncoderSettings) throws(CodecError)
    -> sending any VideoEncoder
  {
    try EncoderDriver<X264EncoderAdapter>(settings)
  }

  /// Throws `CodecError.noImplementation`: the library only encodes.
  public func makeDecoder(_ settings: VideoDecoderSettings) throws(CodecError)
    -> sending any VideoDecoder
  {
    throw .noImplementation(kind: .h264, encoding: false)
  }
}

/// Loads the library, once, before anything else of it is called.
func load() throws(CodecError) { try unsafe loadLibrary("libx264") { unsafe sora_x264_load() } }

/// libx264's name and interface number, such as "libx264 164".
let libraryName = "libx264 \(X264_BUILD)"
