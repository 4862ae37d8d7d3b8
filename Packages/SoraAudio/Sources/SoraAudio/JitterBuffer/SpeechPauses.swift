/// Tells from the level of what is played where a speaker pauses: there the delay can change without being heard.
///
/// Music and a tone have no pauses in this sense. Levels are mean squares relative to full scale.
struct SpeechPauses {
  /// So much quieter than the loudest is a pause: by 30 dB.
  private static let share = 0.001
  /// -60 dBov: nobody hears it.
  private static let inaudible = 1e-6
  /// Pulls in a row. Shorter silence is part of a word: the closure before a plosive.
  private static let length = 5
  /// The loudest is forgotten by 0.4 dB per second.
  private static let decay = 0.999

  /// At first -20 dBov, as of somebody who speaks at a usual level.
  private var loudest = 0.01
  private var quietPulls = 0

  /// Whether what was noted last belongs to a pause.
  var isPause: Bool { quietPulls >= Self.length }

  /// Takes note of the next 10 ms.
  mutating func add(_ level: Double) {
    loudest = max(loudest * Self.decay, level)
    quietPulls = isQuiet(level) ? min(quietPulls + 1, Self.length) : 0
  }

  /// Whether something of a level may belong to a pause.
  func isQuiet(_ level: Double) -> Bool { level < max(Self.inaudible, loudest * Self.share) }
}
