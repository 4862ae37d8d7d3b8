import SoraWire

/// How many there are of each network.
struct NetworkCounts {
  private var counts: [ClientNetwork: Int] = [:]

  subscript(network: ClientNetwork) -> Int { counts[network] ?? 0 }

  mutating func add(_ network: ClientNetwork) { counts[network, default: 0] += 1 }

  mutating func remove(_ network: ClientNetwork) {
    let rest = self[network] - 1
    counts[network] = rest > 0 ? rest : nil
  }
}
