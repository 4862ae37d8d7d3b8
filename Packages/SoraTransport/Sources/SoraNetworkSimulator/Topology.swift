import SoraICE

/// The nodes of a simulated network, the links between them, and the ways over those.
struct Topology {
  private struct Exit {
    let direction: Int32
    /// The local addresses that the link serves; nil for all.
    var addresses: [IPAddress]?
  }

  private struct RouteKey: Hashable {
    var node: Int
    var source: IPAddress
    var destination: IPAddress
  }

  private(set) var hosts: [SimulatedHost] = []
  private var links: [SimulatedLink] = []
  /// Two of each link, one behind the other.
  private var directions: [LinkDirection] = []
  /// By node: the directions that leave it.
  private var exits: [[Exit]] = []
  private var owners: [IPAddress: Int] = [:]
  /// The direction to take, as far as it was asked for; -1 for no way.
  private var routes: [RouteKey: Int32] = [:]
  let seed: UInt64

  /// - Parameter seed: of the dice of all directions and middleboxes.
  init(seed: UInt64) {
    self.seed = seed
  }

  func host(_ node: Int) -> SimulatedHost { hosts[node] }
  func direction(_ index: Int32) -> LinkDirection { directions[Int(index)] }
  /// The link that a direction is of.
  func link(of direction: Int32) -> SimulatedLink { links[Int(direction) / 2] }
  /// The node that has an address.
  func owner(of address: IPAddress) -> Int? { owners[address] }

  // MARK: Building

  mutating func addNode(
    _ name: String, _ addresses: [IPAddress], isRouter: Bool,
    middlebox: (any SimulatedMiddlebox)?
  ) -> SimulatedHost {
    let host = SimulatedHost(
      name: name, addresses: addresses, index: hosts.count, isRouter: isRouter,
      middlebox: middlebox)
    hosts.append(host)
    exits.append([])
    for address in addresses { owners[address] = host.index }
    routes.removeAll(keepingCapacity: true)
    return host
  }

  /// Links two nodes of a network, see `SimulatedNetwork.link`.
  mutating func addLink(
    _ a: SimulatedHost, _ b: SimulatedHost, forward: LinkConditions, backward: LinkConditions,
    interfaceA: [IPAddress]?, interfaceB: [IPAddress]?, of network: any LinkNetwork
  ) -> SimulatedLink {
    let first = addDirection(from: a.index, to: b.index, forward)
    let second = addDirection(from: b.index, to: a.index, backward)
    exits[a.index].append(Exit(direction: first.index, addresses: interfaceA))
    exits[b.index].append(Exit(direction: second.index, addresses: interfaceB))
    routes.removeAll(keepingCapacity: true)
    let link = SimulatedLink(forward: first, backward: second, network: network)
    links.append(link)
    return link
  }

  private mutating func addDirection(
    from: Int, to: Int, _ conditions: LinkConditions
  ) -> LinkDirection {
    let index = Int32(directions.count)
    var mixer = SimulationRandom(seed: seed &+ UInt64(index) &* 0xA076_1D64_78BD_642F)
    let direction = LinkDirection(
      index: index, from: from, to: to, conditions: conditions, seed: mixer.next())
    directions.append(direction)
    return direction
  }

  /// Gives a host an address that nobody has, and takes one that it has. Gives those that came and went.
  mutating func changeAddresses(
    of host: SimulatedHost, adding new: IPAddress?, removing old: IPAddress?,
    over link: SimulatedLink?
  ) -> (added: [IPAddress], removed: [IPAddress]) {
    var removed: [IPAddress] = []
    if let old, owners[old] == host.index {
      host.addresses.removeAll { $0 == old }
      owners[old] = nil
      removed = [old]
    }
    var added: [IPAddress] = []
    if let new, owners[new] == nil {
      host.addresses.append(new)
      owners[new] = host.index
      added = [new]
    }
    if let link, let new, !added.isEmpty {
      for position in exits[host.index].indices
      where exits[host.index][position].direction >> 1 == link.forward.index >> 1 {
        exits[host.index][position].addresses?.append(new)
      }
    }
    routes.removeAll(keepingCapacity: true)
    return (added, removed)
  }

  // MARK: Ways

  /// The direction to take from `node` towards `destination`: the fewest hops over links that serve the addresses at
  /// both ends, the first link made where several are as short. Hosts don't forward, routers do.
  mutating func nextHop(from node: Int, source: IPAddress, to destination: IPAddress) -> Int32? {
    let key = RouteKey(node: node, source: source, destination: destination)
    if let known = routes[key] { return known < 0 ? nil : known }
    let found = searchRoute(from: node, source: source, to: destination)
    routes[key] = found ?? -1
    return found
  }

  private func searchRoute(from node: Int, source: IPAddress, to destination: IPAddress) -> Int32? {
    guard let goal = owners[destination] else { return nil }
    var firstHop: [Int32?] = .init(repeating: nil, count: hosts.count)
    var seen: [Bool] = .init(repeating: false, count: hosts.count)
    var frontier = [node]
    seen[node] = true
    var next = 0
    while next < frontier.count {
      let current = frontier[next]
      next += 1
      for exit in exits[current] {
        let direction = direction(exit.direction)
        // A host with several interfaces sends over the one that has the source address.
        if current == node, owners[source] == node, let served = exit.addresses,
          !served.contains(source)
        {
          continue
        }
        let reached = direction.to
        let hop = firstHop[current] ?? exit.direction
        if reached == goal {
          // Directions come in pairs: the one back tells which addresses the far end uses on this link.
          let back = exits[reached].first { $0.direction == exit.direction ^ 1 }
          if let served = back?.addresses, !served.contains(destination) { continue }
          return hop
        }
        if seen[reached] || !hosts[reached].isRouter { continue }
        seen[reached] = true
        firstHop[reached] = hop
        frontier.append(reached)
      }
    }
    return nil
  }
}
