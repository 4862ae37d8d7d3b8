import SoraMedia
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
  /// Codecs whose parameters say what their writer would like, and nothing of what the other side said.
  private var declared: Set<String> = []

  /// The rules of Opus and RED, and those of each video codec by its `VideoCodecFormat`.
  public static let standard = {
    var rules = FormatRules(rules: [
      "opus": { opus($0, $1) },
      // The peer's payload types; whether they mean what we know is seen with the section.
      "red": { _, remote in remote },
    ])
    rules.declared = ["opus", "red"]
    for kind in VideoCodecKind.allCases {
      rules.set(kind.encodingName) { local, remote in
        guard local.isSameFormat(as: remote, of: kind.format) else { return nil }
        return switch kind {
        case .h264: H264ProfileLevelID.answer(local: local, remote: remote)
        case .h265: h265(local, remote)
        default: local
        }
      }
    }
    return rules
  }()

  /// Sets the rule of one codec, by encoding name.
  public mutating func set(_ name: String, _ rule: @escaping Rule) {
    rules[name.lowercased()] = rule
    declared.remove(name.lowercased())
  }

  /// What the peer takes of us, where it wrote `remote` and we `local`: its own parameters within what was agreed on, so that
  /// no level is higher than both allow.
  func sending(_ name: String, local: FormatParameters, remote: FormatParameters)
    -> FormatParameters
  {
    // A rule makes an answer, which asks for what the other side has to send. That isn't what the other side has asked for.
    declared.contains(name.lowercased()) ? remote : rule(for: name)(remote, local) ?? remote
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

  /// RFC 7798 §7.2.2: the level may go down. Absent means what §7.1 says, level 3.1.
  private static func h265(_ local: FormatParameters, _ remote: FormatParameters)
    -> FormatParameters
  {
    var answer = local
    let level = min(local.integer("level-id") ?? 93, remote.integer("level-id") ?? 93)
    answer["level-id"] = "\(level)"
    return answer
  }
}
