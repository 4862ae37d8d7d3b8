public import SoraCodecs

/// What an H.265 encoder of a call is to make of its settings: level and size, in the main profile and the main tier.
public struct H265EncodingFormat: Sendable, Hashable, EncoderPlan {
  /// `general_level_idc` that the stream says it has, and keeps to.
  public let levelID: UInt8
  /// Whether the pictures need a higher level than was negotiated, so that the stream says (and has) that one. They are
  /// sent all the same: most decoders take them, and no picture at all would be worse.
  public let exceedsNegotiatedLevel: Bool
  /// Size of the stream's pictures: both sides are even, because the conformance window counts pairs of samples in 4:2:0
  /// (H.265 §7.4.3.2.1). An odd side loses its last column or row.
  public let width: Int
  public let height: Int
  /// Bits a second that the level allows.
  public let maximumBitsPerSecond: Int

  /// Samples of the smallest coding tree block, and so of the smallest side.
  public static let smallestSide = 16

  /// The level that RFC 7798 §7.1 takes for what isn't said, below which nothing is gained: a stream that grows needs no
  /// other.
  static let lowestLevel: UInt8 = 93

  /// Reads `profile-space`, `profile-id`, `tier-flag` and `level-id` from the settings' format parameters.
  ///
  /// Without `level-id`: the level that size and rate need. With it, that one where the pictures fit it. Throws
  /// `CodecError.invalidSetting` for what can't be read, for another profile than main, and for a picture of less than
  /// 16x16 or beyond every level.
  public init(_ settings: VideoEncoderSettings) throws(CodecError) {
    let parameters = settings.formatParameters
    guard let negotiated = H265ProfileTierLevel(formatParameters: parameters) else {
      throw .invalidSetting(
        name: "formatParameters", value: "\(parameters)", allowed: "numbers as in RFC 7798 §7.1")
    }
    guard negotiated.profileSpace == 0, negotiated.profile == 1 else {
      throw .invalidSetting(name: "profile-id", value: "\(negotiated.profile)", allowed: "1")
    }
    width = settings.width & ~1
    height = settings.height & ~1
    // Pictures at a rate beyond every level are still of some level without it.
    guard width >= Self.smallestSide, height >= Self.smallestSide,
      let sized =
        H265ProfileTierLevel.levelID(
          width: width, height: height, framesPerSecond: settings.framesPerSecond)
        ?? H265ProfileTierLevel.levelID(width: width, height: height, framesPerSecond: 0)
    else {
      throw .invalidSetting(
        name: "size", value: "\(settings.width)x\(settings.height)",
        allowed: "16x16 to 35,651,584 samples")
    }
    var level = H265ProfileTierLevel()
    if parameters["level-id"] != nil, let known = negotiated.limits {
      level.levelID = max(known.levelID, sized)
      exceedsNegotiatedLevel = sized > known.levelID
    } else {
      let bits =
        settings.maximumBitsPerSecond > 0
        ? settings.maximumBitsPerSecond : settings.targetBitsPerSecond
      let dense = H265ProfileTierLevel.levelID(
        width: width, height: height, framesPerSecond: settings.framesPerSecond,
        bitsPerSecond: bits)
      level.levelID = max(dense ?? sized, Self.lowestLevel)
      exceedsNegotiatedLevel = false
    }
    levelID = level.levelID
    maximumBitsPerSecond = level.limits?.mainBitsPerSecond ?? .max
  }
}
