import SoraMedia

/// The clients whose WebSockets are open, each with its connection from `connect` on. Those that haven't sent that are waited for, all for
/// equally long.
struct SignalingClients<Connection: AnyObject> {
  private struct Client {
    /// When `connect` has to be there.
    var connectBy: Instant
    var connection: Connection?
  }

  private var clients: [SFUPeerID: Client] = [:]
  /// Those without a connection, in the order in which they came.
  private(set) var waiting: [SFUPeerID] = []
  private var next = 1

  var count: Int { clients.count }

  mutating func add(connectBy: Instant) -> SFUPeerID {
    let id = SFUPeerID(value: next)
    next += 1
    clients[id] = Client(connectBy: connectBy)
    waiting.append(id)
    return id
  }

  func contains(_ id: SFUPeerID) -> Bool { clients[id] != nil }

  /// nil before `connect`, and where there is no such client.
  func connection(of id: SFUPeerID) -> Connection? { clients[id]?.connection }

  mutating func connect(_ id: SFUPeerID, _ connection: Connection) {
    clients[id]?.connection = connection
    waiting.removeAll { $0 == id }
  }

  mutating func remove(_ id: SFUPeerID) {
    clients[id] = nil
    waiting.removeAll { $0 == id }
  }

  mutating func removeAll() {
    clients = [:]
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
