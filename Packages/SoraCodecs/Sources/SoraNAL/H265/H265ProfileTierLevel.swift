public import SoraWire

/// `profile_tier_level` without its sub-layers (H.265 §7.3.3): what a decoder must be able to do.
public struct H265ProfileTierLevel: Sendable, Hashable {
  /// `general_profile_space`, 0...3; 0 for every profile of today.
  public var profileSpace: UInt8 = 0
  public var isHighTier = false
  /// `general_profile_idc`, 0...31: 1 is main, 2 main 10, 3 main still picture.
  public var profile: UInt8 = 1
  /// Profiles whose decoders can decode it as well, profile 0 in the most significant bit.
  public var compatibility: UInt32 = 0x6000_0000
  /// The 48 bits from `general_progressive_source_flag` on.
  public var constraints: UInt64 = 0x9000_0000_0000
  /// `general_level_idc`, 30 times the level's number: 93 is level 3.1.
  public var levelID: UInt8 = 93

  /// Main profile, main tier, level 3.1: what RFC 7798 §7.1 takes for what isn't said.
  public init() {}

  /// Whether a decoder of the main profile can decode it (H.265 §A.3.2).
  public var isMainCompatible: Bool {
    profileSpace == 0 && (profile == 1 || compatibility & 0x4000_0000 != 0)
  }

  /// Reads `profile_tier_level(1, maxSubLayersMinus1)`.
  public init(_ reader: inout RBSPReader, maximumSubLayersMinus1: Int) throws(NALError) {
    profileSpace = UInt8(try reader.readBits(2))
    isHighTier = try reader.readFlag()
    profile = UInt8(try reader.readBits(5))
    compatibility = try reader.readBits(32)
    constraints = UInt64(try reader.readBits(32)) << 16
    constraints |= UInt64(try reader.readBits(16))
    levelID = UInt8(try reader.readBits(8))
    guard maximumSubLayersMinus1 > 0 else { return }
    let presence = try reader.readBits(16)
    for layer in 0..<min(maximumSubLayersMinus1, 7) {
      let flags = presence >> UInt32(14 - 2 * layer)
      if flags & 2 != 0 { try reader.skipBits(88) }
      if flags & 1 != 0 { try reader.skipBits(8) }
    }
  }
}

extension H265ProfileTierLevel {
  /// What a level allows (H.265 tables A.8 and A.9).
  public struct Limits: Sendable, Hashable {
    /// `general_level_idc`.
    public let levelID: UInt8
    /// Luma samples of a picture.
    public let lumaPictureSize: Int
    /// Luma samples a second.
    public let lumaSampleRate: Int
    /// Bits a second in the main tier, and in the high tier where the level has one.
    public let mainBitsPerSecond: Int
    public let highBitsPerSecond: Int

    fileprivate init(_ id: UInt8, _ size: Int, _ rate: Int, _ main: Int, _ high: Int? = nil) {
      levelID = id
      lumaPictureSize = size
      lumaSampleRate = rate
      mainBitsPerSecond = main * 1_000
      highBitsPerSecond = (high ?? main) * 1_000
    }

    /// Whether pictures of this size, rate and bitrate are within the level. No side may be longer than the root of
    /// eight times the picture size (§A.4.1).
    public func fits(
      width: Int, height: Int, framesPerSecond: Double, bitsPerSecond: Int = 0,
      isHighTier: Bool = false
    ) -> Bool {
      guard width > 0, height > 0, width <= 1 << 16, height <= 1 << 16 else { return false }
      let pixels = width * height
      let longest = 8 * lumaPictureSize
      return pixels <= lumaPictureSize && width * width <= longest && height * height <= longest
        && Double(pixels) * framesPerSecond <= Double(lumaSampleRate)
        && bitsPerSecond <= (isHighTier ? highBitsPerSecond : mainBitsPerSecond)
    }
  }

