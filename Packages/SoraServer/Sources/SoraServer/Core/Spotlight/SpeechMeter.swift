package import SoraMedia
package import SoraRTP

/// Tells by the levels of one publisher's audio packets (RFC 6464) whether it speaks.
///
/// Sound is smoothed, and fills a reservoir of time that silence drains: a cough doesn't fill it up to the mark, and a pause for
/// breath doesn't empty it. Senders that stop sending in silence drain it, too. Plain memory and no clock of its own.
package struct SpeechMeter {
  /// Speech at a usual distance has 20 to 40 dB below the loudest, a quiet room 60 and more. Between the two nothing changes.
  private static let loud = 127.0 - 50
  private static let quiet = 127.0 - 58
  /// The time in which the smoothed level follows.
  private static let smoothing = 0.03
  /// What one packet may stand for: of a gap nothing is known.
  private static let longestPacket = Duration.milliseconds(120)
  /// Pauses up to this length don't end a speech that has gone on for as long.
  private static let longestPause = Duration.milliseconds(1500)

  private let mark: Duration
  private var isLoud = false
  private var isMarked = false
  private var reservoir = Duration.zero
  private var heardAt: Instant?
  private var loudAt: Instant?
  /// When the reservoir reached the mark.
  private var since: Instant?
  /// dB above silence, smoothed.
  package private(set) var loudness = 0.0

  /// - Parameter delay: the sound that makes a speech, up to 1.5 seconds.
  package init(delay: Duration) {
    mark = min(max(delay, .milliseconds(20)), Self.longestPause)
  }

  /// Takes a packet's level. What the sender itself takes for voice is of no matter: most can't tell.
  package mutating func hear(_ level: RTPAudioLevel, at now: Instant) {
    let elapsed = heardAt.map { min(max(now - $0, .zero), Self.longestPacket) } ?? .zero
    drain(at: now)
    heardAt = max(heardAt ?? now, now)
    let value = 127 - Double(level.level)
    let seconds = Double(elapsed.components.attoseconds) / 1e18
    loudness += (value - loudness) * (seconds / (seconds + Self.smoothing))
    isLoud = loudness >= (isLoud ? Self.quiet : Self.loud)
    guard isLoud else { return }
    loudAt = heardAt
    // What the packet was taken to drain is given back.
    reservoir = min(reservoir + elapsed * 2, Self.longestPause)
    if reservoir >= mark, !isMarked {
      isMarked = true
      since = now
    }
  }

  private mutating func drain(at now: Instant) {
    reservoir = rest(at: now)
    if reservoir == .zero {
      isMarked = false
      since = nil
    }
  }

  private func rest(at now: Instant) -> Duration {
    guard let heardAt else { return .zero }
    return max(.zero, reservoir - max(.zero, now - heardAt))
  }

  /// Whether there was sound just now, speech or not.
  package func isHeard(at now: Instant) -> Bool { rest(at: now) > .zero }

  /// For how long there has been no sound; nil where there never was.
  package func silence(at now: Instant) -> Duration? { loudAt.map { max(.zero, now - $0) } }

  /// Whether it speaks, with its last packet.
  package var isSpeaking: Bool { isLoud && isMarked }

  /// For how long it has spoken, pauses included; nil where it doesn't.
  package func duration(at now: Instant) -> Duration? {
    isSpeaking ? since.map { now - $0 } : nil
  }
}
