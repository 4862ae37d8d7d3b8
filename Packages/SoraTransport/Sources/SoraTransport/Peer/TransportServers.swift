import SoraICE
import SoraMedia

/// A transport's STUN and TURN servers, who have no part in a packet where there are none.
struct TransportServers {
  /// What asks them, and carries packets through the latter.
  let gatherer: ICEGatherer
  /// Whether nothing can come from a server: asked for every packet.
  let isEmpty: Bool

  init(configuration: ICEGatherer.Configuration, random: RandomSource) {
    gatherer = ICEGatherer(configuration: configuration, random: random)
    isEmpty = configuration.servers.isEmpty
  }

  /// The relay at a local address; nil where that isn't relayed.
  func relay(at local: TransportAddress) -> ICERelay? { isEmpty ? nil : gatherer.relay(at: local) }

  /// Has relays let a candidate's packets through.
  func permit(_ candidate: ICECandidate, at now: Instant) {
    guard !isEmpty, let ip = candidate.address.ip else { return }
    gatherer.permit(ip, at: now)
  }

  /// For a restart: another try for what failed, while the agent waits for it.
  func askAgain(for ice: ICEAgent, at now: Instant) {
    guard !isEmpty else { return }
    gatherer.askAgain(at: now)
    ice.isGathering = gatherer.isGathering
  }

  /// The path has gone silent: asks whether relays are still there.
  func verifyRelays(at now: Instant) { if !isEmpty { gatherer.verifyRelays(at: now) } }

  /// Tells the agent whether silence may be our relay's.
  func noteRelay(in ice: ICEAgent, at now: Instant) {
    guard !isEmpty, let pair = ice.selectedPair, pair.base.type == .relay else { return }
    ice.noteRelay(isInDoubt: gatherer.mayBeDown(pair.local, at: now), at: now)
  }
}
