import SoraICE
import SoraMedia

/// Agents joined by an in-memory network, in virtual time, from a seed.
///
/// Each agent has endpoints; a datagram goes to whoever owns the destination address. NATs are a rewriting of source addresses.
final class LossyLink {
  struct Node {
    let agent: ICEAgent
    var addresses: [TransportAddress]
    var events: [(at: Instant, event: ICEEvent)] = []
    var isConnected = true
  }

  private struct Flight {
    let at: Instant
    let order: Int
    let from: TransportAddress
    let to: TransportAddress
    let bytes: [UInt8]
  }

  private(set) var now = Instant.zero
  var nodes: [Node] = []
  /// The probability that a datagram is lost.
  var loss = 0.0
  var delay = Duration.milliseconds(10)
  /// Ways that don't work, as pairs of source and destination.
  var blocked: (TransportAddress, TransportAddress) -> Bool = { _, _ in false }
  /// Source addresses that a NAT shows to the outside instead, and how they lead back.
  var mappings: [TransportAddress: TransportAddress] = [:]
  private(set) var datagrams = 0
  private(set) var log: [String] = []
  private var flights: [Flight] = []
  private var order = 0
  private let random: RandomSource

  init(seed: UInt64) { random = RandomSource(seed: seed) }

  @discardableResult
  func add(_ configuration: ICEAgent.Configuration, _ addresses: [String]) -> Int {
    let agent = ICEAgent(configuration: configuration, random: random.fork())
    let own = addresses.map { TransportAddress($0)! }
    for address in own { agent.addLocalCandidate(base: address) }
    nodes.append(Node(agent: agent, addresses: own))
    return nodes.count - 1
  }

  /// Gives each agent the other's parameters and candidates, as far as `candidates` says, and starts both.
  func start(candidates: Bool = true) {
    exchange(candidates: candidates)
    for node in nodes { node.agent.start(at: now) }
    settle()
  }

  func exchange(candidates: Bool = true) {
    for index in nodes.indices {
      let (agent, other) = (nodes[index].agent, nodes[1 - index].agent)
      agent.setRemoteParameters(other.localParameters)
      guard candidates else { continue }
      for candidate in other.localCandidates { agent.addRemoteCandidate(candidate) }
      agent.endOfRemoteCandidates()
    }
  }

  /// Runs until `condition` holds or `limit` has passed; returns whether it held.
  @discardableResult
  func run(for limit: Duration, until condition: () -> Bool = { false }) -> Bool {
    let end = now + limit
    settle()
    while !condition() {
      var next: Instant? = flights.map(\.at).min()
      for node in nodes { next = earliest(next, node.agent.nextDeadline) }
      guard let next, next <= end else {
        now = end
        return condition()
      }
      now = max(now, next)
      let due = flights.filter { $0.at <= now }.sorted { ($0.at, $0.order) < ($1.at, $1.order) }
      flights.removeAll { $0.at <= now }
      for flight in due { deliver(flight) }
      for node in nodes where (node.agent.nextDeadline ?? .distantFuture) <= now {
        node.agent.poll(at: now)
      }
      settle()
    }
    return true
  }

  func events(_ node: Int) -> [ICEEvent] { nodes[node].events.map(\.event) }

  func time(_ node: Int, of event: ICEEvent) -> Instant? {
    nodes[node].events.last { $0.event == event }?.at
  }

  /// Puts bytes into an agent as if they had come over the network.
  func inject(_ bytes: [UInt8], into node: Int, from: TransportAddress) {
    bytes.withUnsafeBytes {
      nodes[node].agent.receive($0, from: from, on: nodes[node].addresses[0], at: now)
    }
    settle()
  }

  /// Takes what the agents have to say and to send.
  func settle() {
    for index in nodes.indices {
      while let event = nodes[index].agent.nextEvent() {
        nodes[index].events.append((now, event))
        log.append("\(now) \(index) \(event)")
      }
      while let transmit = nodes[index].agent.nextTransmit() {
        datagrams += 1
        log.append("\(now) \(index) \(transmit.local) \(transmit.remote) \(transmit.bytes)")
        let isLost = Double(random.next() >> 11) / 9_007_199_254_740_992 < loss
        guard nodes[index].isConnected, !isLost, !blocked(transmit.local, transmit.remote) else {
          continue
        }
        let jitter = Duration.microseconds(Int64(random.next() % 2000))
        order += 1
        flights.append(
          Flight(
            at: now + delay + jitter, order: order,
            from: mappings[transmit.local] ?? transmit.local, to: transmit.remote,
            bytes: transmit.bytes))
      }
    }
  }

  private func deliver(_ flight: Flight) {
    let to = mappings.first { $0.value == flight.to }?.key ?? flight.to
    guard let index = nodes.firstIndex(where: { $0.addresses.contains(to) }),
      nodes[index].isConnected
    else { return }
    flight.bytes.withUnsafeBytes {
      nodes[index].agent.receive($0, from: flight.from, on: to, at: now)
    }
  }
}

extension LossyLink {
  /// How often a side was told where to send.
  var selections: Int {
    (events(0) + events(1)).count { if case .selectedPair = $0 { true } else { false } }
  }

  var bothCompleted: Bool { nodes.allSatisfy { $0.agent.state == .completed } }

  static func full(
    seed: UInt64, _ a: [String] = ["10.0.0.1:1000"], _ b: [String] = ["10.0.0.2:2000"]
  )
    -> LossyLink
  {
    let link = LossyLink(seed: seed)
    link.add(.init(isControlling: true), a)
    link.add(.init(isControlling: false), b)
    return link
  }

  static func lite(seed: UInt64) -> LossyLink {
    let link = LossyLink(seed: seed)
    link.add(.init(isControlling: true), ["10.0.0.1:1000"])
    link.add(.init(isControlling: false, isLite: true), ["10.0.0.2:2000"])
    return link
  }
}