  /// All levels, lowest first.
  public static let levels: [Limits] = [
    Limits(30, 36_864, 552_960, 128), Limits(60, 122_880, 3_686_400, 1_500),
    Limits(63, 245_760, 7_372_800, 3_000), Limits(90, 552_960, 16_588_800, 6_000),
    Limits(93, 983_040, 33_177_600, 10_000), Limits(120, 2_228_224, 66_846_720, 12_000, 30_000),
    Limits(123, 2_228_224, 133_693_440, 20_000, 50_000),
    Limits(150, 8_912_896, 267_386_880, 25_000, 100_000),
    Limits(153, 8_912_896, 534_773_760, 40_000, 160_000),
    Limits(156, 8_912_896, 1_069_547_520, 60_000, 240_000),
    Limits(180, 35_651_584, 1_069_547_520, 60_000, 240_000),
    Limits(183, 35_651_584, 2_139_095_040, 120_000, 480_000),
    Limits(186, 35_651_584, 4_278_190_080, 240_000, 800_000),
  ]

  /// The lowest level for pictures of this size, rate and bitrate, as `general_level_idc`; nil where none is enough.
  public static func levelID(
    width: Int, height: Int, framesPerSecond: Double, bitsPerSecond: Int = 0,
    isHighTier: Bool = false
  ) -> UInt8? {
    levels.first {
      $0.fits(
        width: width, height: height, framesPerSecond: framesPerSecond,
        bitsPerSecond: bitsPerSecond, isHighTier: isHighTier)
    }?.levelID
  }

  /// The limits of the highest level that is not above `levelID`; nil where that is below level 1.
  public var limits: Limits? { Self.levels.last { $0.levelID <= levelID } }
}

extension H265ProfileTierLevel {
  /// Reads SDP's format parameters `profile-space`, `profile-id`, `tier-flag`, `level-id`, `interop-constraints` and
  /// `profile-compatibility-indicator` (RFC 7798 §7.1). What is missing has that section's default; nil where a value
  /// isn't one.
  public init?(formatParameters: [String: String]) {
    func number(_ name: String, _ fallback: UInt8, upTo maximum: UInt8) -> UInt8? {
      guard let text = formatParameters[name] else { return fallback }
      return UInt8(text).flatMap { $0 <= maximum ? $0 : nil }
    }
    func hexadecimal(_ name: String, digits: Int, _ fallback: UInt64) -> UInt64? {
      guard let text = formatParameters[name] else { return fallback }
      guard text.utf8.count == digits else { return nil }
      return UInt64(text, radix: 16)
    }
    guard let space = number("profile-space", 0, upTo: 3),
      let profile = number("profile-id", 1, upTo: 31),
      let tier = number("tier-flag", 0, upTo: 1),
      let level = number("level-id", 93, upTo: 255),
      let constraints = hexadecimal("interop-constraints", digits: 12, 0xB000_0000_0000),
      let compatibility = hexadecimal(
        "profile-compatibility-indicator", digits: 8, UInt64(Self.compatibility(of: profile)))
    else { return nil }
    profileSpace = space
    self.profile = profile
    isHighTier = tier == 1
    levelID = level
    self.constraints = constraints
    self.compatibility = UInt32(truncatingIfNeeded: compatibility)
  }

  /// `profile-id`, `tier-flag` and `level-id` as SDP writes them.
  public var formatParameters: [String: String] {
    [
      "profile-id": String(profile), "tier-flag": isHighTier ? "1" : "0",
      "level-id": String(levelID),
    ]
  }

  /// Main and main still picture can be decoded by decoders of higher profiles (H.265 §A.3).
  private static func compatibility(of profile: UInt8) -> UInt32 {
    switch profile {
    case 1: 0x6000_0000
    case 2: 0x2000_0000
    case 3: 0x7000_0000
    default: 0x8000_0000 >> UInt32(profile)
    }
  }
}
