import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraTransport
import Testing

/// A transport comes up over ICE and DTLS, and carries protected packets.
@Suite struct PeerConnectTests {
  @Test(arguments: [true, false])
  func bothSidesConnectAndPacketsFlow(lite: Bool) throws {
    let pair = try PeerPair(lite: lite)
    pair.a.usesSession = false
    pair.b.usesSession = false
    #expect(pair.connect())
    let statistics = pair.a.transport.statistics
    let took = try #require(statistics.secured) - (try #require(statistics.started))
    print(
      "connected \(lite ? "full to lite" : "full to full") in \(took.inMilliseconds) ms at a round trip of 40 ms"
    )
    #expect(took < .milliseconds(400))
    #expect(pair.a.states.map(\.state) == [.connecting, .connected])
    #expect(pair.b.states.map(\.state) == [.connecting, .connected])
    for number in 0..<100 {
      #expect(pair.a.sendPlain(UInt16(number)))
      #expect(pair.b.sendPlain(UInt16(number)))
    }
    pair.network.run(for: .seconds(1))
    #expect(pair.a.rtpPackets == 100)
    #expect(pair.b.rtpPackets == 100)
    #expect(pair.network.overduePolls == 0, "a deadline stayed in the past")
  }

  @Test func aLossyLinkOnlyTakesLonger() throws {
    var slowest = Duration.zero
    for seed in 1...20 {
      let pair = try PeerPair(
        seed: UInt64(seed), LinkConditions(delay: .milliseconds(50), loss: 0.2))
      #expect(pair.connect(), "seed \(seed)")
      if let secured = pair.a.transport.statistics.secured {
        slowest = max(slowest, secured - .zero)
      }
    }
    print("20 % loss: slowest of 20 connects \(slowest.inMilliseconds) ms")
    #expect(slowest < .seconds(8))
  }

  @Test func anUnexpectedCertificateIsRefusedByName() throws {
    let pair = try PeerPair()
    let other = try SimulationCertificate.make(99)
    pair.start(fingerprintForA: other.fingerprint)
    pair.network.run(for: .seconds(20))
    #expect(
      pair.a.failure
        == .dtls(
          .fingerprintMismatch(expected: other.fingerprint, actual: pair.b.certificate.fingerprint))
    )
    #expect(pair.a.failure?.stage == "DTLS")
    #expect(!pair.a.transport.isWritable && !pair.b.transport.isWritable)
    // The other side learns by alert or by its own time limit, once.
    #expect(pair.b.states.filter { if case .failed = $0.state { true } else { false } }.count == 1)
    #expect(pair.a.transport.nextDeadline == nil && pair.b.transport.nextDeadline == nil)
  }

  @Test func noPairFailsInItsTime() throws {
    let pair = try PeerPair()
    pair.link.forwardConditions.isUp = false
    pair.link.backwardConditions.isUp = false
    pair.start()
    pair.network.run(for: .seconds(60))
    for peer in [pair.a, pair.b] {
      #expect(peer.failure == .noCandidatePair(localCandidates: 1, remoteCandidates: 1))
      #expect(peer.states.count == 2)
      let took = try #require(peer.states.last?.at) - Instant.zero
      #expect(took >= .seconds(5) && took <= .seconds(15.1), "\(took)")
    }
  }

  @Test func noCandidatesFailAfterTheTimeThatTheyMayTake() throws {
    let pair = try PeerPair()
    pair.start(candidates: false)
    // Neither side knows where the other is; the first gives up after its patience.
    pair.network.run(for: .seconds(20))
    #expect(pair.a.failure == .noCandidatePair(localCandidates: 1, remoteCandidates: 0))
    let took = try #require(pair.a.states.last?.at) - Instant.zero
    #expect(took >= .seconds(5) && took <= .seconds(5.2), "\(took)")
  }

  @Test func aHandshakeThatNobodyBeginsEnds() throws {
    // Both take the server's part: neither ever sends a flight.
    let pair = try PeerPair()
    let one = pair.a.transport.addLocalCandidate(pair.a.address)
    let two = pair.b.transport.addLocalCandidate(pair.b.address)
    for (peer, other, candidate) in [(pair.a, pair.b, two), (pair.b, pair.a, one)] {
      peer.transport.start(
        .init(ice: other.description.0, fingerprint: other.description.1, localRole: .server),
        at: .zero)
      peer.transport.addRemoteCandidate(candidate, at: .zero)
    }
    pair.network.run(for: .seconds(30))
    for peer in [pair.a, pair.b] {
      #expect(peer.failure == .dtls(.timedOut))
      #expect(try #require(peer.states.last?.at) - Instant.zero < .seconds(16))
    }
  }

  @Test func aFlightThatIsFasterThanICEIsKept() throws {
    let pair = try PeerPair()
    // The client's hello comes while the server has no description yet.
    let forA = pair.a.transport.addLocalCandidate(pair.a.address)
    _ = pair.b.transport.addLocalCandidate(pair.b.address)
    var hello = [UInt8](repeating: 22, count: 64)
    func sayHello(_ count: Int) {
      for _ in 0..<count {
        hello.withUnsafeMutableBytes {
          pair.b.transport.receive($0, from: pair.a.address, on: pair.b.address, at: .zero)
        }
      }
    }
    // From an address that nobody has named it could be anybody's.
    sayHello(5)
    #expect(pair.b.transport.statistics.dropped.unknownSource == 5)
    pair.b.transport.addRemoteCandidate(forA, at: .zero)
    sayHello(20)
    // Eight are kept, the rest is counted.
    #expect(pair.b.transport.statistics.dropped.beforeKeys == 12)
    #expect(pair.connect())
  }
}
