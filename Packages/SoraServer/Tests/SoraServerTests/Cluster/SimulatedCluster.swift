import SoraCluster
import SoraMedia

/// A store in virtual time, as scripts of a Redis do it.
final class SimulatedStore {
  private struct Lease {
    var node: ClusterNode
    var end: Instant
  }

  private var leases: [String: Lease] = [:]
  private var owners: [String: (id: String, end: Instant)] = [:]
  private let timing: ClusterTiming
  /// Whether it answers.
  var isUp = true

  init(_ timing: ClusterTiming) { self.timing = timing }

  /// Forgets all, as one that was started again.
  func clear() {
    leases = [:]
    owners = [:]
  }

  func owner(of channel: String, at now: Instant) -> String? {
    guard let owner = owners[channel], owner.end > now, left(owner.id, now) > .zero else {
      return nil
    }
    return owner.id
  }

  /// Places that are kept, whoever has them.
  func placeCount(at now: Instant) -> Int { owners.values.count { $0.end > now } }

  private func left(_ id: String, _ now: Instant) -> Duration {
    guard let lease = leases[id], lease.end > now else { return .zero }
    return lease.end - now
  }

  private func takes(_ id: String, _ now: Instant) -> Bool {
    left(id, now) > .zero && leases[id]?.node.isDraining == false
  }

  func perform(_ request: ClusterRequest, of id: String, at now: Instant) -> ClusterReply {
    switch request {
    case .beat(let node):
      leases[id] = Lease(node: node, end: now + timing.lease)
      leases = leases.filter { $0.value.end > now }
      return .nodes(leases.values.map { ClusterPeer(node: $0.node, remaining: $0.end - now) })
    case .place(let channel, let candidate):
      var isNew = false
      if let owner = owners[channel], owner.end > now, takes(owner.id, now) {
      } else {
        isNew = true
        owners[channel] = (takes(candidate, now) ? candidate : id, now + timing.place)
      }
      let owner = owners[channel]?.id ?? id
      return .placed(
        id: owner, url: leases[owner]?.node.url ?? "",
        remaining: takes(owner, now) ? left(owner, now) : .zero, isNew: isNew)
    case .keep(let channels, let isDraining):
      var lost: [String] = []
      for channel in channels {
        let owner = owners[channel].flatMap { $0.end > now ? $0.id : nil }
        if let owner, owner != id, left(owner, now) > .zero {
          lost.append(channel)
        } else if owner == id || !isDraining {
          owners[channel] = (id, now + timing.place)
        }
      }
      return .lost(lost)
    case .free(let channels):
      for channel in channels where owners[channel]?.id == id { owners[channel] = nil }
      return .done
    case .find(let channel):
      guard let owner = owners[channel], owner.end > now, let lease = leases[owner.id],
        lease.end > now
      else { return .found(nil) }
      return .found(ClusterOwner(id: owner.id, apiURL: lease.node.apiURL))
    case .leave:
      leases[id] = nil
      return .done
    }
  }
}

/// A node of a simulated cluster, whose clock began whenever it did.
final class SimulatedNode {
  let id: String
  var member: ClusterMember
  /// What this node's clock says, beyond the simulation's.
  let skew: Duration
  /// Of a request, there and of the reply, back.
  var latency = Duration.milliseconds(2)
  var isAlive = true
  /// Whether it reaches the store.
  var isConnected = true
  fileprivate var pending:
    (request: ClusterRequest, at: Instant, isSent: Bool, reply: ClusterReply?)?
  private(set) var decisions: [UInt64: ClusterDecision] = [:]
  private(set) var locations: [UInt64: ClusterLocation] = [:]
  private(set) var moved: [String] = []
  private(set) var log: [String] = []

  init(_ id: String, _ timing: ClusterTiming, skew: Duration, at now: Instant) {
    self.id = id
    self.skew = skew
    var node = ClusterNode(id: id, url: "ws://\(id)/signaling", apiURL: "http://\(id)/")
    node.load.maximumConnections = 1000
    member = ClusterMember(node: node, timing: timing, at: now + skew)
  }

