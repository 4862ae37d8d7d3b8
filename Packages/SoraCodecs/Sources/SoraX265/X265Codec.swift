import CSoraX265
public import SoraCodecs

/// H.265 encoding over libx265: main profile (8 bits a sample, 4:2:0). libx265 is under the GPL.
public struct X265EncoderFactory: VideoCodecFactory {
  public init() {}

  public var capability: VideoCodecCapability {
    VideoCodecCapability(
      kind: .h265, implementation: "libx265", profiles: ["1"],
      scalabilityModes: X265EncoderAdapter.scalabilityModes,
      canEncode: true, canDecode: false)
  }

  public func makeEncoder(_ settings: VideoEncoderSettings) throws(CodecError)
    -> sending any VideoEncoder
  {
    try EncoderDriver<X265EncoderAdapter>(settings)
  }

  /// Throws `CodecError.noImplementation`: the library only encodes.
  public func makeDecoder(_ settings: VideoDecoderSettings) throws(CodecError)
    -> sending any VideoDecoder
  {
    throw .noImplementation(kind: .h265, encoding: false)
  }
}

/// Loads the library, once, before anything else of it is called.
func load() throws(CodecError) { try unsafe loadLibrary("libx265") { unsafe sora_x265_load() } }

/// libx265's name and version, such as "libx265 3.5".
let libraryName: String = {
  guard (try? load()) != nil else { return "libx265" }
  let version = unsafe String(cString: sora_x265_version())
  return "libx265 \(version.prefix { $0 == "." || $0.isNumber })"
}()
