/// `profile-level-id` of H.264's format parameters: six hexadecimal digits for the profile, its constraint flags and the
/// level (RFC 6184 §8.1).
public struct H264ProfileLevelID: Sendable, Hashable, LosslessStringConvertible {
  public var profile: H264Profile
  public var level: H264Level

  public init(profile: H264Profile, level: H264Level) {
    self.profile = profile
    self.level = level
  }

  /// What an absent parameter means: Baseline at level 1 (RFC 6184 §8.1).
  public static let absent = H264ProfileLevelID(profile: .baseline, level: .level1)

  /// Reads the parameter, such as "42e01f". Nil where it isn't six hexadecimal digits, or names no known profile or level.
  public init?(_ description: String) {
    let text = description.utf8
    // A sign would be taken as a part of the number otherwise.
    guard text.count == 6, text.first != UInt8(ascii: "+"), text.first != UInt8(ascii: "-"),
      let value = UInt32(description, radix: 16)
    else { return nil }
    self.init(
      profileIDC: UInt8(truncatingIfNeeded: value >> 16),
      constraints: UInt8(truncatingIfNeeded: value >> 8), levelIDC: UInt8(truncatingIfNeeded: value)
    )
  }

  /// The three bytes as they stand in a sequence parameter set. Nil where they name no known profile or level.
  public init?(profileIDC: UInt8, constraints: UInt8, levelIDC: UInt8) {
    guard let profile = H264Profile(profileIDC: profileIDC, constraints: constraints),
      let level = H264Level(rawValue: levelIDC)
    else { return nil }
    self.profile = profile
    if profile.saysLevel1bByConstraint {
      guard level != .level1b else { return nil }
      self.level = level == .level1_1 && constraints & 0x10 != 0 ? .level1b : level
    } else {
      self.level = level
    }
  }

  /// `profile_idc`, the byte of constraint flags, and `level_idc`.
  public var bytes: (profileIDC: UInt8, constraints: UInt8, levelIDC: UInt8) {
    guard level == .level1b, profile.saysLevel1bByConstraint else {
      return (profile.profileIDC, profile.constraints, level.rawValue)
    }
    return (profile.profileIDC, profile.constraints | 0x10, H264Level.level1_1.rawValue)
  }

  public var description: String {
    let (profile, constraints, level) = bytes
    let value = UInt32(profile) << 16 | UInt32(constraints) << 8 | UInt32(level)
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 6 - digits.count) + digits
  }

  /// Whether a decoder of this profile and level takes streams of `other`: the same profile, or one within it
  /// (H.264 §A.2), at no higher level.
  public func includes(_ other: H264ProfileLevelID) -> Bool {
    profile.decodes(other.profile) && other.level <= level
  }
}

extension H264Profile {
  /// Whether a decoder of this profile takes streams of `other` (H.264 §A.2.1 to §A.2.11).
  public func decodes(_ other: H264Profile) -> Bool {
    if self == other { return true }
    switch self {
    case .constrainedBaseline, .cavlc444Intra: return false
    case .baseline, .main: return other == .constrainedBaseline
    case .extended: return other == .constrainedBaseline || other == .baseline
    case .constrainedHigh: return other == .constrainedBaseline
    case .high: return [.constrainedBaseline, .main, .constrainedHigh].contains(other)
    case .high10Intra: return false
    case .high10: return other == .high10Intra || H264Profile.high.decodes(other)
    case .high422Intra: return other == .high10Intra
    case .high422: return other == .high422Intra || H264Profile.high10.decodes(other)
    case .high444Intra:
      return [.high10Intra, .high422Intra, .cavlc444Intra].contains(other)
    case .high444Predictive:
      return [.high444Intra, .cavlc444Intra].contains(other) || H264Profile.high422.decodes(other)
    }
  }
}
