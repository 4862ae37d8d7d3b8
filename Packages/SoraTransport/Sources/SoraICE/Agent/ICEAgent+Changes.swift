public import SoraMedia
public import SoraWire

/// What changes while a session runs: interfaces and allocations that go, better ways that come.
extension ICEAgent {
  /// Whether an address is the peer's: one that was signalled, that a check of the peer's came from, or that is sent to.
  public func knows(_ remote: TransportAddress) -> Bool {
    selection.pair?.remote.address == remote || generation.peer[remote] != nil
  }

  /// Takes away every candidate with a base that is gone: a socket of an interface that went down, an allocation that was lost.
  ///
  /// Where the selected pair stood on it, another pair that works takes over at once; without one the state becomes `.disconnected`, and
  /// the search goes on with what candidates there are until consent runs out.
  public func removeLocalCandidates(base: TransportAddress, at now: Instant) {
    advance(to: now)
    guard locals.contains(base: base) else { return }
    locals.remove(base: base)
    let isGone = { (pair: CandidatePair) in pair.local.base.address == base }
    generation.checklist.remove(where: isGone)
    transactions.cancelAll(on: base)
    nomination.withdraw(where: isGone)
    guard isActive, let selected = selection.pair, isGone(selected) else {
      return considerNominating()
    }
    if selection.isCurrent {
      selection.strand()
      if state == .connected || state == .completed { change(to: .disconnected) }
    }
    // RFC 8445 §12.1: any valid pair may be used; the controlling side nominates it anew.
    if let best = generation.checklist.bestValid() {
      considerSelecting(best)
      considerNominating()
    }
    reviveFrozen()
  }

  /// Lets the pairs be checked that were left aside when another was nominated, as far as they are worth more than `priority`.
  func reviveFrozen(above priority: UInt64 = 0) {
    guard !configuration.isLite else { return }
    generation.checklist.revive(above: priority, at: now)
  }
}
