public import SoraMedia

extension ICEAgent {
  /// Tells a lite agent that authentic traffic (SRTP, DTLS) has come from the peer on the selected pair. Cheap enough for every packet.
  ///
  /// A full agent ignores it: only responses to its checks are consent (RFC 7675 §5.1).
  public func noteTraffic(at now: Instant) {
    advance(to: now)
    if configuration.isLite, selected != nil { hear() }
  }

  /// Tells whether the server of our relay owes an answer, or is being asked for another allocation. Meanwhile silence on a pair of the
  /// relay's says nothing of the peer, and consent lasts for up to `Configuration.relayedConsentTimeout`.
  public func noteRelay(isInDoubt: Bool, at now: Instant) {
    advance(to: now)
    if isRelayInDoubt { relayDoubtedUntil = self.now }
    isRelayInDoubt = isInDoubt
  }

  /// Sends what is due, and notices what took too long.
  public func poll(at now: Instant) {
    advance(to: now)
    guard isActive, startedAt != nil else { return }
    if let forgetPreviousAt, forgetPreviousAt <= self.now {
      previous = nil
      self.forgetPreviousAt = nil
    }
    runConsent()
    runTransactions()
    runChecks()
    if let nominateAt, nominateAt <= self.now { considerNominating() }
    runFailure()
  }

  /// When `poll` wants to be called next; `nil` for never. May be in the past, which means at once.
  public var nextDeadline: Instant? {
    guard isActive, let startedAt else { return nil }
    var deadline = earliest(nominateAt, forgetPreviousAt)
    for transaction in transactions { deadline = earliest(deadline, transaction.deadline) }
    if hasCheckToSend { deadline = earliest(deadline, nextCheckAt) }
    if selected != nil {
      deadline = earliest(deadline, nextConsentAt)
      deadline = earliest(deadline, consentEnd)
      if state == .connected || state == .completed {
        deadline = earliest(deadline, lastHeard + configuration.disconnectedTimeout)
      }
    }
    if isSearching {
      deadline = earliest(deadline, (readyAt ?? startedAt) + configuration.connectTimeout)
      if isExhausted, let readyAt {
        deadline = earliest(deadline, readyAt + configuration.patience)
      }
    }
    return deadline
  }

  // MARK: Consent (RFC 7675)

  /// The selected peer gave a sign of life.
  func hear() {
    lastHeard = now
    consentChecksUnanswered = 0
    if configuration.isLite {
      nextConsentAt = configuration.liteAsksWhenSilent ? now + .seconds(2) : nil
    } else {
      // §5.1: randomised by ±20 %, so that many agents don't fall into step.
      let permille = 800 + Int64(random.next() % 401)
      nextConsentAt =
        now + .nanoseconds(configuration.consentInterval.wholeNanoseconds / 1000 * permille)
    }
    if state == .disconnected, selectedIsCurrent, let selected {
      change(to: selected.isNominated ? .completed : .connected)
    }
  }

  /// When consent is lost, unless the peer is heard before.
  private var consentEnd: Instant {
    let soon = lastHeard + configuration.consentTimeout
    guard let selected else { return soon }
    let late = max(soon, lastHeard + configuration.relayedConsentTimeout)
    if selected.remote.candidate.type == .relay { return late }
    guard selected.local.base.type == .relay else { return soon }
    if isRelayInDoubt { return late }
    // The peer's time begins when the relay is there again.
    return relayDoubtedUntil.map { max(soon, min(late, $0 + configuration.consentTimeout)) } ?? soon
  }

  private func runConsent() {
    guard let pair = selected else { return }
    let silence = now - lastHeard
    if now >= consentEnd {
      if selectedIsCurrent { return loseConsent() }
      // The pair of before a restart is gone; the search for the next goes on.
      selected = nil
      selectedPair = nil
      nextConsentAt = nil
      return
    }
    if silence >= configuration.disconnectedTimeout, state == .connected || state == .completed {
      change(to: .disconnected)
      recheckOthers()
    }
    if let due = nextConsentAt, due <= now {
      if consentChecksUnanswered == 2, selectedIsCurrent, !configuration.isLite {
        events.append(.selectedPairSilent)
      }
      consentChecksUnanswered += 1
      // What stood on a base that is gone has nowhere to be asked from.
      if !selectedIsGone { sendRequest(on: pair, .consent) }
      // `hear` slows down again. Until then many askings tell a link that loses a third of all datagrams from a dead one.
      let pause: Duration =
        silence >= configuration.consentTimeout
        ? configuration.consentInterval
        : state == .disconnected ? .milliseconds(100) : .milliseconds(250)
      let roundTrip = pair.currentRoundTripTime ?? .zero
      nextConsentAt = now + min(max(pause, roundTrip), .seconds(1))
    }
  }

  /// The selected pair is silent: finds out whether another way still works. Those that were worse than it are tried too, at both
  /// sides, since each opens its own translator; the controlling side chooses.
  private func recheckOthers() {
    reviveFrozen()
    guard isControlling else { return }
    for pair in pairs where pair !== selected && pair.state == .succeeded {
      pair.state = .waiting
      triggered.append(pair)
    }
  }

  func loseConsent() {
    stop()
    events.append(.consentLost)
    change(to: .failed)
  }

  // MARK: Failure

  private var isSearching: Bool {
    // After a restart the old way is good until the peer's description comes, whenever that is.
    state == .checking && !selectedIsCurrent && (readyAt != nil || selected == nil)
  }

  /// Whether nothing is left that could still succeed, but for what the peer may start.
  private var isExhausted: Bool {
    remoteEnded && !isGathering && readyAt != nil && !configuration.isLite && triggered.isEmpty
      && !pairs.contains { $0.state == .waiting || $0.state == .inProgress }
  }

  private func runFailure() {
    guard isSearching, let startedAt else { return }
    let begin = readyAt ?? startedAt
    guard
      now >= begin + configuration.connectTimeout
        || isExhausted && now >= begin + configuration.patience
    else { return }
    stop()
    change(to: .failed)
  }
}
