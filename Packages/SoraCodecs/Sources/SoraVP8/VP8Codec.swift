import CVPX
public import SoraCodecs

/// VP8 over libvpx.
public struct VP8CodecFactory: VideoCodecFactory {
  public init() {}

  public var capability: VideoCodecCapability {
    VideoCodecCapability(
      kind: .vp8, implementation: "libvpx", scalabilityModes: VP8Encoder.scalabilityModes,
      canEncode: true, canDecode: true)
  }

  public func makeEncoder(_ settings: VideoEncoderSettings) throws(CodecError)
    -> sending any VideoEncoder
  {
    try VP8Encoder(settings)
  }

  public func makeDecoder(_ settings: VideoDecoderSettings) throws(CodecError)
    -> sending any VideoDecoder
  {
    try VP8Decoder(settings)
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
