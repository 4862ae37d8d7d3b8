import SoraMedia

extension ICEAgent {
  /// Uses a pair that works before any is nominated, as RFC 8445 §12.1 allows: DTLS begins a round trip earlier.
  func considerSelecting(_ pair: CandidatePair) {
    guard generation.search.isChecking, nomination.pair == nil, pair.state == .succeeded else {
      return
    }
    if !selection.isPreferred(to: pair) { select(pair) }
  }

  /// Regular nomination by the controlling side (RFC 8445 §8.1.1): the best pair that works, as soon as nothing better is likely.
  func considerNominating() {
    // Where there is nothing to nominate there is nothing to wait for: a deadline that stayed behind in the past would
    // have its owner poll for ever.
    let waitsUntil = nomination.deadline
    nomination.stopWaiting()
    guard isControlling, isActive, nomination.pair == nil else { return }
    // A nominated pair is left when it has gone silent, or for a better one that came to work later: every peer takes a nomination of
    // higher priority (RFC 5245 §8.1.1.2's aggressive ones came in any order).
    let silent = state == .disconnected ? selection.pair : nil
    guard let best = generation.checklist.bestValid(except: silent) else { return }
    if selection.isCurrent, selection.pair?.isNominated == true, silent == nil,
      !selection.mayBeReplaced(by: best)
    {
      return
    }
    if generation.checklist.mayImprove(on: best) {
      let deadline = waitsUntil ?? now + configuration.nominationDelay
      guard deadline <= now else {
        nomination = .waiting(until: deadline)
        return
      }
    }
    // It has to prove itself before it may come back.
    if let silent, silent.state == .succeeded { silent.state = .waiting }
    nomination = .asked(best)
    if best !== selection.pair { select(best) }
    sendRequest(on: best, .nomination)
  }

  /// The peer has answered our USE-CANDIDATE (RFC 8445 §7.2.5.3.4).
  func confirmNomination(of pair: CandidatePair) {
    nomination.withdraw { $0 === pair }
    pair.isNominated = true
    select(pair)
    concludeChecks()
    // A better one may have come to work while this one was waited for.
    considerNominating()
  }

  /// The controlling peer nominated a pair that works (RFC 8445 §7.3.1.5).
  func nominate(_ pair: CandidatePair) {
    pair.nominateOnSuccess = false
    pair.isNominated = true
    defer { pair.lastUseCandidate = now }
    guard generation.search.isChecking else { return }
    if let selected = selection.pair, selection.isCurrent, selected !== pair, selected.isNominated,
      pair.priority < selected.priority,
      // An aggressive peer nominates every pair it checks, and the best counts. A peer that moves over to a worse pair, as browsers
      // do when a network goes, has stopped nominating the other.
      let last = selected.lastUseCandidate, now - last < .milliseconds(1500)
    {
      return
    }
    select(pair)
    concludeChecks()
  }

  /// A lite agent may have been checked before it was started, or before it knew the peer's parameters.
  func selectBestHeard() {
    let best = generation.checklist.pairs.filter { $0.state == .succeeded }
      .max { ($0.isNominated ? 1 : 0, $0.priority) < ($1.isNominated ? 1 : 0, $1.priority) }
    guard let best else { return }
    select(best)
    if best.isNominated { concludeChecks() }
  }

  /// RFC 8445 §8.1.2: what can't become better isn't checked any more.
  private func concludeChecks() {
    guard let selected = selection.pair else { return }
    generation.credentials.conclude(at: now)
    generation.checklist.conclude(with: selected)
    transactions.cancelChecksOfFrozenPairs()
    nomination.stopWaiting()
  }

  /// Sends on a pair from now on.
  private func select(_ pair: CandidatePair) {
    let selected = selection.select(pair, localType: locals.end(of: pair).type)
    statistics.selectedCandidatePairChanges = selection.changes
    if selected.isMoved {
      output.tell(.selectedPair(local: pair.local.base.address, remote: pair.remote.address))
    }
    // Selecting anew what is selected says nothing about silence.
    if selected.isOther {
      statistics.currentRoundTripTime = pair.record.currentRoundTripTime
      hear()
    }
    if state == .checking || state == .connected || state == .completed
      || selected.isOther && isActive
    {
      change(to: pair.isNominated ? .completed : .connected)
    }
  }

  /// Tells what has changed about the pair in use.
  func publishSelected() {
    guard let pair = selection.pair else { return }
    selection.publish(localType: locals.end(of: pair).type)
  }
}
