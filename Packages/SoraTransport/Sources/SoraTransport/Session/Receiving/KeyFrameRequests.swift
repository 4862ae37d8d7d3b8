public import SoraMedia

/// When the sender of a video is to be asked for a key frame. Plain memory.
public struct KeyFrameRequests: Sendable {
  private enum Wish: Sendable {
    case none
    /// One request, not before this instant.
    case once(Instant)
    /// Requests until a key frame comes: one can get lost.
    case untilAnswered
  }

  private var wish = Wish.none
  private var lastSent: Instant?
  /// Requests since the last key frame came.
  private var unanswered = 0

  public init() {}

  /// Asks with the next poll, and again until a key frame comes.
  public mutating func askUntilAnswered() { wish = .untilAnswered }

  /// Asks once, but not sooner than `interval` after the last request: the key frame under way may be the answer.
  public mutating func askOnce(interval: Duration, at now: Instant) {
    if case .untilAnswered = wish { return }
    let due = lastSent.map { max(now, $0 + interval) } ?? now
    if case .once(let earlier) = wish { wish = .once(min(earlier, due)) } else { wish = .once(due) }
  }

  /// A key frame has come.
  public mutating func answered() {
    unanswered = 0
    if case .untilAnswered = wish { wish = .none }
  }

  /// What was asked for once, and not sent yet, isn't wanted any more.
  public mutating func withdraw() {
    if case .once = wish { wish = .none }
  }

  /// How long an answer is waited for: two round trips, and longer of a sender that doesn't answer.
  private func interval(_ roundTrip: Duration?) -> Duration {
    let base = max((roundTrip ?? .milliseconds(100)) * 2, .milliseconds(200))
    return min(base, .seconds(1)) * (unanswered > 5 ? 5 : 1)
  }

  /// When a request is due; nil where none is wanted.
  public func deadline(roundTrip: Duration?) -> Instant? {
    switch wish {
    case .none: nil
    case .once(let due): due
    case .untilAnswered: lastSent.map { $0 + interval(roundTrip) } ?? .zero
    }
  }

  /// Whether to send a request now; it counts as sent then.
  public mutating func take(roundTrip: Duration?, at now: Instant) -> Bool {
    guard let due = deadline(roundTrip: roundTrip), due <= now else { return false }
    if case .once = wish { wish = .none }
    sent(at: now)
    return true
  }

  /// Whether to send a request that somebody else has timed, unless an answer to the last one may still be on its way.
  public mutating func takeAtOnce(roundTrip: Duration?, at now: Instant) -> Bool {
    if let lastSent, now - lastSent < interval(roundTrip) { return false }
    sent(at: now)
    return true
  }

  private mutating func sent(at now: Instant) {
    lastSent = now
    unanswered += 1
  }
}
