public import SoraMedia

/// Compresses the pictures of one stream.
///
/// An encoder is confined: it isn't `Sendable`, and all its calls come from one serial executor (one a stream) or
/// from one thread. It may be made elsewhere and handed over before its first call.
public protocol VideoEncoder: AnyObject {
  var kind: VideoCodecKind { get }
  /// The library and its version, as `encoderImplementation` of W3C webrtc-stats.
  var implementationName: String { get }
  /// The settings in force, with the last rates and the last size.
  var settings: VideoEncoderSettings { get }

  /// Compresses `frame`; nil where rate control dropped it.
  ///
  /// The pixels are only read during the call. A frame whose size differs from the last one restarts prediction with
  /// one key frame. `rtpTimestamp` (90 kHz) is passed through.
  func encode(_ frame: RawVideoFrame, forceKeyFrame: Bool, rtpTimestamp: UInt32) throws(CodecError)
    -> EncodedFrame?

  /// Aims for other rates from the next frame on, without a key frame. Target 0 pauses: frames are dropped until it
  /// rises again. Values out of range are clamped.
  func setRates(targetBitsPerSecond: Int, framesPerSecond: Double)
}

/// Decompresses the frames of one stream.
///
/// Confined like `VideoEncoder`. The pictures it hands out are free of that: they may outlive the decoder and be
/// released on any thread.
public protocol VideoDecoder: AnyObject {
  var kind: VideoCodecKind { get }
  /// The library and its version, as `decoderImplementation` of W3C webrtc-stats.
  var implementationName: String { get }
  /// Whether only a key frame can be decoded next: at the start, and after an error.
  var needsKeyFrame: Bool { get }
  /// Whether the picture that `decode` returned last is known to be damaged (it was decoded from damaged or missing
  /// data). Ask the sender for a key frame, and show the picture or not.
  var isLastFrameCorrupted: Bool { get }

  /// Decompresses `frame`; nil where it isn't to be shown. After an error that `isCuredByKeyFrame`, ask the sender for
  /// a key frame; frames until then throw `CodecError.keyFrameRequired`.
  func decode(_ frame: EncodedFrame) throws(CodecError) -> RawVideoFrame?
}

/// What an implementation of a codec can do.
public struct VideoCodecCapability: Sendable, Hashable {
  public var kind: VideoCodecKind
  /// The library, without its version: the name that preferences use.
  public var implementation: String
  /// Profiles as the codec's SDP parameters write them (`profile-level-id`, `profile-id`, `profile`); empty where the
  /// codec has none.
  public var profiles: [String]
  /// Layers that its encoder can make; empty for a decoder.
  public var scalabilityModes: [ScalabilityMode]
  public var isHardware: Bool
  public var canEncode: Bool
  public var canDecode: Bool

  public init(
    kind: VideoCodecKind, implementation: String, profiles: [String] = [],
    scalabilityModes: [ScalabilityMode] = [], isHardware: Bool = false, canEncode: Bool,
    canDecode: Bool
  ) {
    self.kind = kind
    self.implementation = implementation
    self.profiles = profiles
    self.scalabilityModes = scalabilityModes
    self.isHardware = isHardware
    self.canEncode = canEncode
    self.canDecode = canDecode
  }
}

/// Makes the encoders and decoders of one implementation.
public protocol VideoCodecFactory: Sendable {
  var capability: VideoCodecCapability { get }
  func makeEncoder(_ settings: VideoEncoderSettings) throws(CodecError) -> sending any VideoEncoder
  func makeDecoder(_ settings: VideoDecoderSettings) throws(CodecError) -> sending any VideoDecoder
}
