/// Why a codec could not do what it was asked to.
public enum CodecError: Error, Sendable, Hashable, CustomStringConvertible {
  /// No registered implementation can encode (or decode) this codec. Register a factory for it, or negotiate another codec.
  case noImplementation(kind: VideoCodecKind, encoding: Bool)
  /// A setting is outside of what the codec can do: which, its value, and what is allowed.
  case invalidSetting(name: String, value: String, allowed: String)
  /// The library failed to start or to take a setting. `detail` is its own text.
  case library(name: String, operation: String, code: Int, detail: String)
  /// The decoder can't use this frame without an earlier one that it never got. Ask the sender for a key frame.
  case keyFrameRequired
  /// The bytes aren't a frame of this codec. Ask the sender for a key frame.
  case corruptFrame(detail: String)
  /// The stream uses a profile that this decoder doesn't take (more than 8 bits a sample, or other chroma than 4:2:0).
  /// Negotiate a profile that `VideoCodecCapability.profiles` names.
  case unsupportedProfile(kind: VideoCodecKind, profile: String)
  /// The picture is larger than the decoder was allowed to reserve memory for.
  case pictureTooLarge(width: Int, height: Int)

  /// Whether a key frame from the sender is the way out.
  public var isCuredByKeyFrame: Bool {
    switch self {
    case .keyFrameRequired, .corruptFrame: true
    case .noImplementation, .invalidSetting, .library, .pictureTooLarge, .unsupportedProfile: false
    }
  }

  public var description: String {
    switch self {
    case .noImplementation(let kind, let encoding):
      "no \(kind) \(encoding ? "encoder" : "decoder") is registered"
    case .invalidSetting(let name, let value, let allowed):
      "\(name) is \(value); allowed: \(allowed)"
    case .library(let name, let operation, let code, let detail):
      "\(name) failed to \(operation): \(detail) (\(code))"
    case .keyFrameRequired: "a key frame is needed before this frame can be decoded"
    case .corruptFrame(let detail): "the frame can't be decoded: \(detail)"
    case .unsupportedProfile(let kind, let profile):
      "\(kind) with \(profile) can't be decoded"
    case .pictureTooLarge(let width, let height):
      "a picture of \(width)x\(height) exceeds the decoder's limit"
    }
  }
}
