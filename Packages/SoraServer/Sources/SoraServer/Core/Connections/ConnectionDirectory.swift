import SoraICE

/// Finds connections by their ids, by the user names of their ICE requests, and by the addresses that their datagrams come from.
struct ConnectionDirectory<Connection: AnyObject> {
  /// A client with more ways than this has changed its network often: the oldest is forgotten.
  private static var mostAddresses: Int { 32 }

  /// In the order in which they were inserted.
  private(set) var all: [Connection] = []
  private var byID: [String: Connection] = [:]
  private var byUser: [String: Connection] = [:]
  private var byAddress: [TransportAddress: Connection] = [:]
  /// The user names of each connection, the oldest first.
  private var users: [ObjectIdentifier: [String]] = [:]
  /// The addresses of each connection, the oldest first.
  private var addresses: [ObjectIdentifier: [TransportAddress]] = [:]
  /// Where the last datagram came from: bursts of one sender skip the look-up.
  private var latest: (address: TransportAddress, connection: Connection)?

  mutating func insert(_ connection: Connection, id: String, user: String) {
    all.append(connection)
    byID[id] = connection
    add(user, of: connection)
  }

  /// Adds a user name. That of before is still answered, until another one comes.
  mutating func add(_ user: String, of connection: Connection) {
    var own = users[ObjectIdentifier(connection)] ?? []
    if own.count >= 2 { byUser[own.removeFirst()] = nil }
    own.append(user)
    users[ObjectIdentifier(connection)] = own
    byUser[user] = connection
  }

  mutating func remove(_ connection: Connection, id: String) {
    all.removeAll { $0 === connection }
    byID[id] = nil
    for user in users.removeValue(forKey: ObjectIdentifier(connection)) ?? [] {
      byUser[user] = nil
    }
    for address in addresses.removeValue(forKey: ObjectIdentifier(connection)) ?? [] {
      byAddress[address] = nil
    }
    latest = nil
  }

  func connection(id: String) -> Connection? { byID[id] }

  func connection(user: String) -> Connection? { byUser[user] }

  mutating func connection(at remote: TransportAddress) -> Connection? {
    if let latest, latest.address == remote { return latest.connection }
    guard let connection = byAddress[remote] else { return nil }
    latest = (remote, connection)
    return connection
  }

  /// An address belongs to the connection whose authenticated request came from it last.
  mutating func learn(_ remote: TransportAddress, of connection: Connection) {
    if let known = byAddress[remote] {
      if known === connection { return }
      addresses[ObjectIdentifier(known)]?.removeAll { $0 == remote }
    }
    var own = addresses[ObjectIdentifier(connection)] ?? []
    if own.count >= Self.mostAddresses { byAddress[own.removeFirst()] = nil }
    own.append(remote)
    addresses[ObjectIdentifier(connection)] = own
    byAddress[remote] = connection
    latest = nil
  }
}
