import SoraDTLS
import SoraMedia
import Testing

@Suite struct LossTests {
  /// Each datagram of the handshake gets lost once, in turn.
  @Test(arguments: 0..<6)
  func losingOneDatagramOnlyDelays(lost: Int) throws {
    let pair = try makePair()
    pair.delivers = { $0 != lost }
    pair.start()
    pair.run { $0.isConnected }
    #expect(pair.isConnected, "client \(pair.clientEvents) server \(pair.serverEvents)")
    #expect(pair.largestDatagram <= OpenSSLDTLSFactory.mtu)
    #expect(pair.datagramCount < 30)
  }

  @Test(arguments: 1...4)
  func aQuarterOfTheDatagramsLost(seed: Int) throws {
    let random = RandomSource(seed: UInt64(seed))
    let pair = try makePair()
    pair.delivers = { _ in random.next() % 4 != 0 }
    pair.start()
    pair.run { $0.isConnected }
    #expect(
      pair.isConnected, "client \(pair.clientFailure as Any) server \(pair.serverFailure as Any)")
  }

  @Test func aSilentPeerIsNotFloodedAndGetsLongerAndLongerPauses() throws {
    let pair = try makePair()
    pair.delivers = { _ in false }
    pair.start()
    pair.run(limit: .milliseconds(800)) { _ in false }
    // Sent at 0, 100, 300 and 700 ms.
    #expect((2...4).contains(pair.datagramCount))
  }

  @Test func theFirstTimerIsAboutATenthOfASecond() throws {
    let pair = try makePair()
    let now = Instant(nanoseconds: 5_000_000_000)
    #expect(pair.client.nextDeadline == nil)
    pair.client.start(at: now)
    let deadline = try #require(pair.client.nextDeadline)
    #expect(deadline > now)
    #expect(deadline <= now + .milliseconds(101))
    #expect(pair.client.nextTransmit() != nil)
    #expect(pair.client.nextTransmit() == nil)
    // Early polls, and polls at an instant that libssl's own clock hasn't reached, send nothing.
    pair.client.poll(at: now)
    #expect(pair.client.nextTransmit() == nil)
    #expect(pair.client.nextDeadline != nil)
  }

  @Test func datagramsThatComeTwiceDoNoHarm() throws {
    let pair = try makePair()
    pair.server.start(at: pair.now)
    pair.client.start(at: pair.now)
    for _ in 0..<20 {
      while let datagram = pair.client.nextTransmit() {
        for _ in 0..<2 { datagram.withUnsafeBytes { pair.server.receive($0, at: pair.now) } }
      }
      while let datagram = pair.server.nextTransmit() {
        for _ in 0..<2 { datagram.withUnsafeBytes { pair.client.receive($0, at: pair.now) } }
      }
    }
    pair.exchange()
    #expect(pair.isConnected)
  }
}
