import SoraMedia

extension ICEAgent {
  /// Uses a pair that works before any is nominated, as RFC 8445 §12.1 allows: DTLS begins a round trip earlier.
  func considerSelecting(_ pair: CandidatePair) {
    guard readyAt != nil, nominating == nil, pair.state == .succeeded else { return }
    if let selected, selectedIsCurrent, !selectedIsGone,
      selected.isNominated || selected.priority >= pair.priority
    {
      return
    }
    select(pair)
  }

  /// Regular nomination by the controlling side (RFC 8445 §8.1.1): the best pair that works, as soon as nothing better is likely.
  func considerNominating() {
    // Where there is nothing to nominate there is nothing to wait for: a deadline that stayed behind in the past would
    // have its owner poll for ever.
    let waitsUntil = nominateAt
    nominateAt = nil
    guard isControlling, isActive, nominating == nil else { return }
    // A nominated pair is left when it has gone silent, or for a better one that came to work later: every peer takes a nomination of
    // higher priority (RFC 5245 §8.1.1.2's aggressive ones came in any order).
    let silent = state == .disconnected ? selected : nil
    guard
      let best = pairs.filter({ $0.state == .succeeded && $0 !== silent })
        .max(by: { $0.priority < $1.priority })
    else { return }
    if selectedIsCurrent, let selected, selected.isNominated, silent == nil,
      !mayReplaceSelected(best)
    {
      return
    }
    let isBetterPossible = pairs.contains {
      $0.priority > best.priority && ($0.state == .waiting || $0.state == .inProgress)
    }
    if isBetterPossible {
      let deadline = waitsUntil ?? now + configuration.nominationDelay
      guard deadline <= now else {
        nominateAt = deadline
        return
      }
    }
    // It has to prove itself before it may come back.
    if let silent, silent.state == .succeeded { silent.state = .waiting }
    nominating = best
    if best !== selected { select(best) }
    sendRequest(on: best, .nomination)
  }

  /// The peer has answered our USE-CANDIDATE (RFC 8445 §7.2.5.3.4).
  func confirmNomination(of pair: CandidatePair) {
    if nominating === pair { nominating = nil }
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
    guard readyAt != nil else { return }
    if let selected, selectedIsCurrent, selected !== pair, selected.isNominated,
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
    let best = pairs.filter { $0.state == .succeeded }
      .max { ($0.isNominated ? 1 : 0, $0.priority) < ($1.isNominated ? 1 : 0, $1.priority) }
    guard let best else { return }
    select(best)
    if best.isNominated { concludeChecks() }
  }

  /// RFC 8445 §8.1.2: what can't become better isn't checked any more.
  private func concludeChecks() {
    guard let selected else { return }
    // RFC 8445 §8.3 has a concluded agent answer old checks for three seconds.
    if previous != nil, forgetPreviousAt == nil { forgetPreviousAt = now + .seconds(3) }
    for pair in pairs where pair !== selected {
      guard pair.state == .waiting || pair.state == .inProgress else { continue }
      // A better pair may still come: of ours, or nominated by the peer.
      guard pair.priority < selected.priority else { continue }
      pair.state = .frozen
    }
    triggered.removeAll { $0.state != .waiting }
    transactions.cancelChecksOfFrozenPairs()
    nominateAt = nil
  }

  /// Sends on a pair from now on.
  private func select(_ pair: CandidatePair) {
    let old = selectedPair
    let isOther = selected !== pair || !selectedIsCurrent
    // A new allocation may have the address of the one that is gone.
    let isMadeAnew = selectedIsGone
    selected = pair
    selectedIsCurrent = true
    selectedIsGone = false
    publishSelected()
    if isMadeAnew || old?.local != selectedPair?.local || old?.remote != selectedPair?.remote {
      output.tell(
        .selectedPair(local: pair.local.base.address, remote: pair.remote.address))
    }
    // Selecting anew what is selected says nothing about silence.
    if isOther {
      statistics.currentRoundTripTime = pair.currentRoundTripTime
      hear()
    }
    if state == .checking || state == .connected || state == .completed || isOther && isActive {
      change(to: pair.isNominated ? .completed : .connected)
    }
  }

  func publishSelected() {
    guard let selected else {
      selectedPair = nil
      return
    }
    selectedPair = ICEPair(
      base: selected.local.base, remote: selected.remote.address,
      localType: localCandidate(of: selected).type, remoteType: selected.remote.candidate.type,
      isNominated: selected.isNominated, roundTripTime: selected.currentRoundTripTime)
  }
}
