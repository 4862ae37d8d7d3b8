import CDE265
import CSoraDE265
public import SoraCodecs

/// H.265 decoding over libde265: main profile (8 bits a sample, 4:2:0). libde265 is under the LGPL.
public struct DE265DecoderFactory: VideoCodecFactory {
  public init() {}

  public var capability: VideoCodecCapability {
    VideoCodecCapability(
      kind: .h265, implementation: "libde265", profiles: ["1"], canEncode: false, canDecode: true)
  }

  /// Throws `CodecError.noImplementation`: libde265 is used for decoding only.
  public func makeEncoder(_ settings: VideoEncoderSettings) throws(CodecError)
    -> sending any VideoEncoder
  {
    throw .noImplementation(kind: .h265, encoding: true)
  }

  public func makeDecoder(_ settings: VideoDecoderSettings) throws(CodecError)
    -> sending any VideoDecoder
  {
    try DE265Decoder(settings)
  }
}

/// Loads the library, once, before anything else of it is called.
func load() throws(CodecError) { try unsafe loadLibrary("libde265") { unsafe sora_de265_load() } }

/// libde265's name and version, such as "libde265 1.0.11".
let libraryName: String = {
  guard (try? load()) != nil else { return "libde265" }
  return unsafe "libde265 \(String(cString: de265_get_version()))"
}()

/// libde265's own words for an error.
func errorText(_ error: de265_error) -> String {
  unsafe de265_get_error_text(error).map { unsafe String(cString: $0) } ?? "error \(error.rawValue)"
}
