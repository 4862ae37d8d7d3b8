public import SoraMedia

extension ICEAgent {
  /// Tells a lite agent that authentic traffic (SRTP, DTLS) has come from the peer on the selected pair. Cheap enough for every packet.
  ///
  /// A full agent ignores it: only responses to its checks are consent (RFC 7675 §5.1).
  public func noteTraffic(at now: Instant) {
    advance(to: now)
    if configuration.isLite, selection.pair != nil { hear() }
  }

  /// Tells whether the server of our relay owes an answer, or is being asked for another allocation. Meanwhile silence on a pair of the
  /// relay's says nothing of the peer, and consent lasts for up to `Configuration.relayedConsentTimeout`.
  public func noteRelay(isInDoubt: Bool, at now: Instant) {
    advance(to: now)
    consent.noteRelay(isInDoubt: isInDoubt, at: self.now)
  }

  /// Sends what is due, and notices what took too long.
  public func poll(at now: Instant) {
    advance(to: now)
    guard isActive, generation.search.since != nil else { return }
    generation.credentials.expire(at: self.now)
    runConsent()
    runTransactions()
    runChecks()
    if let end = nomination.deadline, end <= self.now { considerNominating() }
    runFailure()
  }

  /// When `poll` wants to be called next; `nil` for never. May be in the past, which means at once.
  public var nextDeadline: Instant? {
    guard isActive, let searchedSince = generation.search.since else { return nil }
    var deadline = earliest(nomination.deadline, generation.credentials.deadline)
    deadline = earliest(deadline, transactions.deadline)
    if isChecking { deadline = earliest(deadline, generation.checklist.nextCheckAt) }
    if let selected = selection.pair {
      deadline = earliest(deadline, consent.nextCheckAt)
      deadline = earliest(deadline, consent.end(over: selected.relaying))
      if state == .connected || state == .completed {
        deadline = earliest(deadline, consent.silentFrom)
      }
    }
    if isSearching {
      deadline = earliest(deadline, searchedSince + configuration.connectTimeout)
      if isExhausted { deadline = earliest(deadline, searchedSince + configuration.patience) }
    }
    return deadline
  }

  // MARK: Consent (RFC 7675)

  /// The selected peer gave a sign of life.
  func hear() {
    consent.hear(at: now, random)
    if state == .disconnected, selection.isCurrent, let selected = selection.pair {
      change(to: selected.isNominated ? .completed : .connected)
    }
  }

  private func runConsent() {
    guard let pair = selection.pair else { return }
    if now >= consent.end(over: pair.relaying) {
      if selection.isCurrent { return loseConsent() }
      // The pair of before a restart is gone; the search for the next goes on.
      return deselect()
    }
    if consent.isSilent(at: now), state == .connected || state == .completed {
      change(to: .disconnected)
      recheckOthers()
    }
    let isDisconnected = state == .disconnected
    guard
      let unanswered = consent.takeCheck(
        at: now, isDisconnected: isDisconnected, roundTrip: pair.record.currentRoundTripTime)
    else { return }
    if unanswered == 2, selection.isCurrent, !configuration.isLite {
      output.tell(.selectedPairSilent)
    }
    // What stood on a base that is gone has nowhere to be asked from.
    if !selection.isStranded { sendRequest(on: pair, .consent) }
  }

  /// The selected pair is silent: finds out whether another way still works. Those that were worse than it are tried too, at both
  /// sides, since each opens its own translator; the controlling side chooses.
  private func recheckOthers() {
    reviveFrozen()
    guard isControlling else { return }
    generation.checklist.recheckValid(except: selection.pair)
  }

  func loseConsent() {
    stop()
    output.tell(.consentLost)
    change(to: .failed)
  }

  // MARK: Failure

  private var isSearching: Bool {
    // After a restart the old way is good until the peer's description comes, whenever that is.
    state == .checking && !selection.isCurrent
      && (generation.search.isChecking || selection.pair == nil)
  }

  /// Whether nothing is left that could still succeed, but for what the peer may start.
  private var isExhausted: Bool {
    isChecking && isSearchComplete && !generation.checklist.hasCheck
  }

  private func runFailure() {
    guard isSearching, let begin = generation.search.since else { return }
    guard
      now >= begin + configuration.connectTimeout
        || isExhausted && now >= begin + configuration.patience
    else { return }
    stop()
    change(to: .failed)
  }
}
