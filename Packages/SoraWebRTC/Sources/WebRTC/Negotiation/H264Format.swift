import SoraSDP

/// What `profile-level-id` says (RFC 6184 §8.1).
struct H264Format: Hashable {
  /// Sub-profiles whose streams are the same, however they are written (RFC 6184 table 5).
  enum Profile: CaseIterable { case constrainedBaseline, baseline, main, constrainedHigh, high }

  let profile: Profile
  /// profile_idc and the constraint flags.
  private let head: UInt32
  /// level_idc: ten times the level; 11 with constraint_set3_flag is level 1b.
  private let level: UInt8

  /// `text` is what was written. Absent means Baseline without constraints at level 1. `nil` for what isn't a profile that is
  /// known here, such as those of more than eight bits.
  init?(_ text: String?) {
    let text = text ?? "42000A"
    guard text.utf8.count == 6, let value = UInt32(text, radix: 16) else { return nil }
    head = value >> 8
    level = UInt8(truncatingIfNeeded: value)
    let constraints = UInt8(truncatingIfNeeded: value >> 8)
    // RFC 6184 table 5: profile_idc with the constraint flags that pick a sub-profile.
    switch (value >> 16, constraints) {
    case (0x42, let flags) where flags & 0x4F == 0x40,
      (0x4D, let flags) where flags & 0x8F == 0x80,
      (0x58, let flags) where flags & 0xCF == 0xC0:
      profile = .constrainedBaseline
    case (0x42, let flags) where flags & 0x4F == 0, (0x58, let flags) where flags & 0xCF == 0x80:
      profile = .baseline
    case (0x4D, let flags) where flags & 0xAF == 0: profile = .main
    case (0x64, 0x00): profile = .high
    case (0x64, 0x0C): profile = .constrainedHigh
    default: return nil
    }
  }

  /// Grows with the level: ten times it, and 1b lies between 1 and 1.1.
  var rank: Double { isLevel1b ? 10.5 : Double(level) }

  /// ITU-T H.264 table A-1: constraint_set3_flag makes level_idc 11 level 1b, in the profiles below High.
  private var isLevel1b: Bool {
    level == 9 || level == 11 && head & 0x10 != 0 && head >> 8 != 0x64
  }

  /// As `profile-level-id` writes it, at the level of `other`.
  func text(level other: H264Format) -> String {
    let isBelowHigh = head >> 8 != 0x64
    var value = head << 8
    if isBelowHigh { value &= ~0x1000 }
    if other.isLevel1b {
      value |= isBelowHigh ? 0x100B : 9
    } else {
      value |= UInt32(other.level)
    }
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, 6 - text.count)) + text
  }

  /// RFC 6184 §8.2.2: profile and packetization mode must agree; the level is each side's own where both allow that, else
  /// the lower.
  static func answer(local: FormatParameters, remote: FormatParameters) -> FormatParameters? {
    guard
      (local.integer("packetization-mode") ?? 0) == (remote.integer("packetization-mode") ?? 0),
      let ours = H264Format(local["profile-level-id"]),
      let theirs = H264Format(remote["profile-level-id"]), ours.profile == theirs.profile
    else { return nil }
    var answer = local
    let isAsymmetric =
      local.integer("level-asymmetry-allowed") == 1
      && remote.integer("level-asymmetry-allowed") == 1
    if !isAsymmetric {
      answer["level-asymmetry-allowed"] = nil
      if theirs.rank < ours.rank { answer["profile-level-id"] = ours.text(level: theirs) }
    }
    return answer
  }
}
