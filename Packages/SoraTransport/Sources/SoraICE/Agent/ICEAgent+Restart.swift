public import SoraMedia

/// Starting over with new credentials (RFC 8445 §9), and taking that back.
extension ICEAgent {
  /// With it the agent can go back to the generation before a restart.
  struct Replaced {
    let generation: ICEGeneration
    let role: ICERole
    let isFailed: Bool
    /// Whether the pair in use was of the generation.
    let isSelected: Bool
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
    if remoteParameters != nil {
      replaced = Replaced(
        generation: generation, role: role, isFailed: state == .failed,
        isSelected: selection.isCurrent)
    }
    selection.leaveBehind()
    // There may be no old way to go on with.
    if selection.pair == nil { deselect() }
    let isSought = generation.search.since != nil || state == .failed
    generation.restart(
      with: parameters ?? makeParameters(), answering: selection.pair?.credentials,
      at: isSought ? self.now : nil)
    role.drawTieBreaker(random)
    forgetChecks()
    if isSought { change(to: .checking) }
  }

  /// Takes back a restart whose description was rolled back (RFC 9429 §5.7): the credentials, candidates and pairs of before are those
  /// in force again. What came to `addRemoteCandidate` meanwhile is kept. Does nothing once the peer has agreed to the restart.
  public func rollBackRestart(at now: Instant) {
    advance(to: now)
    guard let old = replaced, state != .closed else { return }
    let meanwhile = generation.peer
    replaced = nil
    forgetChecks()
    role.takeTieBreaker(of: old.role)
    generation.takeBack(old.generation, at: self.now)
    // An address may have gone, or a conflict turned us round.
    generation.checklist.remove { [locals] in !locals.contains(base: $0.local.base.address) }
    for pair in generation.checklist.pairs { pair.updatePriority(isControlling: isControlling) }
    restoreState(old)
    for local in locals.all { for remote in generation.peer.all { pairUp(local, remote) } }
    for remote in meanwhile.all where remote.candidate.type != .prflx {
      addRemoteCandidate(remote.candidate)
    }
    generation.peer.takeUnresolved(of: meanwhile)
    considerNominating()
  }

  private func restoreState(_ old: Replaced) {
    if old.isSelected { selection.takeBack() } else { selection.leaveBehind() }
    if old.isFailed {
      stop()
      change(to: .failed)
    } else if selection.isCurrent, let selected = selection.pair {
      let isSilent = consent.isSilent(at: now)
      change(to: isSilent ? .disconnected : selected.isNominated ? .completed : .connected)
    } else if selection.pair == nil, generation.search.since != nil {
      // The way of then has died meanwhile: its candidates are worth another search.
      generation.startOver(at: now)
      change(to: .checking)
    }
  }

  /// Forgets all checks under way but those of consent.
  private func forgetChecks() {
    generation.checklist.forgetTriggered()
    transactions.cancelChecks()
    nomination = .none
  }
}
