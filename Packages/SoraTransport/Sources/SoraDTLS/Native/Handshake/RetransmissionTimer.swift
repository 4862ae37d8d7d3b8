package import SoraMedia

/// When a flight is sent again (RFC 6347 §4.2.4.1, RFC 9147 §5.8.2).
package struct RetransmissionTimer {
  /// Timeouts after which datagrams become smaller, as a path may swallow large ones (RFC 9147 §4.4).
  private static let timeoutsBeforeSmallDatagrams = 3

  /// How patient an end is.
  package struct Patience {
    /// Until a flight is sent again for the first time; each further time it takes twice as long.
    package let first: Duration
    /// What the doubling ends at.
    package let longest: Duration
    /// Times a flight is sent again at most.
    package let limit: Int

    package init(first: Duration, longest: Duration, limit: Int) {
      self.first = first
      self.longest = longest
      self.limit = limit
    }
  }

  private let patience: Patience
  /// Until the next time the flight is sent.
  private var timeout: Duration
  /// Timeouts so far.
  private var timeouts = 0
  /// When the flight was last sent, as a whole or in part.
  private var lastSent: Instant
  /// From the last transmission to the first answer: the path's round trip, or less where an earlier transmission was
  /// answered.
  private var roundTrip: Duration?
  /// When it fires; nil where it doesn't run.
  package private(set) var deadline: Instant?

  /// For a flight that is sent now.
  ///
  /// - Parameters:
  ///   - patience: how patient this end is.
  ///   - previous: the timer of the flight before, which has measured the path.
  ///   - runs: whether the flight is sent again without being asked for.
  ///   - now: the present time.
  package init(
    _ patience: Patience, after previous: RetransmissionTimer?, runs: Bool, at now: Instant
  ) {
    self.patience = patience
    let measured = previous?.roundTrip.map { $0 * 3 / 2 } ?? .zero
    timeout = min(max(patience.first, measured), patience.longest)
    lastSent = now
    if runs { deadline = now + timeout }
  }

  /// Whether datagrams are to be small from now on.
  package var doubtsLargeDatagrams: Bool { timeouts >= Self.timeoutsBeforeSmallDatagrams }

  /// A first answer to the flight came.
  package mutating func answered(at now: Instant) {
    if roundTrip == nil { roundTrip = now - lastSent }
  }

  /// Something of the flight arrived, so the path works: begins with short timeouts again.
  package mutating func arrived(at now: Instant) {
    timeouts = 0
    restart(at: now)
  }

  /// The flight, or a part of it, is sent again.
  package mutating func resent(at now: Instant) { lastSent = now }

  /// Waits anew, where it runs.
  package mutating func restart(at now: Instant) {
    if deadline != nil { deadline = now + timeout }
  }

  package mutating func stop() { deadline = nil }

  /// It has fired; `false` where patience is at its end.
  package mutating func fired(at now: Instant) -> Bool {
    guard timeouts < patience.limit else { return false }
    timeouts += 1
    timeout = min(timeout * 2, patience.longest)
    deadline = now + timeout
    return true
  }

  /// Whether the flight is probably lost where the peer repeats itself, and not still under way.
  package func isAnswerOverdue(at now: Instant) -> Bool { now - lastSent >= timeout / 2 }
}