  fileprivate func collect() {
    for outcome in member.takeOutcomes() {
      switch outcome {
      case .decided(let ticket, let decision): decisions[ticket] = decision
      case .located(let ticket, let location): locations[ticket] = location
      case .moved(let channel): moved.append(channel)
      case .linked: log.append("linked")
      case .unlinked: log.append("unlinked")
      case .left: log.append("left")
      case .beaten(let ticket): log.append("beaten \(ticket)")
      }
    }
  }
}

/// Nodes and a store, one millisecond after the other.
final class SimulatedCluster {
  let store: SimulatedStore
  let timing: ClusterTiming
  private(set) var nodes: [SimulatedNode] = []
  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  private var nextTicket: UInt64 = 0

  init(_ ids: [String], timing: ClusterTiming = ClusterTiming(), skews: [Duration] = []) {
    self.timing = timing
    store = SimulatedStore(timing)
    for (index, id) in ids.enumerated() {
      nodes.append(
        SimulatedNode(id, timing, skew: index < skews.count ? skews[index] : .zero, at: now))
    }
  }

  subscript(id: String) -> SimulatedNode { nodes.first { $0.id == id && $0.isAlive }! }

  /// The machine is on again: a new process with the same address and a new name.
  func replace(_ id: String, by other: String) {
    self[id].isAlive = false
    nodes.append(SimulatedNode(other, timing, skew: .seconds(-500), at: now))
  }

  func place(_ channel: String, on id: String) -> UInt64 {
    nextTicket += 1
    self[id].member.place(channel, ticket: nextTicket, at: now + self[id].skew)
    return nextTicket
  }

  func locate(_ channel: String, on id: String) -> UInt64 {
    nextTicket += 1
    self[id].member.locate(channel, ticket: nextTicket, at: now + self[id].skew)
    return nextTicket
  }

  /// Lets time pass until something is so. False where that doesn't come.
  @discardableResult
  func run(for limit: Duration, until isSo: () -> Bool = { false }) -> Bool {
    let end = now + limit
    while true {
      step()
      if isSo() { return true }
      guard now < end else { return false }
      now += .milliseconds(1)
    }
  }

  private func step() {
    for node in nodes where node.isAlive {
      // A few things in a millisecond; without end, a node would spin.
      for _ in 0..<50 {
        if node.pending == nil {
          guard let request = node.member.nextRequest(at: now + node.skew) else { break }
          node.pending = (request, now + node.latency, false, nil)
        }
        guard let pending = node.pending, pending.at <= now else { break }
        advance(node, pending.request)
      }
      node.collect()
    }
  }

  private func advance(_ node: SimulatedNode, _ request: ClusterRequest) {
    let time = now + node.skew
    guard store.isUp, node.isConnected else {
      node.pending = nil
      return node.member.failed("away", at: time)
    }
    if node.pending?.isSent == false {
      let reply = store.perform(request, of: node.id, at: now)
      node.pending = (request, now + node.latency, true, reply)
    } else if let reply = node.pending?.reply {
      node.pending = nil
      node.member.received(reply, at: time)
    }
  }

  /// A client comes to a node, is sent on as it would be, and connects. Which node it ended at; nil where it was put off.
  func join(_ channel: String, at id: String) -> String? {
    var target = id
    for _ in 0..<5 {
      guard nodes.contains(where: { $0.id == target && $0.isAlive }) else { return nil }
      let node = self[target]
      let ticket = place(channel, on: target)
      guard run(for: .seconds(10), until: { node.decisions[ticket] != nil }) else { return nil }
      switch node.decisions[ticket] {
      case .here?:
        node.member.settle(channel, isOccupied: true)
        return target
      case .elsewhere(let url)?: target = String(url.dropFirst(5).prefix { $0 != "/" })
      default: return nil
      }
    }
    return nil
  }
}
