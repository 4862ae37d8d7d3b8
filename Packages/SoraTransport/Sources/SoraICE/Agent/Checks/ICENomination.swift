package import SoraMedia

/// How far the controlling side is with its nomination (RFC 8445 §8.1.1).
package enum ICENomination {
  case none
  /// A better pair than the best that works is waited for.
  case waiting(until: Instant)
  /// USE-CANDIDATE has been sent on a pair.
  case asked(CandidatePair)

  /// The pair whose nomination is to be answered.
  package var pair: CandidatePair? {
    if case .asked(let pair) = self { pair } else { nil }
  }

  /// When the wait for a better pair ends.
  package var deadline: Instant? {
    if case .waiting(let end) = self { end } else { nil }
  }

  package mutating func stopWaiting() {
    if case .waiting = self { self = .none }
  }

  /// The answer isn't waited for any more, where the pair is one of those.
  package mutating func withdraw(where isMeant: (CandidatePair) -> Bool) {
    if let pair, isMeant(pair) { self = .none }
  }
}
