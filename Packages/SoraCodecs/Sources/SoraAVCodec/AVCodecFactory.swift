public import SoraCodecs

/// H.264 or H.265 decoding over libavcodec: 8 bits a sample, 4:2:0.
///
/// Debian's libavcodec is linked with x264 and x265 and thereby under the GPL.
public struct AVCodecDecoderFactory: VideoCodecFactory {
  /// What its decoders take.
  public let stream: AVCodecStream

  public init(_ stream: AVCodecStream) {
    self.stream = stream
  }

  public var capability: VideoCodecCapability {
    VideoCodecCapability(
      kind: stream.kind, implementation: "libavcodec", profiles: stream.profiles, canEncode: false,
      canDecode: true)
  }

  /// Throws `CodecError.noImplementation`: only decoders are made.
  public func makeEncoder(_ settings: VideoEncoderSettings) throws(CodecError)
    -> sending any VideoEncoder
  {
    throw .noImplementation(kind: stream.kind, encoding: true)
  }

  public func makeDecoder(_ settings: VideoDecoderSettings) throws(CodecError)
    -> sending any VideoDecoder
  {
    try AVCodecDecoder(stream, settings)
  }
}
