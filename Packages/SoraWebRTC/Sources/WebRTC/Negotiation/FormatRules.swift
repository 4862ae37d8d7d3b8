public import SoraSDP

/// Says for each codec whether two sets of format parameters mean the same format, and what to answer.
///
/// A rule gets our parameters and the peer's, and returns what we write in our answer, or nil where the two
/// can't be combined. Codecs without a rule always match and answer with our own parameters, which is right
/// wherever fmtp only declares what the writer would like to receive (VP8, RFC 7741 §6.2).
public struct FormatRules: Sendable {
  public typealias Rule =
    @Sendable (_ local: FormatParameters, _ remote: FormatParameters) -> FormatParameters?

  private var rules: [String: Rule]

  /// The rules of Opus, RED, VP9, AV1, H.264 and H.265.
  public static let standard = FormatRules(rules: [
    "opus": { opus($0, $1) },
    // The peer's payload types; whether they mean what we know is seen with the section.
    "red": { _, remote in remote },
    "vp9": sameNumber("profile-id", absent: 0),
    "av1": sameNumber("profile", absent: 0),
    "h264": { H264Format.answer(local: $0, remote: $1) },
    "h265": { h265($0, $1) },
  ])

  /// Sets the rule of one codec, by encoding name.
  public mutating func set(_ name: String, _ rule: @escaping Rule) {
    rules[name.lowercased()] = rule
  }

  func rule(for name: String) -> Rule { rules[name.lowercased()] ?? { local, _ in local } }

  /// Opus has one format; fmtp declares what the writer would like (RFC 7587 §7.1). We play stereo, and so ask for it from
  /// a peer that has it to send, or that wants it itself; and say that we send it where it is wanted.
  private static func opus(_ local: FormatParameters, _ remote: FormatParameters)
    -> FormatParameters
  {
    var answer = local
    let isWanted = remote["stereo"] == "1"
    if isWanted || remote["sprop-stereo"] == "1" { answer["stereo"] = "1" }
    if isWanted { answer["sprop-stereo"] = "1" }
    return answer
  }

  /// Formats are the same where one number is (VP9: RFC 9628 §6; AV1: its RTP specification §7.2).
  private static func sameNumber(_ key: String, absent: Int) -> Rule {
    { local, remote in
      (local.integer(key) ?? absent) == (remote.integer(key) ?? absent) ? local : nil
    }
  }

  /// RFC 7798 §7.2.2: profile, tier and transmission mode must agree; the level may go down.
  private static func h265(_ local: FormatParameters, _ remote: FormatParameters)
    -> FormatParameters?
  {
    guard (local.integer("profile-id") ?? 1) == (remote.integer("profile-id") ?? 1),
      (local.integer("tier-flag") ?? 0) == (remote.integer("tier-flag") ?? 0),
      (local["tx-mode"] ?? "SRST") == (remote["tx-mode"] ?? "SRST")
    else { return nil }
    var answer = local
    let level = min(local.integer("level-id") ?? 93, remote.integer("level-id") ?? 93)
    answer["level-id"] = "\(level)"
    return answer
  }
}

/// What `profile-level-id` says (RFC 6184 §8.1).
private struct H264Format {
  enum Profile { case constrainedBaseline, baseline, main, high, constrainedHigh }

  var profile: Profile
  var level: UInt8
  var head: UInt32

  init?(_ text: String?) {
    // Absent means Baseline without constraints at level 1 (RFC 6184 §8.1).
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

  static func answer(local: FormatParameters, remote: FormatParameters) -> FormatParameters? {
    guard
      (local.integer("packetization-mode") ?? 0) == (remote.integer("packetization-mode") ?? 0),
      let ours = H264Format(local["profile-level-id"]),
      let theirs = H264Format(remote["profile-level-id"]), ours.profile == theirs.profile
    else { return nil }
    var answer = local
    // RFC 6184 §8.2.2: without the permission of both, both directions use the lower level.
    let isAsymmetric =
      local.integer("level-asymmetry-allowed") == 1
      && remote.integer("level-asymmetry-allowed") == 1
    if !isAsymmetric {
      let level = min(ours.level, theirs.level)
      let text = String((ours.head << 8) | UInt32(level), radix: 16)
      answer["profile-level-id"] = String(repeating: "0", count: max(0, 6 - text.count)) + text
    }
    return answer
  }
}
