import SoraICE
import SoraMedia
import SoraTransport
import Testing

@Suite(.timeLimit(.minutes(5))) struct LoopClosingTests {
  @Test func closingInACallbackEndsDeliveryAtOnce() async throws {
    let a = LoopEndpoint(try .make())
    let b = LoopEndpoint(try .make())
    _ = try await a.open(.loopbackV4)
    let address = try await b.open(.loopbackV4)
    await b.with { b in
      b.inbox.onDatagram = { [inbox = b.inbox] _, source, socket, _ in
        guard inbox.count == 3 else { return }
        // What was sent before leaves; what is sent after doesn't.
        socket.send(to: source) { memory in
          memory[0] = 42
          return 1
        }
        socket.close()
        socket.close()
        #expect(!socket.send(to: source) { _ in 1 })
      }
    }
    await a.send((0..<40).map { numberedDatagram($0, size: 1000) }, to: address)
    let answer = await a.received(1)
    #expect(answer.map(\.bytes) == [[42]])
    #expect(await b.count == 3)
    #expect(await b.statistics.drops.closed == 1)
    #expect(await b.openSockets == 0)
    // The loop's totals outlive the socket.
    #expect(await b.loopStatistics.datagramsReceived == 3)
    await a.close()
  }

  @Test func closingAnotherSocketWhoseDatagramsAreWaiting() async throws {
    // All on one loop: what one turn sends is there for both sockets in the next.
    let loop = try NetworkLoop.make()
    let sender = LoopEndpoint(loop)
    let pair = [LoopEndpoint(loop), LoopEndpoint(loop)]
    _ = try await sender.open(.loopbackV4)
    let addresses = [try await pair[0].open(.loopbackV4), try await pair[1].open(.loopbackV4)]
    let total = await withCheckedContinuation { (done: CheckedContinuation<Int, Never>) in
      loop.execute {
        for (index, endpoint) in pair.enumerated() {
          let other = pair[1 - index]
          endpoint.assumeIsolated { endpoint in
            endpoint.inbox.onDatagram = { _, _, _, _ in
              other.assumeIsolated { $0.close() }
              // Runs when this turn has delivered what it has.
              loop.execute {
                let counts = pair.map { $0.assumeIsolated { $0.inbox.count } }
                done.resume(returning: counts[0] + counts[1])
              }
            }
          }
        }
        sender.assumeIsolated { sender in
          sender.send([[1]], to: addresses[0])
          sender.send([[2]], to: addresses[1])
        }
      }
    }
    #expect(total == 1)
    loop.shutdown()
  }

  @Test func aClosedSocketLetsGoOfItsHandler() async throws {
    let loop = try NetworkLoop.make()
    let released = await loop.run { () -> Bool in
      weak var handler: LoopRecorder?
      do {
        let inbox = LoopRecorder()
        handler = inbox
        guard
          let socket = try? loop.openUDP(
            TransportAddress(ip: .loopbackV4, port: 0), handler: inbox)
        else { return false }
        #expect(handler != nil)
        socket.close()
      }
      return handler == nil
    }
    #expect(released)
  }
}
