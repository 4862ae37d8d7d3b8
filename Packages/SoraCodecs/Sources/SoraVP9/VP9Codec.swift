import CVPX
public import SoraCodecs

/// VP9 over libvpx: profile 0 (8 bits a sample, 4:2:0).
public struct VP9CodecFactory: VideoCodecFactory {
  public init() {}

  public var capability: VideoCodecCapability {
    VideoCodecCapability(
      kind: .vp9, implementation: "libvpx", profiles: ["0"],
      scalabilityModes: VP9Encoder.scalabilityModes, canEncode: true, canDecode: true)
  }

  public func makeEncoder(_ settings: VideoEncoderSettings) throws(CodecError)
    -> sending any VideoEncoder
  {
    try VP9Encoder(settings)
  }

  public func makeDecoder(_ settings: VideoDecoderSettings) throws(CodecError)
    -> sending any VideoDecoder
  {
    try VP9Decoder(settings)
  }
}

/// libvpx's name and version, such as "libvpx 1.12.0".
let libraryName = "libvpx \(String(cString: vpx_codec_version_str()).drop { !$0.isNumber })"

/// The error of a libvpx call that failed, with the library's own words.
func libraryError(
  _ operation: String, _ code: vpx_codec_err_t,
  _ context: UnsafeMutablePointer<vpx_codec_ctx_t>? = nil
) -> CodecError {
  .library(
    name: "libvpx", operation: operation, code: Int(code.rawValue),
    detail: errorText(code, context))
}

/// What libvpx says about the last failure: its general text, and the detail where it left one.
func errorText(_ code: vpx_codec_err_t, _ context: UnsafeMutablePointer<vpx_codec_ctx_t>?) -> String
{
  let text = String(cString: vpx_codec_err_to_string(code))
  guard let context, let detail = vpx_codec_error_detail(context) else { return text }
  return "\(text): \(String(cString: detail))"
}
