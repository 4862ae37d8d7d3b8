import SoraICE
import SoraMedia
import SoraTransport
import Testing

/// What is sent to many in turn leaves together by destination.
@Suite(.timeLimit(.minutes(5))) struct LoopGroupingTests {
  /// One socket that sends, and many that receive. The sender has a loop of its own.
  private struct Fan {
    let sender: LoopEndpoint
    let receivers: [LoopEndpoint]
    let addresses: [TransportAddress]

    init(_ count: Int, _ configuration: NetworkLoop.Configuration = .init()) async throws {
      sender = LoopEndpoint(try .make(configuration: configuration))
      let source = try await sender.open(.loopbackV4)
      let loop = try NetworkLoop.make()
      var receivers: [LoopEndpoint] = []
      var addresses: [TransportAddress] = []
      for _ in 0..<count {
        let receiver = LoopEndpoint(loop)
        addresses.append(try await receiver.open(.loopbackV4, from: source))
        receivers.append(receiver)
      }
      (self.receivers, self.addresses) = (receivers, addresses)
    }

    /// Sends numbered datagrams in one turn, each to the receiver that `choice` names for its number.
    func send(
      _ numbers: Range<Int>, size: @Sendable (Int) -> Int, to choice: @Sendable (Int) -> Int
    )
      async
    {
      await sender.with { [addresses] sender in
        for number in numbers {
          let bytes = numberedDatagram(number, size: size(number))
          sender.socket?.send(to: addresses[choice(number)], capacity: bytes.count) { memory in
            memory.copyBytes(from: bytes)
            return bytes.count
          }
        }
      }
    }

    func close() async {
      await sender.close()
      for receiver in receivers { await receiver.close() }
    }
  }

  private static func number(_ bytes: [UInt8]) -> Int { Int(bytes[0]) | Int(bytes[1]) << 8 }

  @Test func roundRobinLeavesInOneMessageADestination() async throws {
    let fan = try await Fan(8)
    await fan.send(0..<64, size: { _ in 1100 }, to: { $0 % 8 })
    for (index, receiver) in fan.receivers.enumerated() {
      let arrived = await receiver.received(8).map(\.bytes)
      #expect(arrived == (0..<8).map { numberedDatagram($0 * 8 + index, size: 1100) })
    }
    let statistics = await fan.sender.statistics
    #expect(statistics.sendCalls == 1 && statistics.datagramsSent == 64)
    // What one receiver gets says whether the kernel knows UDP_SEGMENT.
    await fan.send(64..<72, size: { _ in 1100 }, to: { _ in 0 })
    _ = await fan.receivers[0].received(16)
    let merges = await fan.sender.statistics.mergedSends > statistics.mergedSends
    #expect(statistics.messagesSent == (merges ? 8 : 64))
    await fan.close()
  }

  /// A frame of seven packets to each of 200, packet by packet as a server forwards it: one message a receiver.
  @Test func aFrameForHundredsIsOneMessageEach() async throws {
    let fan = try await Fan(200)
    await fan.send(0..<1400, size: { _ in 1100 }, to: { $0 % 200 })
    for receiver in fan.receivers { _ = await receiver.received(7) }
    let statistics = await fan.sender.statistics
    #expect(statistics.datagramsSent == 1400 && statistics.drops.total == 0)
    let merges = statistics.mergedSends > 0 || statistics.mergeRefusals == 0
    #expect(!merges || statistics.messagesSent == 200)
    await fan.close()
  }

  /// Sizes that end runs, more destinations than are brought together at a time, more datagrams than a call takes.
  @Test(arguments: [1, 2, 7, 64, 65, 150]) func everyOneKeepsItsOrder(receivers count: Int)
    async throws
  {
    let fan = try await Fan(count)
    let sizes = [1200, 1200, 80, 1200, 4, 700, 700]
    let total = 1500
    @Sendable func size(_ number: Int) -> Int { sizes[number * 7 / 3 % sizes.count] }
    // Neither round robin nor in runs.
    @Sendable func choice(_ number: Int) -> Int { number * number / 5 % count }
    await fan.send(0..<total, size: size, to: choice)
    for (index, receiver) in fan.receivers.enumerated() {
      let mine = (0..<total).filter { choice($0) == index }
      let arrived = await receiver.received(mine.count).map(\.bytes)
      #expect(arrived == mine.map { numberedDatagram($0, size: size($0)) })
    }
    let statistics = await fan.sender.statistics
    #expect(statistics.datagramsSent == UInt64(total) && statistics.drops.total == 0)
    await fan.close()
  }

  @Test func aFullSocketKeepsTheOrderToo() async throws {
    var configuration = NetworkLoop.Configuration()
    configuration.sendBufferBytes = 1
    let fan = try await Fan(5, configuration)
    let total = 2000
    let turns = 10
    for turn in 0..<turns {
      let numbers = turn * total / turns..<(turn + 1) * total / turns
      await fan.send(numbers, size: { _ in 1000 }, to: { $0 * 3 % 5 })
    }
    for (index, receiver) in fan.receivers.enumerated() {
      let arrived = await receiver.received(total / 5).map { Self.number($0.bytes) }
      #expect(arrived == (0..<total).filter { $0 * 3 % 5 == index })
    }
    let statistics = await fan.sender.statistics
    #expect(statistics.datagramsSent == UInt64(total) && statistics.drops.total == 0)
    await fan.close()
  }
}
