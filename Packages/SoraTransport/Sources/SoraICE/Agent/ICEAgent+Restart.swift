public import SoraMedia

/// Starting over with new credentials (RFC 8445 §9), and taking that back.
extension ICEAgent {
  /// All that a restart replaces: with it the agent can go back to the generation before.
  struct Generation {
    let localParameters: ICEParameters
    let remoteParameters: ICEParameters
    let role: ICERole
    let remotes: [RemoteCandidate]
    let unresolved: [ICECandidate]
    let remoteEnded: Bool
    let pairs: [CandidatePair]
    let checksSent: Int
    let startedAt: Instant?
    let readyAt: Instant?
    let isFailed: Bool
    let selectedIsCurrent: Bool
    let previous: Credentials?
    let forgetPreviousAt: Instant?
  }

  /// Credentials for a restart that is only described yet: give them to `restart` once the description is in force.
  public func makeParameters() -> ICEParameters {
    ICEAgent.makeParameters(random, isLite: configuration.isLite)
  }

  /// Starts over with new credentials (RFC 8445 §9), also after the agent has failed. Signal `localParameters` and the candidates
  /// again, then set the peer's.
  ///
  /// Local candidates stay. So does the selected pair until a new one works; its consent is still checked, and the old credentials are
  /// taken until three seconds after a new pair was nominated. Without an answer of the peer's the old way serves as before; until
  /// then `rollBackRestart` takes the restart back.
  ///
  /// - Parameters:
  ///   - parameters: what `makeParameters` gave; without it, new ones are made.
  ///   - now: the present time.
  public func restart(with parameters: ICEParameters? = nil, at now: Instant) {
    advance(to: now)
    guard state != .closed else { return }
    if let remoteParameters {
      replaced = Generation(
        localParameters: localParameters, remoteParameters: remoteParameters,
        role: role, remotes: remotes, unresolved: unresolved, remoteEnded: remoteEnded,
        pairs: pairs, checksSent: checksSent, startedAt: startedAt, readyAt: readyAt,
        isFailed: state == .failed, selectedIsCurrent: selection.isCurrent, previous: previous,
        forgetPreviousAt: forgetPreviousAt)
    }
    selection.leaveBehind()
    // There may be no old way to go on with.
    if selection.pair == nil { deselect() }
    // That of the pair in use: an earlier restart may have come to nothing.
    previous = selection.pair?.credentials
    forgetPreviousAt = nil
    localParameters = parameters ?? makeParameters()
    role.drawTieBreaker(random)
    remoteParameters = nil
    remotes = []
    unresolved = []
    remoteEnded = false
    pairs = []
    forgetChecks()
    checksSent = 0
    readyAt = nil
    if startedAt != nil || state == .failed {
      startedAt = self.now
      change(to: .checking)
    }
  }

  /// Takes back a restart whose description was rolled back (RFC 9429 §5.7): the credentials, candidates and pairs of before are those
  /// in force again. What came to `addRemoteCandidate` meanwhile is kept. Does nothing once the peer has agreed to the restart.
  public func rollBackRestart(at now: Instant) {
    advance(to: now)
    guard let old = replaced, state != .closed else { return }
    let (remotesMeanwhile, unresolvedMeanwhile) = (remotes, unresolved)
    replaced = nil
    forgetChecks()
    localParameters = old.localParameters
    remoteParameters = old.remoteParameters
    role.takeTieBreaker(of: old.role)
    remotes = old.remotes
    unresolved = old.unresolved
    remoteEnded = old.remoteEnded
    checksSent = old.checksSent
    startedAt = old.startedAt
    readyAt = old.readyAt
    previous = old.previous
    forgetPreviousAt = old.forgetPreviousAt
    nextCheckAt = self.now
    // An address may have gone, or a conflict turned us round.
    pairs = old.pairs.filter { pair in
      locals.contains { $0.base.address == pair.local.base.address }
    }
    for pair in pairs {
      pair.updatePriority(isControlling: isControlling)
      if pair.state == .inProgress { pair.state = .waiting }
    }
    restoreState(old)
    for local in locals { for remote in remotes { pairUp(local, remote) } }
    for remote in remotesMeanwhile where remote.candidate.type != .prflx {
      addRemoteCandidate(remote.candidate)
    }
    for candidate in unresolvedMeanwhile
    where !unresolved.contains(candidate)
      && remoteCandidateCount < configuration.maxRemoteCandidates
    {
      unresolved.append(candidate)
    }
    considerNominating()
  }

  private func restoreState(_ old: Generation) {
    if old.selectedIsCurrent { selection.takeBack() } else { selection.leaveBehind() }
    if old.isFailed {
      stop()
      change(to: .failed)
    } else if selection.isCurrent, let selected = selection.pair {
      let isSilent = consent.isSilent(at: now)
      change(to: isSilent ? .disconnected : selected.isNominated ? .completed : .connected)
    } else if selection.pair == nil, startedAt != nil {
      // The way of then has died meanwhile: its candidates are worth another search.
      startedAt = now
      readyAt = now
      for pair in pairs {
        pair.state = .waiting
        pair.isNominated = false
      }
      change(to: .checking)
    }
  }

  /// Forgets all checks under way but those of consent.
  private func forgetChecks() {
    triggered = []
    transactions.cancelChecks()
    nomination = .none
  }
}
