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
    if let known = locals.first(where: {
      $0.candidate.type == type && $0.candidate.transportAddress == address && $0.base == base
    }) {
      return known.candidate
    }
    // RFC 8445 §5.1.1.3: one foundation for one type, base address, server and transport.
    let sibling = locals.first {
      $0.candidate.type == type && $0.base.address.ip == base.address.ip
        && $0.base.transport == base.transport && $0.server == server
    }
    let foundation = sibling?.candidate.foundation ?? String(nextFoundation)
    if sibling == nil { nextFoundation += 1 }
    // A relay behind a TCP connection waits for what that lost; the datagram's way is tried first.
    let preference =
      localPreference(base.address.ip, index: locals.count) - (base.transport == .udp ? 0 : 2_000)
    let related = relatedAddress ?? (type == .host || type == .relay ? nil : base.address)
    let candidate = ICECandidate(
      foundation: foundation, priority: candidatePriority(type, localPreference: preference),
      address: .ip(address.ip), port: address.port, type: type,
      relatedAddress: related.map { .init(address: .ip($0.ip), port: $0.port) })
    let local = LocalCandidate(
      candidate: candidate, base: base, localPreference: preference, server: server)
    locals.append(local)
    for remote in remotes { pairUp(local, remote) }
    // It may be what the peer sees of the pair in use.
    publishSelected()
    return candidate
  }

  /// Sets the peer's credentials, from its description.
  ///
  /// Other credentials than before mean that the peer restarted ICE: then this side restarts too, and `localParameters` are new.
  public func setRemoteParameters(_ parameters: ICEParameters) {
    guard parameters != remoteParameters, state != .closed else { return }
    if remoteParameters != nil {
      restart(at: now)
    } else if state == .failed, startedAt != nil {
      // Signaling took longer than the search waits: the answer to a restart still deserves one.
      startedAt = now
      change(to: .checking)
    }
    remoteParameters = parameters
    replaced = nil
    // RFC 8445 §6.1.1: facing a lite agent, the full one controls.
    if parameters.isLite, !configuration.isLite, !isControlling { switchRole() }
    let stale = { (candidate: ICECandidate) in
      candidate.ufrag.map { $0 != parameters.ufrag } ?? false
    }
    for _ in remotes.filter({ stale($0.candidate) }) { statistics.drop(.staleCandidate) }
    remotes.removeAll { stale($0.candidate) }
    unresolved.removeAll(where: stale)
    pairs.removeAll { stale($0.remote.candidate) }
    triggered.removeAll { stale($0.remote.candidate) }
    for pair in pairs { pair.credentials = credentials }
    becomeReady()
  }

  var credentials: Credentials? {
    remoteParameters.map { Credentials(local: localParameters, remote: $0) }
  }

  /// Adds a candidate of the peer's, from its description or trickled (RFC 8838).
  ///
  /// One with a host name comes back as `.unresolvedCandidate`. What can't be used is counted and left aside.
  public func addRemoteCandidate(_ candidate: ICECandidate) {
    guard isActive else { return statistics.drop(.inactive) }
    if let ufrag = candidate.ufrag, let remoteParameters, ufrag != remoteParameters.ufrag {
      return statistics.drop(.staleCandidate)
    }
    guard isUsable(candidate) else { return statistics.drop(.unusableCandidate) }
    guard let address = candidate.transportAddress else {
      guard !unresolved.contains(candidate) else { return statistics.drop(.duplicateCandidate) }
      guard remoteCandidateCount < configuration.maxRemoteCandidates else {
        return statistics.drop(.remoteCandidateLimit)
      }
      unresolved.append(candidate)
      output.tell(.unresolvedCandidate(candidate))
      return
    }
    unresolved.removeAll { $0.resolved(to: address.ip) == candidate }
    if let known = remotes.first(where: { $0.address == address }) {
      // RFC 8838 §11: the signalled candidate takes the place of the peer-reflexive one.
      guard known.candidate.type == .prflx, candidate.type != .prflx else {
        return statistics.drop(.duplicateCandidate)
      }
      known.candidate = candidate
      for pair in pairs where pair.remote === known {
        pair.updatePriority(isControlling: isControlling)
      }
      if let selected = selection.pair, selected.remote === known {
        publishSelected()
        // A check makes more of a relay than it is. What was left aside for it is better after all.
        reviveFrozen(above: selected.priority)
      }
      return
    }
    guard remoteCandidateCount < configuration.maxRemoteCandidates else {
      return statistics.drop(.remoteCandidateLimit)
    }
    let remote = RemoteCandidate(candidate, address: address)
    remotes.append(remote)
    for local in locals { pairUp(local, remote) }
  }

  private func isUsable(_ candidate: ICECandidate) -> Bool {
    if case .other = candidate.type { return false }
    guard candidate.component == 1, candidate.transport == .udp, candidate.port != 0 else {
      return false
    }
    guard let ip = candidate.address.ip else { return true }
    return !ip.isUnspecified && !ip.isMulticast && !ip.isV4Mapped
  }

  /// Says that the peer has no more candidates (RFC 8838 §14): once all checks have failed the agent may fail early.
  public func endOfRemoteCandidates() { remoteEnded = true }

  /// Our end of a pair as the peer sees it (RFC 8445 §7.2.5.3.2): the candidate at the mapped address that has the pair's base, and
  /// without such a one a peer-reflexive candidate (§7.2.5.3.1). Made when it is asked for: packets leave from the base and pairs
  /// are ranked by it all the same, and whatever addresses a peer makes up, only each pair's last one is kept.
  func localCandidate(of pair: CandidatePair) -> ICECandidate {
    let (own, base) = (pair.local.candidate, pair.local.base.address)
    guard let mapped = pair.mappedAddress, mapped != own.transportAddress else { return own }
    let known = locals.first {
      $0.base.address == base && $0.candidate.transportAddress == mapped
    }
    // §5.1.1.3: what shares the base's foundation shares this one.
    return known?.candidate
      ?? ICECandidate(
        foundation: "p\(own.foundation)", priority: pair.reflexivePriority,
        address: .ip(mapped.ip), port: mapped.port, type: .prflx,
        relatedAddress: .init(address: .ip(base.ip), port: base.port))
  }

  // MARK: Pairing (RFC 8445 §6.1.2)

  func pairUp(_ local: LocalCandidate, _ remote: RemoteCandidate) {
    // A lite agent has no checklist; its pairs are those the peer checks.
    guard !configuration.isLite else { return }
    // §6.1.2.4: a reflexive candidate is replaced by its base, which forms the pair already.
    guard local.candidate.type == .host || local.candidate.type == .relay else { return }
    let (ours, theirs) = (local.base.address.ip, remote.address.ip)
    // §6.1.2.2. Loopback reaches only loopback; where the peer proves otherwise, its check makes the pair.
    guard ours.isV4 == theirs.isV4, ours.isLinkLocal == theirs.isLinkLocal || ours.isV4,
      ours.isLoopback == theirs.isLoopback
    else { return }
    guard !pairs.contains(where: { $0.connects(local.base.address, remote.address) }) else {
      return
    }
    addPair(CandidatePair(local: local, remote: remote, isControlling: isControlling))
  }

  /// Makes the pair of a request's addresses, whose remote candidate may be new (RFC 8445 §7.3.1.3).
  func pairOfRequest(
    _ message: STUNMessage, from address: TransportAddress, on base: TransportAddress,
    ufrag: String
  ) -> CandidatePair? {
    if let pair = pairs.first(where: { $0.connects(base, address) }) { return pair }
    guard
      let local = locals.first(where: {
        $0.base.address == base && ($0.candidate.type == .host || $0.candidate.type == .relay)
      }) ?? locals.first(where: { $0.base.address == base })
    else { return nil }
    if let remote = remotes.first(where: { $0.address == address }) {
      return addPair(CandidatePair(local: local, remote: remote, isControlling: isControlling))
    }
    guard remoteCandidateCount < configuration.maxRemoteCandidates else {
      statistics.drop(.remoteCandidateLimit)
      return nil
    }
    let priority =
      message.priority
      ?? candidatePriority(.prflx, localPreference: localPreference(address.ip, index: 0))
    // The fragment stays with it: a check that came before the peer's parameters may be of another generation.
    let candidate = ICECandidate(
      foundation: "p\(remotes.count)", priority: priority, address: .ip(address.ip),
      port: address.port, type: .prflx, extensions: [.init(name: "ufrag", value: ufrag)])
    let remote = RemoteCandidate(candidate, address: address)
    remotes.append(remote)
    return addPair(CandidatePair(local: local, remote: remote, isControlling: isControlling))
  }

  @discardableResult
  private func addPair(_ pair: CandidatePair) -> CandidatePair? {
    if pairs.count >= configuration.maxPairs {
      // §6.1.2.5: the least of those not begun goes, where it is less.
      let least = pairs.indices
        .filter { pairs[$0].state == .waiting || pairs[$0].state == .failed }
        .min { pairs[$0].priority < pairs[$1].priority }
      statistics.drop(.pairLimit)
      guard let least, pairs[least].priority < pair.priority else { return nil }
      let evicted = pairs.remove(at: least)
      triggered.removeAll { $0 === evicted }
    }
    pair.credentials = credentials
    pairsMade += 1
    pair.number = pairsMade
    // Once the search is over, only what may be better is checked, and what the peer checks.
    if state == .completed, let selected = selection.pair, pair.priority < selected.priority {
      pair.state = .frozen
    }
    pairs.append(pair)
    return pair
  }
}
