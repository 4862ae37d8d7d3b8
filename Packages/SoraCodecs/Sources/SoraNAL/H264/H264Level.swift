/// A level of H.264: how large, how fast and how dense a stream may be (H.264 §A.3, table A-1).
public enum H264Level: UInt8, Sendable, Hashable, CaseIterable, Comparable {
  case level1 = 10
  /// Level 1b, with four times the bits of level 1. Its `level_idc` is 9 or 11, by profile.
  case level1b = 9
  case level1_1 = 11
  case level1_2 = 12
  case level1_3 = 13
  case level2 = 20
  case level2_1 = 21
  case level2_2 = 22
  case level3 = 30
  case level3_1 = 31
  case level3_2 = 32
  case level4 = 40
  case level4_1 = 41
  case level4_2 = 42
  case level5 = 50
  case level5_1 = 51
  case level5_2 = 52
  case level6 = 60
  case level6_1 = 61
  case level6_2 = 62

  /// MaxMBPS: macroblocks (16x16 samples) a second.
  public var maximumMacroblocksPerSecond: Int { limits.0 }
  /// MaxFS: macroblocks a frame.
  public var maximumMacroblocks: Int { limits.1 }
  /// MaxDpbMbs: macroblocks of all frames that a decoder keeps.
  public var maximumDecodedPictureBufferMacroblocks: Int { limits.2 }
  /// MaxBR: bits a second of a stream in the Baseline, Main or Extended profile.
  public var maximumBitsPerSecond: Int { limits.3 * 1_000 }
  /// Frames of this size that a decoder keeps at most (MaxDpbFrames, §A.3.1 item h), 0...16.
  public func maximumReferenceFrames(width: Int, height: Int) -> Int {
    let macroblocks = Self.macroblocks(width, height)
    return macroblocks > 0 ? min(maximumDecodedPictureBufferMacroblocks / macroblocks, 16) : 0
  }

  /// Whether a stream of this size and rate fits (§A.3.1 and §A.3.2). Rates of 0 or less aren't looked at.
  ///
  /// `bitsPerSecond` is compared with the limit of `profile`, which is a quarter higher in the High profiles (table A-2).
  public func fits(
    width: Int, height: Int, framesPerSecond: Double = 0, bitsPerSecond: Int = 0,
    profile: H264Profile = .constrainedBaseline
  ) -> Bool {
    let (columns, rows) = (Self.blocks(width), Self.blocks(height))
    let macroblocks = Self.macroblocks(width, height)
    guard macroblocks > 0, macroblocks <= maximumMacroblocks,
      // No side longer than the root of eight times MaxFS.
      columns * columns <= 8 * maximumMacroblocks, rows * rows <= 8 * maximumMacroblocks
    else { return false }
    if framesPerSecond > 0,
      Double(macroblocks) * framesPerSecond > Double(maximumMacroblocksPerSecond)
    {
      return false
    }
    return bitsPerSecond <= 0 || bitsPerSecond <= maximumBitsPerSecond(profile)
  }

  /// Bits a second of a stream in `profile` (MaxBR times cpbBrVclFactor, table A-2).
  public func maximumBitsPerSecond(_ profile: H264Profile) -> Int {
    limits.3 * profile.bitRateFactor
  }

  /// The lowest level that a stream of this size and rate fits in; nil where none does.
  public static func level(
    forWidth width: Int, height: Int, framesPerSecond: Double = 0, bitsPerSecond: Int = 0,
    profile: H264Profile = .constrainedBaseline
  ) -> H264Level? {
    for level in allCases
    where level.fits(
      width: width, height: height, framesPerSecond: framesPerSecond, bitsPerSecond: bitsPerSecond,
      profile: profile)
    {
      return level
    }
    return nil
  }

  public static func < (a: H264Level, b: H264Level) -> Bool { a.order < b.order }

  /// Levels in their order: 1b lies between 1 and 1.1.
  private var order: Int { self == .level1b ? 101 : Int(rawValue) * 10 }

  private static func blocks(_ samples: Int) -> Int {
    samples > 0 && samples <= 1 << 20 ? (samples + 15) / 16 : 0
  }

  /// Macroblocks of a picture; 0 for a size that isn't one.
  static func macroblocks(_ width: Int, _ height: Int) -> Int { blocks(width) * blocks(height) }

  /// MaxMBPS, MaxFS, MaxDpbMbs and MaxBR of table A-1.
  private var limits: (Int, Int, Int, Int) {
    switch self {
    case .level1: (1_485, 99, 396, 64)
    case .level1b: (1_485, 99, 396, 128)
    case .level1_1: (3_000, 396, 900, 192)
    case .level1_2: (6_000, 396, 2_376, 384)
    case .level1_3: (11_880, 396, 2_376, 768)
    case .level2: (11_880, 396, 2_376, 2_000)
    case .level2_1: (19_800, 792, 4_752, 4_000)
    case .level2_2: (20_250, 1_620, 8_100, 4_000)
    case .level3: (40_500, 1_620, 8_100, 10_000)
    case .level3_1: (108_000, 3_600, 18_000, 14_000)
    case .level3_2: (216_000, 5_120, 20_480, 20_000)
    case .level4: (245_760, 8_192, 32_768, 20_000)
    case .level4_1: (245_760, 8_192, 32_768, 50_000)
    case .level4_2: (522_240, 8_704, 34_816, 50_000)
    case .level5: (589_824, 22_080, 110_400, 135_000)
    case .level5_1: (983_040, 36_864, 184_320, 240_000)
    case .level5_2: (2_073_600, 36_864, 184_320, 240_000)
    case .level6: (4_177_920, 139_264, 696_320, 240_000)
    case .level6_1: (8_355_840, 139_264, 696_320, 480_000)
    case .level6_2: (16_711_680, 139_264, 696_320, 800_000)
    }
  }
}
