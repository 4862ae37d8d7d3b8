import Dispatch
import SoraClock
import SoraICE
import SoraMedia
import SoraTransport

/// Looks names up outside of the loop, and hands what it finds to the connection's transport.
enum NameResolution {
  /// Of all connections: the system's resolver holds a thread of everybody's for as long as no server of names answers.
  private static let systemTurns = LookupTurns(atOnce: 16, waiting: .max)

  /// The name of a STUN or TURN server.
  static func resolveServer(_ name: String, actor: PeerConnectionActor) {
    DispatchQueue.global(qos: .userInitiated).async {
      let addresses = HostNames.addresses(of: name)
      actor.execute { driver in
        driver.perform { core, now in core.transport.resolved(name, to: addresses, at: now) }
      }
    }
  }

  /// The names of a connection's remote candidates. Names under `.local` are asked for over multicast first (RFC 6762): few systems'
  /// resolvers do.
  static func candidates(of actor: PeerConnectionActor) -> CandidateNames {
    CandidateNames { [weak actor] name, done in
      guard MulticastDNS.isLocal(name), let actor else { return askSystem(name, done) }
      actor.execute { driver in
        driver.findOnLink(name) { address in
          guard let address else { return askSystem(name, done) }
          done([address])
        }
      }
    } found: { [weak actor] candidate in
      actor?.execute { driver in
        driver.perform { core, now in core.transport.addRemoteCandidate(candidate, at: now) }
      }
    }
  }

  private static func askSystem(
    _ name: String, _ done: @escaping @Sendable ([IPAddress]) -> Void
  ) {
    systemTurns.begin {
      DispatchQueue.global(qos: .userInitiated).async {
        done(HostNames.addresses(of: name))
        systemTurns.end()
      }
    }
  }
}

extension PeerConnectionDriver {
  /// Asks the links of our sockets for a name. `done` is called once, on the loop: with the first address that answers, or without.
  func findOnLink(_ name: String, _ done: @escaping (IPAddress?) -> Void) {
    guard
      let lookup = MulticastDNSLookup(
        name, on: loop, from: localSockets.addresses.map(\.ip), random: .system(), done)
    else { return done(nil) }
    lookup.start()
  }
}
