import SoraICE
import SoraMedia
import SoraTransport
import Testing

@Suite(.timeLimit(.minutes(5))) struct LoopEchoTests {
  static let families: [IPAddress] = [.loopbackV4, .loopbackV6]

  @Test(arguments: families, [true, false])
  func everyDatagramComesBackInOrder(ip: IPAddress, offload: Bool) async throws {
    var configuration = NetworkLoop.Configuration()
    configuration.segmentationOffload = offload
    configuration.receiveOffload = offload
    let a = LoopEndpoint(try .make(configuration: configuration))
    let b = LoopEndpoint(try .make(configuration: configuration))
    let addressA = try await a.open(ip)
    let addressB = try await b.open(ip)
    await b.echo()
    // Sizes that make runs, a run that a shorter one ends, and single ones.
    let sizes = [1200, 1200, 1200, 700, 1200, 4, 4, 1300, 1300, 60, 1200]
    let sent = (0..<88).map { numberedDatagram($0, size: sizes[$0 % sizes.count]) }
    await a.send(sent, to: addressB)
    let back = await a.received(sent.count)
    #expect(back.map(\.bytes) == sent)
    #expect(back.allSatisfy { $0.source == addressB })
    let seen = await b.received(sent.count)
    #expect(seen.map(\.bytes) == sent)
    #expect(seen.allSatisfy { $0.source == addressA })

    let statistics = await a.statistics
    #expect(statistics.datagramsSent == 88 && statistics.datagramsReceived == 88)
    #expect(statistics.bytesSent == UInt64(sent.reduce(0) { $0 + $1.count }))
    #expect(statistics.drops.total == 0)
    if !offload { #expect(statistics.mergedSends == 0 && statistics.mergedReceives == 0) }
    await a.close()
    await b.close()
  }

  @Test func aTurnLeavesInOneCall() async throws {
    let a = LoopEndpoint(try .make())
    let b = LoopEndpoint(a.loop)
    _ = try await a.open(.loopbackV4)
    let addressB = try await b.open(.loopbackV4)
    await a.send((0..<60).map { numberedDatagram($0, size: 1100) }, to: addressB)
    _ = await b.received(60)
    let sender = await a.statistics
    let receiver = await b.statistics
    #expect(sender.sendCalls == 1)
    #expect(receiver.datagramsReceived == 60)
    #expect(await b.batches <= Int(receiver.receiveCalls))
    if sender.mergedSends > 0 { #expect(receiver.receiveCalls < 30) }
    await a.close()
    await b.close()
  }

  @Test func aBatchEndsOnceATurnForAHandlerOfSeveralSockets() async throws {
    let loop = try NetworkLoop.make()
    let receiver = LoopEndpoint(loop)
    let first = try await receiver.open(.loopbackV4)
    let second = try await receiver.open(.loopbackV4)
    let sender = LoopEndpoint(try .make())
    _ = try await sender.open(.loopbackV4)
    await sender.send([numberedDatagram(0, size: 100)], to: first)
    await sender.send([numberedDatagram(1, size: 100)], to: second)
    let all = await receiver.received(2)
    #expect(Set(all.map { Int($0.bytes[0]) }) == [0, 1])
    // Every turn that delivered something has ended once.
    #expect((1...2).contains(await receiver.batches))
    loop.shutdown()
    await sender.close()
  }

  @Test func datagramsLongerThanASlotOfTheSlabGoThrough() async throws {
    let a = LoopEndpoint(try .make())
    let b = LoopEndpoint(a.loop)
    _ = try await a.open(.loopbackV4)
    let address = try await b.open(.loopbackV4)
    let long = [
      numberedDatagram(1, size: 30_000), numberedDatagram(2, size: 30_000),
      numberedDatagram(3, size: 65_507),
      numberedDatagram(4, size: 9),
    ]
    await a.send(long, to: address)
    #expect(await b.received(4).map(\.bytes) == long)
    await a.close()
    await b.close()
  }

  @Test func theWrongLengthIsACountedDrop() async throws {
    let endpoint = LoopEndpoint(try .make())
    let address = try await endpoint.open(.loopbackV4)
    await endpoint.with { endpoint in
      #expect(endpoint.socket?.send(to: address, capacity: 65_508) { _ in 1 } == false)
      #expect(endpoint.socket?.send(to: address) { _ in 0 } == false)
    }
    let drops = await endpoint.statistics.drops
    #expect(drops.tooLong == 1 && drops.total == 1)
    await endpoint.close()
  }

  @Test func anUnreachableDestinationIsACountedDrop() async throws {
    let endpoint = LoopEndpoint(try .make())
    _ = try await endpoint.open(.loopbackV6)
    // A socket on ::1 can't reach an IPv4 destination, whatever the host's routes are.
    await endpoint.send([[1, 2, 3]], to: TransportAddress(ip: .loopbackV4, port: 9))
    // The drop is counted at the end of that turn.
    await endpoint.loop.run {}
    let statistics = await endpoint.statistics
    #expect(statistics.datagramsSent == 0)
    #expect(statistics.drops.total == 1)
    await endpoint.close()
  }

  @Test func aFullQueueIsACountedDropAndEverythingElseArrives() async throws {
    var configuration = NetworkLoop.Configuration()
    configuration.sendBufferBytes = 1
    configuration.queueLimit = 16
    let a = LoopEndpoint(try .make(configuration: configuration))
    let b = LoopEndpoint(try .make())
    _ = try await a.open(.loopbackV4)
    let address = try await b.open(.loopbackV4)
    await a.send((0..<400).map { numberedDatagram($0, size: 1000) }, to: address)
    // Whatever was not dropped is sent once there is room.
    var statistics = await a.statistics
    while statistics.datagramsSent + statistics.drops.total < 400 {
      statistics = await a.statistics
    }
    #expect(statistics.drops.total == statistics.drops.queueFull)
    let arrived = await b.received(Int(statistics.datagramsSent))
    let numbers = arrived.map { Int($0.bytes[0]) | Int($0.bytes[1]) << 8 }
    #expect(numbers == numbers.sorted())
    await a.close()
    await b.close()
  }

  @Test func bindingToAnotherHostsAddressSaysSo() async throws {
    let endpoint = LoopEndpoint(try .make())
    // RFC 5737: TEST-NET-1 is nobody's.
    let foreign = IPAddress(v4: 0xC000_0201)
    await #expect(throws: NetworkError.addressNotAvailable(TransportAddress(ip: foreign, port: 0)))
    {
      try await endpoint.open(foreign)
    }
    let taken = try await endpoint.open(.loopbackV4)
    await #expect(throws: NetworkError.addressInUse(taken)) {
      try await endpoint.with { endpoint in
        _ = try endpoint.loop.openUDP(taken, handler: endpoint.inbox)
      }
    }
    await endpoint.close()
  }
}
