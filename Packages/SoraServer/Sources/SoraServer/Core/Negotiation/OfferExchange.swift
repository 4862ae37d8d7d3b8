package import SoraMedia

/// Offers of one connection and their answers, one exchange at a time: what changes meanwhile is offered afterwards.
package struct OfferExchange {
  private enum State {
    /// Nothing was offered.
    case fresh
    case offered(answerBy: Instant, isFirst: Bool)
    case settled
    /// The client has offered, and nothing is offered to it.
    case answered
  }

  /// Names the session in `o=` lines.
  package let sessionNumber: UInt64
  /// Rises with each offer.
  package private(set) var version: UInt64 = 0
  /// Whether something changed while an offer was under way.
  package private(set) var isWanted = false
  private var state = State.fresh

  package init(sessionNumber: UInt64) { self.sessionNumber = sessionNumber }

  /// When the answer to the offer that is under way has to be there; nil with none under way.
  package var answerBy: Instant? {
    if case .offered(let answerBy, _) = state { answerBy } else { nil }
  }

  /// An offer is made.
  package mutating func offer(answerBy: Instant) {
    version += 1
    let isFirst = if case .fresh = state { true } else { false }
    state = .offered(answerBy: answerBy, isFirst: isFirst)
  }

  /// The client's own offer is answered: it gets none.
  package mutating func answer() {
    version += 1
    state = .answered
  }

  /// Whether the client is never offered anything.
  package var isAnswered: Bool {
    if case .answered = state { true } else { false }
  }

  /// Another offer is wanted.
  ///
  /// - Returns: whether it may be made now; else it waits for the answer.
  package mutating func want() -> Bool {
    if case .settled = state { isWanted = false } else { isWanted = true }
    return !isWanted
  }

  /// The answer to the offer that is under way is taken.
  ///
  /// - Returns: whether it is the connection's first.
  package mutating func settle() -> Bool {
    guard case .offered(_, let isFirst) = state else { return false }
    state = .settled
    return isFirst
  }
}
