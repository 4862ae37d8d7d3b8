/// A server of a cluster, as the others know it.
public struct ClusterNode: Sendable, Hashable {
  /// New with each start: a server that was started again has none of the channels that it had.
  public var id: String
  /// Where clients signal.
  public var url: String
  /// Where the HTTP API's requests are posted to; nil where it has none.
  public var apiURL: String?
  public var load = ClusterLoad()
  /// Whether it takes no channel any more.
  public var isDraining = false

  public init(id: String, url: String, apiURL: String? = nil) {
    self.id = id
    self.url = url
    self.apiURL = apiURL
  }
}

/// How much a server has to do.
public struct ClusterLoad: Sendable, Hashable {
  public var connections = 0
  public var channels = 0
  /// Datagrams that it sends.
  public var packetsPerSecond = 0
  /// Connections that it takes.
  public var maximumConnections = 1000

  public init() {}

  /// What a core sends per second at the very most: 3.6 us a packet (`make bench-forwarding`).
  static let mostPackets = 250_000.0

  /// How full it is, from 0 to 1 and beyond: of connections, where a channel counts as one that will come, or of packets.
  ///
  /// - Parameter more: connections that will come and aren't counted.
  func fullness(with more: Int) -> Double {
    max(
      Double(connections + channels + more) / Double(max(1, maximumConnections)),
      Double(packetsPerSecond) / Self.mostPackets)
  }
}

/// A node that answers, and for how long it is taken to.
public struct ClusterPeer: Sendable, Hashable {
  public var node: ClusterNode
  /// What is left of its lease.
  public var remaining: Duration

  public init(node: ClusterNode, remaining: Duration) {
    self.node = node
    self.remaining = remaining
  }
}

/// The times of a cluster. All nodes of a cluster should have the same.
public struct ClusterTiming: Sendable, Hashable {
  /// How long a node counts as there behind its last sign of life.
  public var lease = Duration.seconds(2)
  /// From one sign of life to the next.
  public var beat = Duration.milliseconds(500)
  /// A node with less of its lease left than this has missed signs of life: nobody is sent there before it has given another one.
  public var doubt = Duration.seconds(1)
  /// How long a channel keeps its place without being asked for again: a client that was sent somewhere has to come by then.
  public var place = Duration.seconds(10)
  /// How often a node asks for the places of its channels again.
  public var keep = Duration.seconds(3)
  /// How long a client waits for its place.
  public var answer = Duration.seconds(3)
  /// From one try to reach the store to the next.
  public var retry = Duration.milliseconds(250)
  /// Behind the loss of the store, which may have forgotten all: how long nodes ask for the channels that they have, before new ones are
  /// placed.
  public var settling = Duration.milliseconds(1000)

  public init() {}
}
