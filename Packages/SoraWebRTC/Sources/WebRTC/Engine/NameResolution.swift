import Dispatch
import SoraClock
import SoraICE
import SoraMedia
import SoraTransport

/// Looks names up outside of the loop, and hands what it finds to the connection's transport.
enum NameResolution {
  /// The name of a STUN or TURN server.
  static func resolveServer(_ name: String, actor: PeerConnectionActor) {
    DispatchQueue.global(qos: .userInitiated).async {
      let addresses = HostNames.addresses(of: name)
      actor.execute { driver in
        driver.perform { core, now in core.transport.resolved(name, to: addresses, at: now) }
      }
    }
  }

  /// The name of a remote candidate. Names under `.local` are asked for over multicast first (RFC 6762): few systems' resolvers do.
  static func resolve(_ candidate: ICECandidate, actor: PeerConnectionActor) {
    guard case .name(let name) = candidate.address else { return }
    guard MulticastDNS.isLocal(name) else { return resolveBySystem(name, candidate, actor) }
    actor.execute { driver in
      driver.findOnLink(name) { address in
        guard let address else { return resolveBySystem(name, candidate, actor) }
        add(candidate.resolved(to: address), to: actor)
      }
    }
  }

  private static func resolveBySystem(
    _ name: String, _ candidate: ICECandidate, _ actor: PeerConnectionActor
  ) {
    DispatchQueue.global(qos: .userInitiated).async {
      for address in HostNames.addresses(of: name) {
        add(candidate.resolved(to: address), to: actor)
      }
    }
  }

  private static func add(_ candidate: ICECandidate, to actor: PeerConnectionActor) {
    actor.execute { driver in
      driver.perform { core, now in core.transport.addRemoteCandidate(candidate, at: now) }
    }
  }
}

extension PeerConnectionDriver {
  /// Asks the links of our sockets for a name. `done` is called once, on the loop: with the first address that answers, or without.
  func findOnLink(_ name: String, _ done: @escaping (IPAddress?) -> Void) {
    guard
      let lookup = MulticastDNSLookup(
        name, on: loop, from: addresses.map(\.ip), random: .system(), done)
    else { return done(nil) }
    lookup.start()
  }
}
