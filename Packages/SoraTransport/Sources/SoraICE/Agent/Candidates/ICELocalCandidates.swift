package import SoraWire

/// Our candidates: their foundations and priorities, and which of them stands where.
package struct ICELocalCandidates {
  /// In the order they were added.
  package private(set) var all: [LocalCandidate] = []
  private var nextFoundation = 1
  /// Whether more may come, as from servers that haven't answered yet.
  package var isGathering = false

  package init() {}

  /// Adds a candidate; see `ICEAgent.addLocalCandidate`.
  ///
  /// - Returns: it, or the one that was there already.
  package mutating func add(
    _ type: ICECandidateType, address: TransportAddress, base: ICEBase,
    relatedAddress: TransportAddress?, server: IPAddress?
  ) -> (local: LocalCandidate, isNew: Bool) {
    if let known = all.first(where: {
      $0.candidate.type == type && $0.candidate.transportAddress == address && $0.base == base
    }) {
      return (known, false)
    }
    // RFC 8445 §5.1.1.3: one foundation for one type, base address, server and transport.
    let sibling = all.first {
      $0.candidate.type == type && $0.base.address.ip == base.address.ip
        && $0.base.transport == base.transport && $0.server == server
    }
    let foundation = sibling?.candidate.foundation ?? String(nextFoundation)
    if sibling == nil { nextFoundation += 1 }
    // A relay behind a TCP connection waits for what that lost; the datagram's way is tried first.
    let preference =
      localPreference(base.address.ip, index: all.count) - (base.transport == .udp ? 0 : 2_000)
    let related = relatedAddress ?? (type == .host || type == .relay ? nil : base.address)
    let candidate = ICECandidate(
      foundation: foundation, priority: candidatePriority(type, localPreference: preference),
      address: .ip(address.ip), port: address.port, type: type,
      relatedAddress: related.map { .init(address: .ip($0.ip), port: $0.port) })
    let local = LocalCandidate(
      candidate: candidate, base: base, localPreference: preference, server: server)
    all.append(local)
    return (local, true)
  }

  /// Whether an address is a base of ours.
  package func contains(base: TransportAddress) -> Bool {
    all.contains { $0.base.address == base }
  }

  package mutating func remove(base: TransportAddress) {
    all.removeAll { $0.base.address == base }
  }

  /// What pairs from a base are formed with (§6.1.2.4): the candidate that is its base, where there is one.
  package func candidate(on base: TransportAddress) -> LocalCandidate? {
    all.first { $0.base.address == base && $0.isBase } ?? all.first { $0.base.address == base }
  }

  /// Our end of a pair as the peer sees it (RFC 8445 §7.2.5.3.2): the candidate at the mapped address that has the pair's base, and
  /// without such a one a peer-reflexive candidate (§7.2.5.3.1). Made when it is asked for: packets leave from the base and pairs
  /// are ranked by it all the same, and whatever addresses a peer makes up, only each pair's last one is kept.
  package func end(of pair: CandidatePair) -> ICECandidate {
    let (own, base) = (pair.local.candidate, pair.local.base.address)
    guard let mapped = pair.mappedAddress, mapped != own.transportAddress else { return own }
    let known = all.first {
      $0.base.address == base && $0.candidate.transportAddress == mapped
    }
    // §5.1.1.3: what shares the base's foundation shares this one.
    return known?.candidate
      ?? ICECandidate(
        foundation: "p\(own.foundation)", priority: pair.reflexivePriority,
        address: .ip(mapped.ip), port: mapped.port, type: .prflx,
        relatedAddress: .init(address: .ip(base.ip), port: base.port))
  }
}
