import SoraMedia
public import SoraWire

extension ICEAgent {
  /// Adds the host candidate of a socket and returns it for the description or for trickling.
  ///
  /// - Parameter base: The address the socket is bound to; not a wildcard, since `receive` matches it. Adding it again changes nothing.
  @discardableResult
  public func addLocalCandidate(base: TransportAddress) -> ICECandidate {
    addLocalCandidate(.host, address: base, base: ICEBase(address: base))
  }

  /// Adds a candidate of any type, for what gathers from STUN and TURN servers.
  ///
  /// - Parameters:
  ///   - type: `.host`, `.srflx` or `.relay`.
  ///   - address: Where the peer can reach us.
  ///   - base: Where our datagrams leave from: the socket, and for `.relay` the allocation, whose address is `address`.
  ///   - relatedAddress: What `raddr` says; without it, the base of a reflexive candidate.
  ///   - server: The STUN or TURN server it was learnt from.
  @discardableResult
  public func addLocalCandidate(
    _ type: ICECandidateType, address: TransportAddress, base: ICEBase,
    relatedAddress: TransportAddress? = nil, server: IPAddress? = nil
  ) -> ICECandidate {
    let (local, isNew) = locals.add(
      type, address: address, base: base, relatedAddress: relatedAddress, server: server)
    guard isNew else { return local.candidate }
    for remote in generation.peer.all { pairUp(local, remote) }
    // It may be what the peer sees of the pair in use.
    publishSelected()
    return local.candidate
  }

  /// Sets the peer's credentials, from its description.
  ///
  /// Other credentials than before mean that the peer restarted ICE: then this side restarts too, and `localParameters` are new.
  public func setRemoteParameters(_ parameters: ICEParameters) {
    guard parameters != remoteParameters, state != .closed else { return }
    if remoteParameters != nil {
      restart(at: now)
    } else if state == .failed, generation.search.since != nil {
      // Signaling took longer than the search waits: the answer to a restart still deserves one.
      generation.wait(since: now)
      change(to: .checking)
    }
    let stale = generation.learn(parameters)
    for _ in 0..<stale { statistics.drop(.staleCandidate) }
    replaced = nil
    // RFC 8445 §6.1.1: facing a lite agent, the full one controls.
    if parameters.isLite, !configuration.isLite, !isControlling { switchRole() }
    beginChecking()
  }

  /// Adds a candidate of the peer's, from its description or trickled (RFC 8838).
  ///
  /// One with a host name comes back as `.unresolvedCandidate`. What can't be used is counted and left aside.
  public func addRemoteCandidate(_ candidate: ICECandidate) {
    guard isActive else { return statistics.drop(.inactive) }
    switch generation.add(candidate) {
    case .new(let remote): for local in locals.all { pairUp(local, remote) }
    case .unresolved: output.tell(.unresolvedCandidate(candidate))
    case .signalled(let remote):
      for pair in generation.checklist.pairs where pair.remote === remote {
        pair.updatePriority(isControlling: isControlling)
      }
      if let selected = selection.pair, selected.remote === remote {
        publishSelected()
        // A check makes more of a relay than it is. What was left aside for it is better after all.
        reviveFrozen(above: selected.priority)
      }
    case .dropped(let reason): statistics.drop(reason)
    }
  }

  /// Says that the peer has no more candidates (RFC 8838 §14): once all checks have failed the agent may fail early.
  public func endOfRemoteCandidates() { generation.peer.isComplete = true }

  // MARK: Pairing (RFC 8445 §6.1.2)

  func pairUp(_ local: LocalCandidate, _ remote: RemoteCandidate) {
    // A lite agent has no checklist; its pairs are those the peer checks.
    guard !configuration.isLite, local.mayReach(remote),
      generation.checklist.pair(from: local.base.address, to: remote.address) == nil
    else { return }
    addPair(CandidatePair(local: local, remote: remote, isControlling: isControlling))
  }

  /// Makes the pair of a request's addresses, whose remote candidate may be new (RFC 8445 §7.3.1.3).
  func pairOfRequest(
    _ message: STUNMessage, from address: TransportAddress, on base: TransportAddress,
    ufrag: String
  ) -> CandidatePair? {
    if let pair = generation.checklist.pair(from: base, to: address) {
      pair.remote.lastHeard = now
      return pair
    }
    guard let local = locals.candidate(on: base) else { return nil }
    let known = generation.peer[address]
    if known == nil, generation.peer.isFull {
      statistics.drop(.remoteCandidateLimit)
      forgetSilent()
    }
    guard
      let remote = known
        ?? generation.peer.addReflexive(at: address, priority: message.priority, ufrag: ufrag)
    else { return nil }
    remote.lastHeard = now
    let pair = CandidatePair(local: local, remote: remote, isControlling: isControlling)
    if let added = addPair(pair) { return added }
    return forgetSilent(except: remote) ? addPair(pair) : nil
  }

  /// A peer that moves to a new address again and again fills the lists with those it has left: the one that it was silent on
  /// for longest goes, with its pairs, unless it is in use. Only who knows the credentials gets here, so a peer displaces its
  /// own alone.
  ///
  /// - Returns: whether one went.
  @discardableResult
  private func forgetSilent(except new: RemoteCandidate? = nil) -> Bool {
    let kept = [selection.pair?.remote, nomination.pair?.remote, new]
    let gone = generation.peer.forgetSilent { remote in kept.contains { $0 === remote } }
    guard let gone else { return false }
    generation.checklist.remove { $0.remote === gone }
    transactions.cancelAll(to: gone)
    return true
  }

  @discardableResult
  private func addPair(_ pair: CandidatePair) -> CandidatePair? {
    // Once the search is over, only what may be better is checked, and what the peer checks.
    if state == .completed, let selected = selection.pair, pair.priority < selected.priority {
      pair.state = .frozen
    }
    switch generation.add(pair) {
    case .added: return pair
    case .replacing:
      statistics.drop(.pairLimit)
      return pair
    case .refused:
      statistics.drop(.pairLimit)
      return nil
    }
  }
}
