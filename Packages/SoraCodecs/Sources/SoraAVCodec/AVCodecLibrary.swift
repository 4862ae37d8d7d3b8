import CAVCodec
import CSoraAVCodec
import SoraCodecs

/// Loads the library, once, before anything else of it is called.
func load() throws(CodecError) { try unsafe loadLibrary("libavcodec") { unsafe sora_av_load() } }

/// libavcodec's name and version, such as "libavcodec 59.37.100".
let libraryName: String = {
  guard (try? load()) != nil else { return "libavcodec" }
  var major: Int32 = 0
  var minor: Int32 = 0
  var micro: Int32 = 0
  unsafe sora_av_version(&major, &minor, &micro)
  return "libavcodec \(major).\(minor).\(micro)"
}()

/// libavcodec's own words for an error code.
func errorText(_ code: Int32) -> String {
  unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { text in
    guard let base = text.baseAddress else { return "" }
    unsafe sora_av_error_text(code, base, text.count)
    return unsafe String(cString: base)
  }
}

/// The error of a libavcodec call that failed, with the library's own words.
func libraryError(_ operation: String, _ code: Int32) -> CodecError {
  .library(name: "libavcodec", operation: operation, code: Int(code), detail: errorText(code))
}
