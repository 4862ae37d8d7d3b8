import SoraNAL
import SoraSDP

extension H264ProfileLevelID {
  /// What `profile-level-id` says; absent, it means Baseline at level 1 (RFC 6184 §8.1). Nil for what isn't known.
  init?(_ parameters: FormatParameters) {
    guard let text = parameters["profile-level-id"] else {
      self = .absent
      return
    }
    self.init(text)
  }

  /// RFC 6184 §8.2.2: the profile must agree, as the packetization mode must; the level is each side's own where both allow that, else
  /// the lower.
  static func answer(local: FormatParameters, remote: FormatParameters) -> FormatParameters? {
    guard var ours = H264ProfileLevelID(local), let theirs = H264ProfileLevelID(remote),
      ours.profile == theirs.profile
    else { return nil }
    var answer = local
    let isAsymmetric =
      local.integer("level-asymmetry-allowed") == 1
      && remote.integer("level-asymmetry-allowed") == 1
    if !isAsymmetric {
      answer["level-asymmetry-allowed"] = nil
      if theirs.level < ours.level {
        ours.level = theirs.level
        answer["profile-level-id"] = ours.description
      }
    }
    return answer
  }
}
