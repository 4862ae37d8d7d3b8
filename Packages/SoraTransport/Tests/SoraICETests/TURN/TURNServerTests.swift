import SoraICE
import SoraMedia
import Testing

private let peer = TransportAddress("203.0.113.9:5000")!

@Suite struct TURNServerTests {
  @Test func quotasAreKept() {
    let world = TURNWorld(seed: 1) {
      $0.maximumAllocationsPerUser = 2
      $0.maximumAllocations = 3
    }
    for _ in 0..<3 { world.add() }
    for client in world.clients {
      client.start(at: world.now)
      world.run(for: .seconds(1))
    }
    #expect(world.clients[1].relayedAddress != nil)
    #expect(
      world.clients[2].state
        == .failed(.refused(code: 486, reason: "Allocation Quota Reached")))
    let bob = LongTermCredentials(username: "bob", password: "other")
    for _ in 0..<2 {
      let index = world.add(bob)
      world.clients[index].start(at: world.now)
      world.run(for: .seconds(1))
    }
    #expect(world.clients[3].relayedAddress != nil)
    #expect(
      world.clients[4].state == .failed(.refused(code: 508, reason: "Insufficient Capacity")))
    #expect(world.server.allocationCount == 3)
  }

  @Test func withoutSocketsThereIsNoCapacity() {
    let world = TURNWorld(seed: 2)
    world.hasRelays = false
    let index = world.add()
    let v6 = world.add(family: .ipv6)
    for client in world.clients { client.start(at: world.now) }
    world.run(for: .seconds(1))
    #expect(
      world.clients[index].state == .failed(.refused(code: 508, reason: "Insufficient Capacity")))
    #expect(
      world.clients[v6].state
        == .failed(.refused(code: 440, reason: "Address Family not Supported")))
  }

  @Test func allocationsOfSilentClientsRunOut() {
    let world = TURNWorld(seed: 3)
    _ = world.allocated()
    world.isCut = true
    world.run(for: .seconds(601))
    #expect(world.server.allocationCount == 0)
    #expect(world.openRelays.isEmpty)
    #expect(world.server.nextDeadline == nil)
  }

  @Test func addressesOfTheHostAndOfGroupsAreForbidden() {
    let world = TURNWorld(seed: 4)
    let (index, client) = world.allocated()
    for text in ["127.0.0.1", "224.0.0.1", "0.0.0.0", "255.255.255.255"] {
      client.permit(IPAddress(text)!, at: world.now)
    }
    world.run(for: .seconds(1))
    #expect(world.events[index].dropFirst().count == 4)
    #expect(world.server.statistics.notPermitted == 0)
  }

  @Test func anotherUsersAllocationIsOutOfReach() {
    let world = TURNWorld(seed: 5)
    let (index, _) = world.allocated()
    // The same address and port, another name.
    let other = world.add(
      .init(username: "bob", password: "other"), at: world.address(of: index).description)
    world.clients[other].start(at: world.now)
    world.run(for: .seconds(1))
    #expect(world.server.allocationCount == 1)
    // Both hear the answer, as they share the address; only one waits for it.
    #expect(world.server.statistics.allocationsMade == 1)
  }

  @Test func bindingRequestsAreAnsweredWithoutCredentials() throws {
    let world = TURNWorld(seed: 6)
    let client = STUNBindingClient(
      server: TURNWorld.serverAddress, random: RandomSource(seed: 9))
    client.start(at: .zero)
    final class Catcher: TURNServerNetwork {
      var bytes: [UInt8] = []
      func openRelay(_ family: STUNAddressFamily, for client: TURNServer.Client)
        -> TransportAddress?
      { nil }
      func closeRelay(_ relay: TransportAddress) {}
      func send(
        to client: TURNServer.Client, capacity: Int,
        _ write: (inout MutableRawSpan) -> Int
      ) {
        bytes = [UInt8](repeating: 0, count: capacity)
        _ = bytes.withMutableRawSpan(write)
      }
      func sendRelayed(
        from relay: TransportAddress, to peer: TransportAddress, capacity: Int,
        _ write: (inout MutableRawSpan) -> Int
      ) {}
    }
    let catcher = Catcher()
    let server = TURNServer(
      configuration: world.server.configuration, network: catcher, random: RandomSource(seed: 1))
    let request = try #require(client.nextTransmit())
    request.withUnsafeBytes {
      server.receive($0, from: .init(local: TURNWorld.serverAddress, remote: peer), at: .zero)
    }
    #expect(catcher.bytes.withUnsafeBytes { client.receive($0, at: .zero) })
    #expect(client.state == .mapped(peer))
  }

  @Test func unsignedRequestsAreAnsweredOnlySoOften() {
    let world = TURNWorld(seed: 7) { $0.unsignedAnswersPerSecond = 10 }
    let index = world.add()
    let random = RandomSource(seed: 3)
    for _ in 0..<50 {
      let request = STUNMessage(
        .request, method: 3, transactionID: STUNTransactionID(random: random))
      world.inject(request.encoded(key: nil), from: index)
    }
    world.run(for: .milliseconds(100))
    #expect(world.server.statistics.errorResponses == 10)
    #expect(world.server.statistics.rateLimited == 40)
  }

  /// Mutated messages in every state: the server neither traps nor grants.
  @Test func garbageIsCountedAndNothingElse() {
    let world = TURNWorld(seed: 8)
    let (index, client) = world.allocated()
    client.permit(peer.ip, at: world.now)
    client.bindChannel(peer, at: world.now)
    world.run(for: .seconds(1))
    let random = RandomSource(seed: 4)
    let seeds: [[UInt8]] = [
      Vectors.request, Vectors.longTerm, [0x40, 0, 0, 4, 1, 2, 3, 4], [0x4F, 0xFF, 0xFF, 0xFF],
      STUNMessage(
        .indication, method: 6, transactionID: STUNTransactionID(random: random),
        attributes: [.xorPeerAddress(peer), .data([1, 2, 3])]
      ).encoded(key: nil, fingerprint: false),
      STUNMessage(
        .request, method: 9, transactionID: STUNTransactionID(random: random),
        attributes: [.channelNumber(0x4001), .xorPeerAddress(peer)]
      ).encoded(key: nil),
    ]
    for _ in 0..<20_000 {
      var bytes = seeds[Int(random.next() % UInt64(seeds.count))]
      for _ in 0..<(random.next() % 4) {
        bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      bytes = Array(bytes.prefix(Int(random.next() % UInt64(bytes.count + 1))))
      world.inject(bytes, from: index)
    }
    world.run(for: .seconds(1))
    #expect(world.server.allocationCount == 1)
    #expect(world.server.statistics.allocationsMade == 1)
    #expect(world.server.statistics.malformed > 1000)
    #expect(client.relayedAddress != nil)
  }
}

