package import CSoraVPX
package import SoraCodecs

/// Which of libvpx's codecs.
package enum VPXCodec {
  case vp8
  case vp9

  /// Tokens that an encoder of the library takes memory for (`vp8_alloc_compressor_data`; `get_token_alloc` of VP9): for each macroblock
  /// 16 for each of 24 blocks in VP8, and in VP9 one for each sample of three full planes and four.
  package func tokenCount(width: Int, height: Int) -> Int {
    let macroblocks = ((width + 15) / 16) * ((height + 15) / 16)
    return macroblocks * (self == .vp8 ? 24 * 16 : 3 * 16 * 16 + 4)
  }
}

/// What VP8 and VP9 share of libvpx, for encoders and decoders.
package enum VPXLibrary {
  /// Its name and version, such as "libvpx 1.12.0".
  package static let name: String = {
    guard (try? load()) != nil else { return "libvpx" }
    let version = unsafe String(cString: vpx_codec_version_str())
    return "libvpx \(version.drop { !$0.isNumber })"
  }()

  /// Loads the library, once, before anything else of it is called.
  package static func load() throws(CodecError) {
    try unsafe loadLibrary("libvpx") { unsafe sora_vpx_load() }
  }

  /// The error of a call that failed, with the library's own words.
  package static func error(
    _ operation: String, _ code: vpx_codec_err_t,
    _ context: UnsafeMutablePointer<vpx_codec_ctx_t>? = nil
  ) -> CodecError {
    unsafe .library(
      name: "libvpx", operation: operation, code: Int(code.rawValue),
      detail: errorText(code, context))
  }

  /// What it says about the last failure: its general text, and the detail where it left one.
  package static func errorText(
    _ code: vpx_codec_err_t, _ context: UnsafeMutablePointer<vpx_codec_ctx_t>?
  ) -> String {
    let text = unsafe String(cString: vpx_codec_err_to_string(code))
    guard let context = unsafe context, let detail = unsafe vpx_codec_error_detail(context) else {
      return text
    }
    return unsafe "\(text): \(String(cString: detail))"
  }
}
