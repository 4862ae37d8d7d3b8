import SoraICE
import SoraMedia

/// A TURN server, its clients and their peers, in virtual time, from a seed.
final class TURNWorld: TURNServerNetwork {
  struct Arrival: Equatable {
    let from: TransportAddress
    let bytes: [UInt8]
  }

  private enum Way {
    case toServer(client: Int)
    case toClient(Int)
    case toPeer(from: TransportAddress, to: TransportAddress)
    case toRelay(from: TransportAddress, relay: TransportAddress)
  }

  private struct Flight {
    let at: Instant
    let order: Int
    let way: Way
    let bytes: [UInt8]
  }

  private(set) var now = Instant.zero
  private(set) var server: TURNServer!
  private(set) var clients: [TURNClient] = []
  private(set) var events: [[TURNClient.Event]] = []
  /// What came out of each client.
  private(set) var received: [[Arrival]] = []
  /// What came to each peer.
  private(set) var atPeer: [TransportAddress: [Arrival]] = [:]
  /// Messages from each client to the server, by their first byte: ChannelData or STUN.
  private(set) var channelDataSent = 0
  private(set) var openRelays: Set<TransportAddress> = []
  var loss = 0.0
  var delay = Duration.milliseconds(20)
  var hasRelays = true
  /// The server doesn't hear anything.
  var isCut = false
  private var flights: [Flight] = []
  private var order = 0
  private var nextPort: UInt16 = 50_000
  private var addresses: [TransportAddress] = []
  private let random: RandomSource

  static let serverAddress = TransportAddress("192.0.2.1:3478")!
  static let serverAddressV6 = TransportAddress("[2001:db8::1]:3478")!

  init(seed: UInt64, _ change: (inout TURNServer.Configuration) -> Void = { _ in }) {
    random = RandomSource(seed: seed)
    var configuration = TURNServer.Configuration(
      realm: "sora.test", credentials: .users(["ann": "secret", "bob": "other"]))
    change(&configuration)
    server = TURNServer(
      configuration: configuration, network: self, random: random.fork())
  }

  @discardableResult
  func add(
    _ credentials: LongTermCredentials? = .init(username: "ann", password: "secret"),
    isStream: Bool = false, family: STUNAddressFamily = .ipv4, at address: String? = nil
  ) -> Int {
    var configuration = TURNClient.Configuration(credentials: credentials)
    configuration.isStream = isStream
    configuration.family = family
    clients.append(
      TURNClient(
        server: Self.serverAddress, configuration: configuration, random: random.fork()))
    addresses.append(
      address.flatMap { TransportAddress($0) }
        ?? TransportAddress("198.51.100.7:\(40_000 + clients.count)")!)
    events.append([])
    received.append([])
    return clients.count - 1
  }

  func address(of client: Int) -> TransportAddress { addresses[client] }

  /// A client that asks for an allocation and gets it.
  func allocated(
    isStream: Bool = false, family: STUNAddressFamily = .ipv4
  ) -> (index: Int, client: TURNClient) {
    let index = add(isStream: isStream, family: family)
    clients[index].start(at: now)
    run(for: .seconds(5))
    return (index, clients[index])
  }

  func send(_ bytes: [UInt8], from client: Int, to peer: TransportAddress) {
    settle()
    var buffer = [UInt8](repeating: 0xEE, count: bytes.count + TURNClient.maximumOverhead)
    let count = buffer.withUnsafeMutableBytes { slot in
      clients[client].write(to: peer, into: slot) { body in
        body.copyBytes(from: bytes)
        return bytes.count
      }
    }
    guard count > 0 else { return }
    if buffer[0] & 0xC0 == 0x40 { channelDataSent += 1 }
    fly(.toServer(client: client), Array(buffer.prefix(count)))
    settle()
  }

  func send(_ bytes: [UInt8], fromPeer peer: TransportAddress, to relay: TransportAddress) {
    fly(.toRelay(from: peer, relay: relay), bytes)
  }

  /// Bytes that a client didn't make.
  func inject(_ bytes: [UInt8], from client: Int) { fly(.toServer(client: client), bytes) }

  func run(for duration: Duration) {
    let end = now + duration
    settle()
    var steps = 0
    while steps < 2_000_000 {
      steps += 1
      var next = flights.first?.at
      next = earliest(next, server.nextDeadline)
      for client in clients { next = earliest(next, client.nextDeadline) }
      guard let next, next <= end else { break }
      now = max(now, next)
      while let flight = flights.first, flight.at <= now {
        flights.removeFirst()
        deliver(flight)
      }
      server.poll(at: now)
      for client in clients { client.poll(at: now) }
      settle()
    }
    now = end
  }

  // MARK: The network

  func openRelay(_ family: STUNAddressFamily, for client: TURNServer.Client)
    -> TransportAddress?
  {
    guard hasRelays else { return nil }
    nextPort += 1
    let relay = TransportAddress(
      ip: family == .ipv4 ? Self.serverAddress.ip : Self.serverAddressV6.ip, port: nextPort)
    openRelays.insert(relay)
    return relay
  }

  func closeRelay(_ relay: TransportAddress) { openRelays.remove(relay) }

  func send(
    to client: TURNServer.Client, capacity: Int, _ write: (inout MutableRawSpan) -> Int
  ) {
    guard let index = addresses.firstIndex(of: client.remote) else { return }
    fly(.toClient(index), written(capacity, write))
  }

  func sendRelayed(
    from relay: TransportAddress, to peer: TransportAddress, capacity: Int,
    _ write: (inout MutableRawSpan) -> Int
  ) {
    fly(.toPeer(from: relay, to: peer), written(capacity, write))
  }

  private func written(
    _ capacity: Int, _ write: (inout MutableRawSpan) -> Int
  ) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xEE, count: capacity)
    let count = bytes.withMutableRawSpan(write)
    return Array(bytes.prefix(count))
  }

  private func fly(_ way: Way, _ bytes: [UInt8]) {
    guard Double(random.next() >> 11) / Double(UInt64(1) << 53) >= loss else { return }
    order += 1
    flights.append(Flight(at: now + delay, order: order, way: way, bytes: bytes))
  }

  private func deliver(_ flight: Flight) {
    switch flight.way {
    case .toServer(let index):
      if isCut { return }
      let client = TURNServer.Client(
        local: Self.serverAddress, remote: addresses[index],
        isStream: clients[index].configuration.isStream)
      flight.bytes.withUnsafeBytes { server.receive($0, from: client, at: now) }
    case .toClient(let index):
      var bytes = flight.bytes
      bytes.withUnsafeMutableBytes { pointer in
        if case .data(let payload, let from) = clients[index].receive(pointer, at: now) {
          received[index].append(Arrival(from: from, bytes: Array(pointer[payload])))
        }
      }
    case .toPeer(let from, let to):
      atPeer[to, default: []].append(Arrival(from: from, bytes: flight.bytes))
    case .toRelay(let from, let relay):
      flight.bytes.withUnsafeBytes { server.receiveRelayed($0, from: from, on: relay, at: now) }
    }
  }

  private func settle() {
    for (index, client) in clients.enumerated() {
      while let bytes = client.nextTransmit() { fly(.toServer(client: index), bytes) }
      while let event = client.nextEvent() { events[index].append(event) }
    }
  }
}
