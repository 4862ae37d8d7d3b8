import CSoraOpenH264
public import SoraCodecs
import SoraNAL

/// H.264 over OpenH264, which is under a BSD licence.
public struct OpenH264CodecFactory: VideoCodecFactory {
  public init() {}

  public var capability: VideoCodecCapability {
    VideoCodecCapability(
      kind: .h264, implementation: "OpenH264",
      profiles: OpenH264EncoderAdapter.profiles.map {
        H264ProfileLevelID(profile: $0, level: .level5_2).description
      }, scalabilityModes: OpenH264EncoderAdapter.scalabilityModes, canEncode: true, canDecode: true
    )
  }

  public func makeEncoder(_ settings: VideoEncoderSettings) throws(CodecError)
    -> sending any VideoEncoder
  {
    try EncoderDriver<OpenH264EncoderAdapter>(settings)
  }

  public func makeDecoder(_ settings: VideoDecoderSettings) throws(CodecError)
    -> sending any VideoDecoder
  {
    try OpenH264Decoder(settings)
  }
}

/// Loads the library, once, before anything else of it is called.
func load() throws(CodecError) {
  try unsafe loadLibrary("OpenH264") { unsafe sora_openh264_load() }
}

/// OpenH264's name and version, such as "OpenH264 2.3.1".
let libraryName: String = {
  guard (try? load()) != nil else { return "OpenH264" }
  let version = WelsGetCodecVersion()
  return "OpenH264 \(version.uMajor).\(version.uMinor).\(version.uRevision)"
}()

/// The error of a call that failed. The library has numbers only.
func libraryError(_ operation: String, _ code: Int) -> CodecError {
  let detail =
    switch code {
    case 1: "its parameters are invalid"
    case 3: "out of memory"
    case 4: "it isn't initialized"
    case 5: "the data isn't supported"
    default: "unknown reason"
    }
  return .library(name: "OpenH264", operation: operation, code: code, detail: detail)
}
