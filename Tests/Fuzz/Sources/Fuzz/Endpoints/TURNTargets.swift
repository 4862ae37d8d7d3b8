import SoraICE
import SoraMedia

extension FuzzTarget {
  private static let credentials = LongTermCredentials(username: "ann", password: "secret")
  private static let realm = Array("sora.test".utf8)
  private static let peer = TransportAddress(ip: IPAddress(v4: 0xCB00_7109), port: 5000)

  // MARK: The client, and a server that says anything

  static var turnClient: FuzzTarget {
    FuzzTarget(
      "turn-client", maximumLength: 400,
      seeds: [
        // A challenge, an allocation, a permission, a channel, data, hours.
        [0, 1, 0, 1, 0x10, 3, 4, 1, 0x20, 1, 0x20, 5, 2, 252, 6, 7],
        [1, 1, 0, 1, 0x40, 1, 0x80, 2, 240, 0, 0, 4, 0x40, 0, 0, 0],
      ]
    ) { bytes in
      var input = FuzzInput(bytes)
      var configuration = TURNClient.Configuration(credentials: credentials)
      let kind = input.byte()
      configuration.isStream = kind & 1 != 0
      configuration.family = kind & 2 != 0 ? .ipv6 : .ipv4
      configuration.maxPermissions = 4
      configuration.maxChannels = 3
      var run = TURNClientRun(
        TURNClient(
          server: FuzzAddresses.remote, configuration: configuration,
          random: RandomSource(seed: 5)))
      while !input.isAtEnd { run.step(&input) }
      run.client.close(at: run.now)
      run.drain()
    }
  }

  private struct TURNClientRun {
    let client: TURNClient
    var now = Instant.zero
    var sent: [[UInt8]] = []

    init(_ client: TURNClient) {
      self.client = client
      client.start(at: now)
      drain()
    }

    mutating func drain() {
      while let bytes = client.nextTransmit() {
        check(bytes.withUnsafeBytes { isSTUN($0) }, "the client sent something else")
        sent.append(bytes)
        if sent.count > 16 { sent.removeFirst() }
      }
      var events = 0
      while client.nextEvent() != nil { events += 1 }
      check(events < 64, "events without end")
    }

    mutating func step(_ input: inout FuzzInput) {
      switch input.byte() % 8 {
      case 0: receive(input.chunk())
      case 1: answer(&input)
      case 2:
        let end = now + input.step()
        let client = client
        drive(until: end, from: now, deadline: client.nextDeadline) { client.poll(at: $0) }
        now = end
      case 3: client.permit(FuzzAddresses.remote(input.byte()).ip, at: now)
      case 4: client.bindChannel(FuzzAddresses.remote(input.byte()), at: now)
      case 5:
        let peer = FuzzAddresses.remote(input.byte())
        let size = Int(input.byte())
        lendExactly([], room: size + TURNClient.maximumOverhead) { slot in
          let count = client.write(to: peer, into: slot) { body in
            check(body.count >= size, "less room than there has to be")
            return size
          }
          check(count <= slot.count, "more was written than there is room for")
        }
      case 6:
        receive([0x40, input.byte() & 3, 0, 4, 1, 2, 3, 4])
      default: client.close(at: now)
      }
      drain()
    }

    private func receive(_ bytes: [UInt8]) {
      lendExactly(bytes) { pointer in
        if case .data(let payload, _) = client.receive(pointer, at: now) {
          check(payload.upperBound <= bytes.count, "more came out than went in")
        }
      }
    }

    /// An answer to one of the client's requests, signed or not, with attributes of the input's choice.
    private func answer(_ input: inout FuzzInput) {
      guard let last = sent.last else { return }
      let choice = input.byte()
      guard let request = last.withUnsafeBytes({ try? STUNMessage(parsing: $0) }) else { return }
      var attributes: [STUNAttribute] = []
      let codes = [401, 438, 437, 300, 500, 486, 441, 403]
      switch choice >> 4 {
      case 0:
        attributes = [
          .errorCode(401, reason: ""), .realm(realm),
          .nonce(Array((choice & 1 == 0 ? "n" : "obMatJos2AAABx").utf8)),
        ]
        if choice & 2 != 0 { attributes.append(.passwordAlgorithms([.sha256, .md5])) }
      case 1, 2, 3:
        attributes = [
          .xorRelayedAddress(FuzzAddresses.local), .lifetime(choice & 4 != 0 ? .max : 600),
          .xorMappedAddress(FuzzAddresses.remote(choice)),
        ]
      case 4: attributes = [.lifetime(input.number32())]
      case 5:
        attributes = [.errorCode(300, reason: ""), .alternateServer(FuzzAddresses.remote(choice))]
      default:
        attributes = [
          .errorCode(codes[Int(choice & 7)], reason: "x"), .realm(realm), .nonce([choice]),
        ]
      }
      let isError = attributes.contains { if case .errorCode = $0 { true } else { false } }
      receive(
        STUNMessage(
          isError ? .error : .success, method: request.method,
          transactionID: request.transactionID, attributes: attributes
        ).encoded(key: choice & 8 == 0 ? credentials.key(realm: realm) : nil))
    }
  }

  // MARK: The server, and clients that know its passwords

