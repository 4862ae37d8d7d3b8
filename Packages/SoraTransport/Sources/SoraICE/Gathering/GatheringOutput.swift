import SoraMedia
import SoraWire

/// What a gatherer has to say: events, messages to send, the candidates that stand, and what servers didn't give.
struct GatheringOutput {
  /// What servers did not give, in order; each server once.
  private(set) var failures: [ICEServerFailure] = []
  private var candidates: Set<ICEGatherer.Found> = []
  private var events = Ring<ICEGatherer.Event>()
  private var transmits = Ring<ICEGatherer.Transmit>()

  mutating func nextEvent() -> ICEGatherer.Event? { events.popFirst() }
  mutating func nextTransmit() -> ICEGatherer.Transmit? { transmits.popFirst() }

  mutating func say(_ event: ICEGatherer.Event) { events.append(event) }
  mutating func send(_ message: ICEGatherer.Transmit) { transmits.append(message) }

  /// Reports a candidate, unless it is known.
  mutating func report(_ found: ICEGatherer.Found) {
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
