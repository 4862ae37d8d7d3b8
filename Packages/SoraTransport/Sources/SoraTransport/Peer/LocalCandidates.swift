public import SoraICE

/// A local candidate with what statistics say of it.
public struct GatheredCandidate: Sendable, Equatable {
  public let candidate: ICECandidate
  /// The server that it was learnt from.
  public let url: ICEServerURL?
  /// Whether it is still a base of ours.
  public fileprivate(set) var isGone = false
}

/// The candidates that the peer is told, as they were found, and the policy that says which those are (W3C `RTCIceTransportPolicy`).
package struct LocalCandidates {
  package let policy: ICETransportPolicy
  package private(set) var gathered: [GatheredCandidate] = []

  package init(policy: ICETransportPolicy) { self.policy = policy }

  package mutating func add(_ candidate: ICECandidate, from url: ICEServerURL?) {
    gathered.append(GatheredCandidate(candidate: candidate, url: url))
  }

  /// A base is gone, and with it what servers said of it.
  package mutating func baseIsGone(_ base: TransportAddress) {
    for index in gathered.indices {
      let candidate = gathered[index].candidate
      let related = candidate.relatedAddress
      guard
        candidate.transportAddress == base
          || candidate.type == .srflx && related?.address == .ip(base.ip)
            && related?.port == base.port
      else { continue }
      gathered[index].isGone = true
    }
  }
}
