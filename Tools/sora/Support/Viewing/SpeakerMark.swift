package import SoraMedia

/// Who of a channel speaks: whoever is loud, and for a moment after that, so that the mark doesn't flicker between words.
package struct SpeakerMark: Sendable {
  /// dB relative to full scale: quiet speech is louder, a quiet room is not.
  package static let threshold = -45.0
  /// Longer than the pause between two words.
  package static let hold = Duration.milliseconds(600)

  private var lastLoud: [String: Instant] = [:]

  package init() {}

  /// Takes how loud a stream was just now.
  ///
  /// - Parameter levelDb: relative to full scale; nil for silence.
  package mutating func hear(_ streamId: String, levelDb: Double?, at now: Instant) {
    if let levelDb, levelDb > Self.threshold { lastLoud[streamId] = now }
  }

  package mutating func remove(_ streamId: String) { lastLoud[streamId] = nil }

  package func speaks(_ streamId: String, at now: Instant) -> Bool {
    lastLoud[streamId].map { now - $0 <= Self.hold } ?? false
  }
}
