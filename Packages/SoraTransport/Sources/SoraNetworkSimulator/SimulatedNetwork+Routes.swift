import SoraICE

extension SimulatedNetwork {
  /// The direction to take from `node` towards `destination`: the fewest hops over links that serve the addresses at
  /// both ends, the first link made where several are as short. Hosts don't forward, routers do.
  func nextHop(from node: Int, source: IPAddress, to destination: IPAddress) -> Int32? {
    let key = RouteKey(node: node, source: source, destination: destination)
    if let known = routes[key] { return known < 0 ? nil : known }
    let found = searchRoute(from: node, source: source, to: destination)
    routes[key] = found ?? -1
    return found
  }

  /// The link to take from `host` towards `destination`.
  func link(
    from host: SimulatedHost, source: IPAddress, to destination: IPAddress
  ) -> SimulatedLink? {
    nextHop(from: host.index, source: source, to: destination).map { links[Int($0) / 2] }
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
        let direction = directions[Int(exit.direction)]
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
