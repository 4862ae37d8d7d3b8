import SoraMedia

/// How long a server keeps an allocation, and when it is asked to keep it longer (RFC 8656 §3.2, §8).
struct TURNLease {
  /// Since when the server has owed an answer to a Refresh before its time.
  private(set) var unansweredSince: Instant?
  private var refreshAt: Instant?
  private var expiresAt: Instant?
  /// The next indication that keeps a translator's mapping; nil where none is sent.
  private var keepaliveAt: Instant?

  /// The server grants so many seconds from now on.
  mutating func granted(_ lifetime: UInt32, at now: Instant) {
    // An hour is the most that RFC 8656 §7.2 has a server grant; a day bounds nonsense.
    let seconds = Int64(min(lifetime, 86_400))
    unansweredSince = nil
    expiresAt = now + .seconds(seconds)
    refreshAt = now + .seconds(seconds > 120 ? seconds - 60 : max(1, seconds / 2))
  }

  /// A Refresh is sent before its time, to hear whether there still is an allocation.
  mutating func verify(at now: Instant) {
    unansweredSince = now
    refreshAt = nil
  }

  /// A Refresh wasn't answered: another is sent then.
  mutating func askAgain(at instant: Instant) { refreshAt = instant }

  mutating func keepAlive(at instant: Instant) { keepaliveAt = instant }

  func isOver(at now: Instant) -> Bool { expiresAt.map { $0 <= now } ?? false }

  /// Whether a Refresh is to be sent now. True once.
  mutating func takeRefresh(at now: Instant) -> Bool {
    guard let refreshAt, refreshAt <= now else { return false }
    self.refreshAt = nil
    return true
  }

  func isKeepaliveDue(at now: Instant) -> Bool { keepaliveAt.map { $0 <= now } ?? false }

  var nextDeadline: Instant? { earliest(earliest(refreshAt, expiresAt), keepaliveAt) }
}
