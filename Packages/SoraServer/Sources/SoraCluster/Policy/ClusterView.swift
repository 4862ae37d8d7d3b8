import SoraMedia

/// The nodes of a cluster as one of them knows them, and which one should have a channel.
struct ClusterView {
  private struct Entry {
    var node: ClusterNode
    var leaseEnd: Instant
  }

  private var entries: [Entry] = []
  /// Channels that were placed on others and that those haven't told of yet.
  private var reserved: [(id: String, until: Instant)] = []
  /// Connections that make no difference: who comes to one of two nodes that are alike is spared the way to the other.
  private static let slack = 4

  /// - Parameters:
  ///   - peers: what the store has replied.
  ///   - askedAt: when it was asked: leases last at least as long from then.
  mutating func update(_ peers: [ClusterPeer], askedAt: Instant) {
    entries = peers.map { Entry(node: $0.node, leaseEnd: askedAt + $0.remaining) }
    reserved.removeAll { $0.until <= askedAt }
  }

  func nodes(at now: Instant) -> [ClusterNode] {
    entries.filter { $0.leaseEnd > now }.map(\.node)
  }

  /// A channel goes to another node.
  mutating func reserve(on id: String, until: Instant) { reserved.append((id, until)) }

  /// The emptiest node that takes channels, with how full it is.
  func best(at now: Instant, besides id: String) -> (node: ClusterNode, fullness: Double)? {
    nodes(at: now).filter { $0.id != id && !$0.isDraining }
      .map { node in
        (node, node.load.fullness(with: reserved.count { $0.id == node.id && $0.until > now }))
      }
      // The id decides between equals, so that all nodes would choose the same.
      .min { ($0.1, $0.0.id) < ($1.1, $1.0.id) }
  }

  /// Which node should have a new channel whose first client has come to `own`: that one, unless another has clearly less to do.
  ///
  /// - Returns: its id; nil where none takes channels.
  func candidate(of own: ClusterNode, at now: Instant) -> String? {
    let best = best(at: now, besides: own.id)
    guard !own.isDraining else { return best?.node.id }
    guard let best, best.fullness < own.load.fullness(with: -Self.slack) else { return own.id }
    return best.node.id
  }
}
