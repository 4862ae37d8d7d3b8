import SoraClock
import SoraICE
import SoraMedia
import SoraTransport
import Testing

/// Names on the link, and the host's interfaces, on real sockets.
@Suite(.timeLimit(.minutes(5))) struct LoopNamesAndInterfacesTests {
  /// Answers one question, after having ignored some.
  private final class Responder: DatagramHandler {
    var ignores: Int
    let answer: IPAddress

    init(ignores: Int, answer: IPAddress) {
      self.ignores = ignores
      self.answer = answer
    }

    func received(
      _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
      at now: Instant
    ) {
      guard let query = try? DNSMessage(parsing: UnsafeRawBufferPointer(bytes)),
        let name = query.questions.first
      else { return }
      ignores -= 1
      guard ignores < 0 else { return }
      let response = DNSMessage(
        id: query.id, isResponse: true,
        addresses: [.init(name: name, address: answer, timeToLive: 120)])
      guard let encoded = response.encoded() else { return }
      socket.send(to: source, capacity: encoded.count) { slot in
        slot.copyBytes(from: encoded)
        return encoded.count
      }
    }
  }

  private func lookUp(_ loop: NetworkLoop, ignores: Int) async -> IPAddress? {
    await withCheckedContinuation { continuation in
      loop.execute {
        let responder = Responder(ignores: ignores, answer: IPAddress("192.0.2.77")!)
        guard
          let socket = try? loop.openUDP(
            TransportAddress(ip: .loopbackV4, port: 0), handler: responder),
          let lookup = MulticastDNSLookup(
            "someone.local", on: loop, from: [.loopbackV4], random: .system(),
            group: socket.localAddress,
            { address in
              socket.close()
              continuation.resume(returning: address)
            })
        else { return continuation.resume(returning: nil) }
        lookup.start()
      }
    }
  }

  @Test func aNameOnTheLinkIsFound() async throws {
    let loop = try NetworkLoop.make()
    #expect(await lookUp(loop, ignores: 0) == IPAddress("192.0.2.77"))
    #expect(await lookUp(loop, ignores: 2) == IPAddress("192.0.2.77"))
    #expect(await loop.run { loop.openSockets } == 0)
    loop.shutdown()
  }

  @Test func aNameThatNobodyKnowsIsGivenUp() async throws {
    let loop = try NetworkLoop.make()
    #expect(await lookUp(loop, ignores: .max) == nil)
    #expect(await loop.run { loop.openSockets } == 0)
    loop.shutdown()
  }

  @Test func interfacesAreWatchedUntilNobodyDoes() async throws {
    let loop = try NetworkLoop.make()
    for _ in 0..<3 {
      let error = await loop.run { () -> NetworkError? in
        do throws(NetworkError) {
          let first = try loop.watchInterfaces {}
          let second = try loop.watchInterfaces {}
          first.cancel()
          second.cancel()
          second.cancel()
          return nil
        } catch {
          return error
        }
      }
      #expect(error == nil)
    }
    loop.shutdown()
    let refused = await loop.run { (try? loop.watchInterfaces {}) == nil }
    #expect(refused)
  }
}
