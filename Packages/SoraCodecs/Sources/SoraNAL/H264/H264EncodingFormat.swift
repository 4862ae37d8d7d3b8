public import SoraCodecs

/// What an H.264 encoder of a call is to make of its settings: profile, level, slices and size.
public struct H264EncodingFormat: Sendable, Hashable, EncoderPlan {
  /// Profile and level that the stream says it has.
  public let profileLevelID: H264ProfileLevelID
  /// Whether the pictures need a higher level than was negotiated, so that the stream says (and has) that one. They are
  /// sent all the same: most decoders take them, and no picture at all would be worse.
  public let exceedsNegotiatedLevel: Bool
  /// `packetization-mode` (RFC 6184 §6.2): 0 where each NAL unit must fit a packet, 1 where it may be split.
  public let packetizationMode: Int
  /// Bytes of the longest slice; nil where there is no limit.
  public let maximumSliceBytes: Int?
  /// Size of the stream's pictures: both sides are even, because cropping counts pairs of samples in 4:2:0 (H.264
  /// §7.4.2.1.1). An odd side loses its last column or row, as with OpenH264 and libwebrtc.
  public let width: Int
  public let height: Int
  /// Bits a second that the level allows.
  public let maximumBitsPerSecond: Int

  /// The level below which nothing is gained: endpoints of WebRTC take it (RFC 7742 §6.2), and a stream that grows
  /// needs no other.
  static let lowestLevel = H264Level.level3_1

  /// Reads `profile-level-id` and `packetization-mode` from the settings' format parameters.
  ///
  /// Without parameters: Constrained Baseline, at the level that size and rate need, slices unbounded. With them, the
  /// absent ones mean what RFC 6184 §8.1 says, and the level is the negotiated one where the pictures fit it.
  /// Throws `CodecError.invalidSetting` for what can't be read, for a profile that isn't in `profiles`, and for a
  /// picture of less than 2x2 or beyond every level.
  public init(_ settings: VideoEncoderSettings, profiles: [H264Profile]) throws(CodecError) {
    let parameters = settings.formatParameters
    var negotiated: H264ProfileLevelID?
    if let text = parameters["profile-level-id"] {
      guard let known = H264ProfileLevelID(text), profiles.contains(known.profile) else {
        throw .invalidSetting(
          name: "profile-level-id", value: text,
          allowed: profiles.map {
            H264ProfileLevelID(profile: $0, level: Self.lowestLevel).description
          }.joined(separator: ", ") + " or another level")
      }
      negotiated = known
    }
    // Absent means 0 (RFC 6184 §8.1), where anything was negotiated at all.
    let mode = parameters["packetization-mode"] ?? (parameters.isEmpty ? "1" : "0")
    guard mode == "0" || mode == "1" else {
      throw .invalidSetting(name: "packetization-mode", value: mode, allowed: "0, 1")
    }
    packetizationMode = mode == "0" ? 0 : 1
    guard packetizationMode == 1 || settings.maximumPayloadBytes >= 200 else {
      throw .invalidSetting(
        name: "maximumPayloadBytes", value: "\(settings.maximumPayloadBytes)",
        allowed: "200 or more with packetization-mode 0")
    }
    maximumSliceBytes = packetizationMode == 0 ? settings.maximumPayloadBytes : nil

    width = settings.width & ~1
    height = settings.height & ~1
    let profile = negotiated?.profile ?? .constrainedBaseline
    let bits =
      settings.maximumBitsPerSecond > 0
      ? settings.maximumBitsPerSecond : settings.targetBitsPerSecond
    // Pictures at a rate beyond every level are still of some level without it.
    guard width > 0, height > 0,
      let sized =
        H264Level.level(
          forWidth: width, height: height, framesPerSecond: settings.framesPerSecond)
        ?? H264Level.level(forWidth: width, height: height)
    else {
      throw .invalidSetting(
        name: "size", value: "\(settings.width)x\(settings.height)",
        allowed: "2x2 to 139,264 macroblocks")
    }
    let level: H264Level
    if let negotiated {
      level = max(negotiated.level, sized)
      exceedsNegotiatedLevel = sized > negotiated.level
    } else {
      let dense = H264Level.level(
        forWidth: width, height: height, framesPerSecond: settings.framesPerSecond,
        bitsPerSecond: bits, profile: profile)
      level = max(dense ?? sized, Self.lowestLevel)
      exceedsNegotiatedLevel = false
    }
    profileLevelID = H264ProfileLevelID(profile: profile, level: level)
    maximumBitsPerSecond = level.maximumBitsPerSecond(profile)
  }
}
