import SoraNAL
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
    "h264": { H264ProfileLevelID.answer(local: $0, remote: $1) },
    "h265": { h265($0, $1) },
  ])

  /// Sets the rule of one codec, by encoding name.
  public mutating func set(_ name: String, _ rule: @escaping Rule) {
    rules[name.lowercased()] = rule
  }

  /// What the peer takes of us, where it wrote `remote` and we `local`: its own parameters within what was agreed on, so that
  /// no level is higher than both allow.
  func sending(_ name: String, local: FormatParameters, remote: FormatParameters)
    -> FormatParameters
  {
    rule(for: name)(remote, local) ?? remote
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

  /// RFC 7798 §7.2.2: profile, tier and transmission mode must agree; the level may go down. Absent means what §7.1 says:
  /// Main profile and tier, level 3.1, one stream.
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