@Suite struct TURNStreamTests {
  /// All messages come out whole, however the stream is cut.
  @Test func messagesAreCutFromAnyChunks() throws {
    let random = RandomSource(seed: 5)
    var messages: [[UInt8]] = []
    var stream: [UInt8] = []
    for size in 0..<40 {
      let data: [UInt8] = [0x40, 1, 0, UInt8(size)] + [UInt8](repeating: 9, count: size)
      messages += [data, Vectors.request]
      stream += data + [UInt8](repeating: 0, count: (4 - size % 4) % 4) + Vectors.request
    }
    for _ in 0..<50 {
      var deframer = TURNStreamDeframer()
      var found: [[UInt8]] = []
      var rest = stream[...]
      while !rest.isEmpty {
        let count = min(rest.count, 1 + Int(random.next() % 90))
        let chunk = Array(rest.prefix(count))
        rest = rest.dropFirst(count)
        try append(chunk, to: &deframer) { found.append($0) }
      }
      #expect(found == messages)
      #expect(deframer.buffered == 0)
    }
  }

  @Test func whatIsNeitherEndsTheStream() {
    for bytes in [
      [22, 3, 1, 0], [0, 1, 0, 3], [0x80, 0, 0, 0], [0, 1, 0, 0, 1, 2, 3, 4],
      [0xFF, 0xFF, 0xFF, 0xFF],
    ] as [[UInt8]] {
      var deframer = TURNStreamDeframer()
      #expect(throws: TURNStreamDeframer.Unreadable.self) {
        try append(bytes, to: &deframer) { _ in Issue.record("a message") }
      }
    }
  }

  private func append(
    _ bytes: [UInt8], to deframer: inout TURNStreamDeframer, _ body: ([UInt8]) -> Void
  ) throws {
    var error: TURNStreamDeframer.Unreadable?
    bytes.withUnsafeBytes { pointer in
      do throws(TURNStreamDeframer.Unreadable) {
        try deframer.append(pointer) { body([UInt8](copying: $0.bytes)) }
      } catch let unreadable {
        error = unreadable
      }
    }
    if let error { throw error }
  }
}
