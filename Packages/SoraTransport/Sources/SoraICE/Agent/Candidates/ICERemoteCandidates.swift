package import SoraWire

/// The candidates of the peer's that one generation knows.
package struct ICERemoteCandidates {
  package enum Addition {
    case new(RemoteCandidate)
    /// It has a host name that somebody has to resolve.
    case unresolved
    /// It takes the place of a peer-reflexive one (RFC 8838 §11).
    case signalled(RemoteCandidate)
    case dropped(ICEDropReason)
  }

  /// Those with an address, peer-reflexive ones included.
  package private(set) var all: [RemoteCandidate] = []
  /// Those with a name.
  private var unresolved: [ICECandidate] = []
  /// Whether the peer has said that no more will come (RFC 8838 §14).
  package var isComplete = false
  private let limit: Int
  private var reflexiveMade = 0

  package init(limit: Int) { self.limit = limit }

  /// Begins a generation of which nothing is known.
  package mutating func restart() { self = ICERemoteCandidates(limit: limit) }

  package var count: Int { all.count + unresolved.count }

  package var isFull: Bool { count >= limit }

  package subscript(address: TransportAddress) -> RemoteCandidate? {
    all.first { $0.address == address }
  }

  /// Adds a candidate that was signalled.
  package mutating func add(_ candidate: ICECandidate) -> Addition {
    guard isUsable(candidate) else { return .dropped(.unusableCandidate) }
    guard let address = candidate.transportAddress else {
      guard !unresolved.contains(candidate) else { return .dropped(.duplicateCandidate) }
      guard count < limit else { return .dropped(.remoteCandidateLimit) }
      unresolved.append(candidate)
      return .unresolved
    }
    unresolved.removeAll { $0.resolved(to: address.ip) == candidate }
    if let known = self[address] {
      guard known.candidate.type == .prflx, candidate.type != .prflx else {
        return .dropped(.duplicateCandidate)
      }
      known.candidate = candidate
      return .signalled(known)
    }
    guard count < limit else { return .dropped(.remoteCandidateLimit) }
    let remote = RemoteCandidate(candidate, address: address)
    all.append(remote)
    return .new(remote)
  }

  private func isUsable(_ candidate: ICECandidate) -> Bool {
    if case .other = candidate.type { return false }
    guard candidate.component == 1, candidate.transport == .udp, candidate.port != 0 else {
      return false
    }
    guard let ip = candidate.address.ip else { return true }
    return !ip.isUnspecified && !ip.isMulticast && !ip.isV4Mapped
  }

  /// Adds a peer-reflexive candidate: a check came from an address that nobody signalled (RFC 8445 §7.3.1.3).
  ///
  /// - Parameters:
  ///   - address: where the check came from.
  ///   - priority: what the check says.
  ///   - ufrag: the check's fragment. It stays with the candidate: a check that came before the peer's parameters may be of another
  ///     generation.
  /// - Returns: nil where there are too many.
  package mutating func addReflexive(at address: TransportAddress, priority: UInt32?, ufrag: String)
    -> RemoteCandidate?
  {
    guard !isFull else { return nil }
    reflexiveMade += 1
    let priority =
      priority ?? candidatePriority(.prflx, localPreference: localPreference(address.ip, index: 0))
    let candidate = ICECandidate(
      foundation: "p\(reflexiveMade)", priority: priority, address: .ip(address.ip),
      port: address.port, type: .prflx, extensions: [.init(name: "ufrag", value: ufrag)])
    let remote = RemoteCandidate(candidate, address: address)
    all.append(remote)
    return remote
  }

  /// Forgets the peer-reflexive candidate that the peer was silent on longest.
  ///
  /// - Parameter isKept: whether one must not go.
  /// - Returns: it; nil where there is none.
  package mutating func forgetSilent(except isKept: (RemoteCandidate) -> Bool) -> RemoteCandidate? {
    let silent = all.indices
      .filter { all[$0].candidate.type == .prflx && !isKept(all[$0]) }
      .min { all[$0].lastHeard < all[$1].lastHeard }
    return silent.map { all.remove(at: $0) }
  }

  /// Forgets candidates of other generations than the one of a fragment.
  ///
  /// - Returns: how many with an address that were.
  package mutating func forgetStale(ufrag: String) -> Int {
    let before = all.count
    all.removeAll { $0.candidate.isStale(ufrag: ufrag) }
    unresolved.removeAll { $0.isStale(ufrag: ufrag) }
    return before - all.count
  }

  /// Takes over names that somebody may be resolving still, as far as there is room.
  package mutating func takeUnresolved(of other: ICERemoteCandidates) {
    for candidate in other.unresolved where !unresolved.contains(candidate) && count < limit {
      unresolved.append(candidate)
    }
  }
}

extension ICECandidate {
  /// Whether it says that it belongs to another generation than the one of a fragment.
  func isStale(ufrag other: String) -> Bool { ufrag.map { $0 != other } ?? false }
}
