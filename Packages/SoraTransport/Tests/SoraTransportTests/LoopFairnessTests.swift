import SoraICE
import SoraMedia
import SoraTransport
import Testing

@Suite(.timeLimit(.minutes(1))) struct LoopFairnessTests {
  /// A socket that is never empty doesn't keep others, timers and work from their turn.
  @Test func aFloodedSocketLeavesTheOthersTheirTurn() async throws {
    var configuration = NetworkLoop.Configuration()
    configuration.receiveLimit = 32
    let loop = try NetworkLoop.make(configuration: configuration)
    let flooded = LoopEndpoint(loop)
    let quiet = LoopEndpoint(loop)
    let address = try await flooded.open(.loopbackV4)
    let quietAddress = try await quiet.open(.loopbackV4)
    // Answers itself with two for one: never empty again.
    await flooded.with { flooded in
      flooded.inbox.keeps = false
      flooded.inbox.onDatagram = { bytes, _, socket, _ in
        for _ in 0..<2 {
          socket.send(to: address, capacity: 100) { memory in
            memory[0] = 1
            return 100
          }
        }
      }
    }
    await flooded.send([[1], [2], [3], [4]], to: address)
    _ = await flooded.received(2000)
    // All of these would hang if the flood had the loop to itself.
    let sender = LoopEndpoint(try .make())
    _ = try await sender.open(.loopbackV4)
    await sender.send([[7]], to: quietAddress)
    #expect(await quiet.received(1).map(\.bytes) == [[7]])
    await withCheckedContinuation { (fired: CheckedContinuation<Void, Never>) in
      loop.execute {
        let timer = loop.makeTimer { _ in fired.resume() }
        timer.deadline = loop.now + .milliseconds(1)
      }
    }
    // One socket, one turn: the limit and at most one batch more, which GRO may have filled with 64 each.
    let most = await flooded.with { flooded in
      (count: flooded.inbox.count, batches: flooded.inbox.batches)
    }
    #expect(most.batches > 1)
    #expect(most.count / most.batches <= 32 + 16 * 64)
    loop.shutdown()
    await sender.close()
  }
}
