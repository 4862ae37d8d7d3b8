import CAOM
import CSoraAOM
public import SoraCodecs

/// AV1 encoding over libaom: main profile (8 or 10 bits a sample, 4:2:0).
public struct AV1EncoderFactory: VideoCodecFactory {
  public init() {}

  public var capability: VideoCodecCapability {
    VideoCodecCapability(
      kind: .av1, implementation: "libaom", profiles: ["0"],
      scalabilityModes: AV1EncoderAdapter.scalabilityModes, canEncode: true, canDecode: false)
  }

  public func makeEncoder(_ settings: VideoEncoderSettings) throws(CodecError)
    -> sending any VideoEncoder
  {
    try EncoderDriver<AV1EncoderAdapter>(settings)
  }

  /// Throws `CodecError.noImplementation`: decoding is dav1d's, in `SoraAV1Decoding`.
  public func makeDecoder(_ settings: VideoDecoderSettings) throws(CodecError)
    -> sending any VideoDecoder
  {
    throw .noImplementation(kind: .av1, encoding: false)
  }
}

/// Loads the library, once, before anything else of it is called.
func load() throws(CodecError) { try unsafe loadLibrary("libaom") { unsafe sora_aom_load() } }

/// libaom's name and version, such as "libaom 3.6.0".
let libraryName: String = {
  guard (try? load()) != nil else { return "libaom" }
  let version = unsafe String(cString: aom_codec_version_str())
  return "libaom \(version.drop { !$0.isNumber })"
}()

/// The error of a libaom call that failed, with the library's own words.
func libraryError(
  _ operation: String, _ code: aom_codec_err_t,
  _ context: UnsafeMutablePointer<aom_codec_ctx_t>? = nil
) -> CodecError {
  var text = unsafe String(cString: aom_codec_err_to_string(code))
  if let context = unsafe context, let detail = unsafe aom_codec_error_detail(context) {
    text += unsafe ": \(String(cString: detail))"
  }
  return .library(name: "libaom", operation: operation, code: Int(code.rawValue), detail: text)
}
