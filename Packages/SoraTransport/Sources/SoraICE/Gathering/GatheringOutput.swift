import SoraMedia
import SoraWire

/// What a gatherer has to say: events, messages to send, the candidates that stand, and what servers didn't give.
struct GatheringOutput {
  /// What servers did not give, in order; each server once.
  private(set) var failures: [ICEServerFailure] = []
  private var candidates: Set<ICEGathering.Found> = []
  private var events = Ring<ICEGathering.Event>()
  private var transmits = Ring<ICEGathering.Transmit>()

  mutating func nextEvent() -> ICEGathering.Event? { events.popFirst() }
  mutating func nextTransmit() -> ICEGathering.Transmit? { transmits.popFirst() }

  mutating func say(_ event: ICEGathering.Event) { events.append(event) }
  mutating func send(_ message: ICEGathering.Transmit) { transmits.append(message) }

  /// Reports a candidate, unless it is known.
  mutating func report(_ found: ICEGathering.Found) {
    let isKnown = candidates.contains {
      $0.type == found.type && $0.address == found.address && $0.base == found.base
    }
    guard !isKnown else { return }
    candidates.insert(found)
    events.append(.found(found))
  }

  /// Takes back the candidate of an allocation, where it was reported.
  mutating func withdraw(relay address: TransportAddress?) {
    let relayed = candidates.first { $0.type == .relay && $0.base.address == address }
    guard let relayed else { return }
    candidates.remove(relayed)
    events.append(.lost(relay: relayed.address))
  }

  /// Forgets what was learnt through a socket that is gone.
  mutating func forget(base: TransportAddress) {
    candidates = candidates.filter { $0.base.address != base }
  }

  mutating func fail(_ url: ICEServerURL, _ error: TURNError) {
    guard !failures.contains(where: { $0.url == url }) else { return }
    let failure = ICEServerFailure(url: url, error: error)
    failures.append(failure)
    events.append(.failed(failure))
  }

  /// The servers are asked anew.
  mutating func forgetFailures() { failures = [] }
}
