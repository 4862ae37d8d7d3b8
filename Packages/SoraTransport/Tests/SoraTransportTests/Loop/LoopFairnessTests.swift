import SoraICE
import SoraMedia
import SoraTransport
import Testing

@Suite(.timeLimit(.minutes(5))) struct LoopFairnessTests {
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

  /// What the two others see of the flood.
  private final class Tally: @unchecked Sendable {
    // @unchecked: touched only on the loop.
    var flood = 0
    var steps: [Int] = []
  }

  /// Two connections play ping-pong beside a flood: each step of theirs waits for one turn's share of it.
  @Test func aStepBesideAFloodTakesOneTurn() async throws {
    // Until each turn has more than its share.
    let waits = try await waits(besideAnswers: 2, first: 4, after: 2000)
    // The limit, and at most one batch more: of the turn of one step, and of that of the next.
    #expect(waits.count >= 399 && (waits.max() ?? .max) <= 2 * (32 + 16), "\(waits.max() ?? 0)")
    #expect(waits.reduce(0, +) > 399 * 16)
  }

  /// A socket that always has one datagram is read without asking about others: for a few turns.
  @Test func aStepBesideASocketThatIsReadAheadTakesAFewTurns() async throws {
    let waits = try await waits(besideAnswers: 1, first: 1, after: 200)
    #expect(waits.count >= 399 && (waits.max() ?? .max) <= 2 * 9, "\(waits.max() ?? 0)")
  }

  /// Datagrams that a socket receives between the steps of two others, when it answers each datagram to itself with
  /// `answers`, from `first` on, and has had `count` before they begin.
  private func waits(besideAnswers answers: Int, first: Int, after count: Int) async throws -> [Int]
  {
    var configuration = NetworkLoop.Configuration()
    configuration.receiveLimit = 32
    // Else a message would count for up to 64 datagrams.
    configuration.segmentationOffload = false
    configuration.receiveOffload = false
    let loop = try NetworkLoop.make(configuration: configuration)
    let tally = Tally()
    let flooded = LoopEndpoint(loop)
    let address = try await flooded.open(.loopbackV4)
    await flooded.with { flooded in
      flooded.inbox.keeps = false
      flooded.inbox.onDatagram = { _, _, socket, _ in
        tally.flood += 1
        for _ in 0..<answers {
          socket.send(to: address, capacity: 100) { memory in
            memory[0] = 1
            return 100
          }
        }
      }
    }
    let ping = LoopEndpoint(loop)
    let pong = LoopEndpoint(loop)
    _ = try await ping.open(.loopbackV4)
    let pongAddress = try await pong.open(.loopbackV4)
    for player in [ping, pong] {
      await player.with { player in
        player.inbox.keeps = false
        player.inbox.onDatagram = { _, source, socket, _ in
          tally.steps.append(tally.flood)
          socket.send(to: source, capacity: 10) { _ in 10 }
        }
      }
    }
    await flooded.send((0..<first).map { [UInt8($0)] }, to: address)
    _ = await flooded.received(count)
    await ping.send([[7]], to: pongAddress)
    _ = await ping.received(200)
    let steps = await loop.run { tally.steps }
    loop.shutdown()
    return zip(steps, steps.dropFirst()).map { $1 - $0 }
  }
}