  static var turnServer: FuzzTarget {
    FuzzTarget(
      "turn-server", maximumLength: 500,
      seeds: [
        [0, 1, 0, 1, 3, 1, 8, 1, 9, 3, 2, 0, 4, 1, 2, 3, 4, 2, 250],
        [0, 1, 3, 4, 0, 5, 9, 9, 9, 9, 9, 2, 230, 1, 4, 5, 1],
      ]
    ) { bytes in
      var input = FuzzInput(bytes)
      let world = TURNServerRun()
      while !input.isAtEnd { world.step(&input) }
      world.server.close()
      check(world.relays.isEmpty, "a relay stayed open")
    }
  }

  private final class TURNServerRun: TURNServerNetwork {
    private(set) var server: TURNServer!
    private(set) var relays: Set<TransportAddress> = []
    private var now = Instant.zero
    private var nonce: [UInt8] = []
    private var nextPort: UInt16 = 50_000
    private let transactions = RandomSource(seed: 8)

    init() {
      var configuration = TURNServer.Configuration(
        realm: "sora.test", credentials: .users(["ann": "secret"]))
      configuration.offersSHA256 = false
      configuration.maximumAllocations = 3
      configuration.maximumPermissions = 4
      configuration.maximumChannels = 3
      server = TURNServer(
        configuration: configuration, network: self, random: RandomSource(seed: 7))
    }

    func openRelay(_ family: STUNAddressFamily, for client: TURNServer.Client)
      -> TransportAddress?
    {
      nextPort &+= 1
      let relay = TransportAddress(
        ip: family == .ipv4 ? FuzzAddresses.local.ip : IPAddress(v6: (1, 1)), port: nextPort)
      relays.insert(relay)
      return relay
    }

    func closeRelay(_ relay: TransportAddress) {
      check(relays.remove(relay) != nil, "a relay was closed twice")
    }

    func send(
      to client: TURNServer.Client, capacity: Int, _ write: (inout MutableRawSpan) -> Int
    ) {
      lendExactly([], room: capacity) { slot in
        let count = slot.withMutableRawSpan(write)
        check(count <= slot.count, "more was written than there is room for")
        let message = try? STUNMessage(parsing: UnsafeRawBufferPointer(rebasing: slot[..<count]))
        for case .nonce(let bytes) in message?.attributes ?? [] { nonce = bytes }
      }
    }

    func sendRelayed(
      from relay: TransportAddress, to peer: TransportAddress, capacity: Int,
      _ write: (inout MutableRawSpan) -> Int
    ) {
      check(relays.contains(relay), "sent from a relay that is closed")
      lendExactly([], room: capacity) { slot in
        check(slot.withMutableRawSpan(write) <= slot.count, "overrun")
      }
    }

    private func client(_ choice: UInt8) -> TURNServer.Client {
      TURNServer.Client(
        local: FuzzAddresses.local, remote: FuzzAddresses.remote(choice & 0x43),
        isStream: choice & 0x80 != 0)
    }

    func step(_ input: inout FuzzInput) {
      switch input.byte() % 6 {
      case 0: receive(input.chunk(), client(input.byte()))
      case 1: receive(request(&input), client(input.byte()))
      case 2:
        let end = now + input.step()
        let server = server!
        drive(until: end, from: now, deadline: server.nextDeadline) { server.poll(at: $0) }
        now = end
      case 3:
        receive([0x40, input.byte() & 3, 0, 4, 1, 2, 3, 4], client(input.byte()))
      case 4:
        guard let relay = relays.min(by: { $0.port < $1.port }) else { break }
        let from = input.byte() & 1 == 0 ? peer : FuzzAddresses.remote(input.byte())
        lendExactly(input.shortChunk()) {
          server.receiveRelayed(UnsafeRawBufferPointer($0), from: from, on: relay, at: now)
        }
      default: server.clientGone(client(input.byte()))
      }
      check(server.allocationCount == relays.count, "allocations and relays differ")
      check(relays.count <= 3, "more allocations than there may be")
    }

    private func receive(_ bytes: [UInt8], _ client: TURNServer.Client) {
      lendExactly(bytes) { server.receive(UnsafeRawBufferPointer($0), from: client, at: now) }
    }

    /// A request that is signed as it should be, once a challenge has come.
    private func request(_ input: inout FuzzInput) -> [UInt8] {
      let choice = input.byte()
      let method = UInt16(choice & 15)
      var attributes: [STUNAttribute] = []
      switch method {
      case 3:
        attributes = [.requestedTransport(17)]
        if choice & 16 != 0 { attributes.append(.requestedAddressFamily(.ipv6)) }
      case 4: attributes = [.lifetime(choice & 16 != 0 ? 0 : input.number32())]
      case 6: attributes = [.xorPeerAddress(peer), .data(input.shortChunk())]
      case 8: attributes = [.xorPeerAddress(peer)]
      case 9:
        attributes = [
          .channelNumber(0x4000 | UInt16(input.byte() & 7)), .xorPeerAddress(peer),
        ]
      default: attributes = [.other(type: input.number16(), value: input.shortChunk())]
      }
      if choice & 32 != 0 { attributes.append(.xorPeerAddress(FuzzAddresses.remote(choice))) }
      guard method != 6 else {
        return STUNMessage(
          .indication, method: 6, transactionID: STUNTransactionID(random: transactions),
          attributes: attributes
        ).encoded(key: nil, fingerprint: false)
      }
      if !nonce.isEmpty {
        attributes += [.username(Array("ann".utf8)), .realm(realm), .nonce(nonce)]
      }
      return STUNMessage(
        .request, method: method, transactionID: STUNTransactionID(random: transactions),
        attributes: attributes
      ).encoded(key: nonce.isEmpty ? nil : credentials.key(realm: realm))
    }
  }
}
