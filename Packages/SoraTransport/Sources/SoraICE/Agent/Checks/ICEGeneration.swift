package import SoraMedia

/// All that a restart replaces (RFC 8445 §9): credentials, the peer's candidates, the pairs they form, and the time of the search.
package struct ICEGeneration {
  /// Since when a pair is searched.
  package enum Search {
    case notStarted
    /// Without the peer's parameters nothing can be checked.
    case waiting(since: Instant)
    case checking(since: Instant)

    package var since: Instant? {
      switch self {
      case .notStarted: nil
      case .waiting(let start), .checking(let start): start
      }
    }

    package var isChecking: Bool {
      if case .checking = self { true } else { false }
    }
  }

  package var credentials: ICECredentials
  package var peer: ICERemoteCandidates
  package var checklist: ICEChecklist
  package private(set) var search = Search.notStarted

  package init(_ local: ICEParameters, _ configuration: ICEConfiguration) {
    credentials = ICECredentials(local)
    peer = ICERemoteCandidates(limit: configuration.maxRemoteCandidates)
    checklist = ICEChecklist(configuration)
  }

  // MARK: The search

  /// Begins to wait for the peer's parameters.
  package mutating func wait(since now: Instant) { search = .waiting(since: now) }

  /// Begins to check, if only the peer's parameters were waited for.
  ///
  /// - Returns: whether it did.
  package mutating func beginChecking(at now: Instant) -> Bool {
    guard case .waiting = search, credentials.remote != nil else { return false }
    search = .checking(since: now)
    checklist.begin(at: now)
    return true
  }

  /// Searches anew among all pairs.
  package mutating func startOver(at now: Instant) {
    search = .checking(since: now)
    checklist.startOver()
  }

  // MARK: The peer

  /// Takes the peer's parameters, and forgets candidates and pairs of another generation.
  ///
  /// - Returns: how many candidates those were.
  package mutating func learn(_ remote: ICEParameters) -> Int {
    credentials.learn(remote)
    checklist.remove { $0.remote.candidate.isStale(ufrag: remote.ufrag) }
    for pair in checklist.pairs { pair.credentials = credentials.pair }
    return peer.forgetStale(ufrag: remote.ufrag)
  }

  /// Adds a candidate of the peer's.
  package mutating func add(_ candidate: ICECandidate) -> ICERemoteCandidates.Addition {
    if let remote = credentials.remote, candidate.isStale(ufrag: remote.ufrag) {
      return .dropped(.staleCandidate)
    }
    return peer.add(candidate)
  }

  /// Adds a pair that is checked with the credentials in force.
  package mutating func add(_ pair: CandidatePair) -> ICEChecklist.Addition {
    pair.credentials = credentials.pair
    return checklist.add(pair)
  }

  // MARK: Restarts

  /// Begins anew.
  ///
  /// - Parameters:
  ///   - local: our new credentials.
  ///   - used: those of the pair in use, which are answered still.
  ///   - start: when the search begins; nil where it hasn't been asked for.
  package mutating func restart(
    with local: ICEParameters, answering used: Credentials?, at start: Instant?
  ) {
    credentials.restart(with: local, answering: used)
    peer.restart()
    checklist.restart()
    search = start.map { .waiting(since: $0) } ?? .notStarted
  }

  /// Goes back to the generation before a restart.
  package mutating func takeBack(_ old: ICEGeneration, at now: Instant) {
    credentials = old.credentials
    peer = old.peer
    checklist.takeBack(old.checklist, at: now)
    search = old.search
  }
}
