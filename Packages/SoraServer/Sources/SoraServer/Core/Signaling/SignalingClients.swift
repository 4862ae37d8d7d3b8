import SoraMedia
import SoraWire

/// The clients whose WebSockets are open, each with its connection from the time on when its `connect` is granted. Those that haven't
/// sent `connect` are waited for, all for equally long; about the others somebody decides.
struct SignalingClients<Connection: AnyObject> {
  private struct Client {
    /// When `connect` has to be there.
    var connectBy: Instant
    /// nil where it isn't known.
    var network: ClientNetwork?
    var connection: Connection?
  }

  private var clients: [SFUPeerID: Client] = [:]
  /// Those that haven't sent `connect`, in the order in which they came.
  private(set) var waiting: [SFUPeerID] = []
  /// How many of a network have a connection.
  private var connected = NetworkCounts()
  private var next = 1

  var count: Int { clients.count }

  mutating func add(from network: ClientNetwork?, connectBy: Instant) -> SFUPeerID {
    let id = SFUPeerID(value: next)
    next += 1
    clients[id] = Client(connectBy: connectBy, network: network)
    waiting.append(id)
    return id
  }

  func contains(_ id: SFUPeerID) -> Bool { clients[id] != nil }

  /// nil before `connect`, and where there is no such client.
  func connection(of id: SFUPeerID) -> Connection? { clients[id]?.connection }

  /// Where a client comes from; nil where that isn't known.
  func network(of id: SFUPeerID) -> ClientNetwork? { clients[id]?.network }

  /// How many clients of a network have a connection.
  func connectionCount(of network: ClientNetwork) -> Int { connected[network] }

  mutating func connect(_ id: SFUPeerID, _ connection: Connection) {
    if let client = clients[id], client.connection == nil, let network = client.network {
      connected.add(network)
    }
    clients[id]?.connection = connection
    heard(id)
  }

  /// A client has sent `connect`: it isn't waited for any more.
  mutating func heard(_ id: SFUPeerID) { waiting.removeAll { $0 == id } }

  /// Those without a connection, whether they are waited for or decided about, in the order in which they came.
  var unconnected: [SFUPeerID] {
    clients.filter { $0.value.connection == nil }.keys.sorted { $0.value < $1.value }
  }

  mutating func remove(_ id: SFUPeerID) {
    let client = clients.removeValue(forKey: id)
    waiting.removeAll { $0 == id }
    guard client?.connection != nil, let network = client?.network else { return }
    connected.remove(network)
  }

  mutating func removeAll() {
    clients = [:]
    connected = NetworkCounts()
    waiting = []
  }

  /// When the first of those that are waited for is late.
  var nextDeadline: Instant? { waiting.first.flatMap { clients[$0]?.connectBy } }

  /// The first that is late; nil where none is.
  func late(at now: Instant) -> SFUPeerID? {
    guard let deadline = nextDeadline, deadline <= now else { return nil }
    return waiting.first
  }
}
