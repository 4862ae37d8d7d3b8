import SoraCongestion
import SoraMedia

/// What a session's encoders are told that the network leaves them.
struct EncoderTarget {
  /// A key frame's packets wait as long without harm.
  private static let usualWait = Duration.milliseconds(150)
  /// Seconds beyond `usualWait`, with which hardly anything is encoded.
  private static let longWait = 0.5
  private static let leastShare = 0.1

  /// Bits per second that they were told last.
  private var told: Int

  init(start: Bitrate) { told = start.bitsPerSecond }

  /// Takes what there is to tell. False where it has hardly changed.
  mutating func change(to bitrate: Int) -> Bool {
    guard abs(bitrate - told) > told / 50 else { return false }
    told = bitrate
    return true
  }

  /// What encoders may make, in bits per second.
  ///
  /// - Parameters:
  ///   - available: what the network takes.
  ///   - waiting: how long what waits in the pacer has waited. What is encoded next pays for it: the longer, the less there is.
  ///   - repairShare: repair packets that come on top of what encoders make, in proportion to that.
  static func bitrate(available: Bitrate, waiting: Duration, repairShare: Double) -> Int {
    let excess = (waiting - usualWait).inSeconds
    let backlogShare = min(1, max(leastShare, 1 - excess / longWait))
    return Int(Double(available.bitsPerSecond) * backlogShare / (1 + repairShare))
  }
}
