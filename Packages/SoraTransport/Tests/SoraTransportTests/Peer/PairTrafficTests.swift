import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraTransport
import SoraWire
import Testing

/// What each candidate pair carried, and only that.
@Suite struct PairTrafficTests {
  private func sums(_ pairs: [ICEPairStatistics]) -> ICEPairTraffic {
    pairs.reduce(into: ICEPairTraffic()) { sum, pair in
      sum.packetsSent += pair.traffic.packetsSent
      sum.packetsReceived += pair.traffic.packetsReceived
      sum.bytesSent += pair.traffic.bytesSent
      sum.bytesReceived += pair.traffic.bytesReceived
    }
  }

  @Test func aSwitchOfPairsMovesTheCountersOver() throws {
    let call = try RelayedCall(seed: 41)
    #expect(call.connect())
    #expect(call.a.selectedTypes == [.relay, .host])
    call.exchange(50)
    let relayed = try #require(call.a.transport.pairStatistics.first { $0.isSelected })
    #expect(relayed.traffic.packetsSent >= 50 && relayed.traffic.packetsReceived >= 50)
    call.firewall.isOpen = true
    call.exchange(100, from: 50)
    #expect(call.a.selectedTypes == [.host, .host])
    let first = call.a.transport.pairStatistics
    call.exchange(40, from: 150)
    let second = call.a.transport.pairStatistics
    let direct = try #require(second.first { $0.isSelected })
    for pair in second {
      let before = try #require(first.first { $0.number == pair.number }).traffic
      // One packet of the handshake's or of RTP each way and number.
      let moved: UInt64 = pair.number == direct.number ? 40 : 0
      #expect(pair.traffic.packetsSent - before.packetsSent == moved, "pair \(pair.number)")
      #expect(pair.traffic.packetsReceived - before.packetsReceived == moved)
      #expect(pair.traffic.bytesSent - before.bytesSent == moved * 216)
      if moved == 0 { #expect(pair.traffic.lastPacketSent == before.lastPacketSent) }
    }
    let old = try #require(second.first { $0.number == relayed.number })
    #expect(old.traffic.packetsSent >= relayed.traffic.packetsSent)
    let newest = try #require(direct.traffic.lastPacketSent)
    #expect(newest > old.traffic.lastPacketSent ?? newest)
    #expect(try #require(direct.traffic.lastPacketReceived) <= call.network.now)
    for peer in [call.a, call.b] {
      let (sum, statistics) = (sums(peer.transport.pairStatistics), peer.transport.statistics)
      #expect(sum.packetsSent == statistics.packetsSent)
      #expect(sum.packetsReceived == statistics.packetsReceived)
      #expect(sum.bytesSent == statistics.packetBytesSent)
      #expect(sum.bytesReceived == statistics.packetBytesReceived)
      #expect(statistics.datagramsSent > statistics.packetsSent, "checks aren't packets")
    }
    // Nothing gets lost on these links.
    #expect(sums(second).packetsSent == call.b.transport.statistics.packetsReceived)
  }

  @Test func strangersCountForNoPair() throws {
    let pair = try PeerPair()
    #expect(pair.connect())
    let before = pair.b.transport.pairStatistics.map(\.traffic)
    var bytes = [UInt8](repeating: 0x80, count: 100)
    bytes.withUnsafeMutableBytes {
      pair.b.transport.receive(
        $0, from: TransportAddress("203.0.113.9:9")!, on: pair.b.address, at: pair.network.now)
    }
    #expect(pair.b.transport.pairStatistics.map(\.traffic) == before)
  }

  @Test func aRestartKeepsCountingOnThePairInUse() throws {
    let pair = try PeerPair()
    pair.a.usesSession = false
    pair.b.usesSession = false
    #expect(pair.connect())
    func selected() throws -> ICEPairStatistics {
      try #require(pair.a.transport.pairStatistics.first { $0.isSelected })
    }
    let first = try selected()
    for peer in [pair.a, pair.b] { peer.transport.ice.restart(at: pair.network.now) }
    pair.a.sendPlain(1)
    pair.b.sendPlain(1)
    pair.network.run(for: .milliseconds(50))
    #expect(try selected().number == first.number)
    #expect(try selected().traffic.packetsSent == first.traffic.packetsSent + 1)
    #expect(try selected().traffic.packetsReceived == first.traffic.packetsReceived + 1)
    for (peer, other) in [(pair.a, pair.b), (pair.b, pair.a)] {
      peer.transport.start(
        .init(
          ice: other.description.0, fingerprint: other.description.1,
          localRole: peer === pair.a ? .client : .server), at: pair.network.now)
      peer.transport.addRemoteCandidate(
        peer.transport === pair.a.transport
          ? pair.b.transport.ice.localCandidates[0] : pair.a.transport.ice.localCandidates[0],
        at: pair.network.now)
    }
    pair.network.deadlinesChanged()
    pair.network.run(for: .seconds(2))
    let new = try selected()
    #expect(new.number != first.number)
    pair.a.sendPlain(2)
    pair.b.sendPlain(2)
    pair.network.run(for: .milliseconds(50))
    #expect(try selected().traffic.packetsSent == new.traffic.packetsSent + 1)
    #expect(try selected().traffic.packetsReceived == new.traffic.packetsReceived + 1)
  }

  /// Says that it lost as much as a test wants.
  private final class LosingSink: DatagramSink {
    unowned let network: SimulatedNetwork
    var lost: [TransportAddress: UInt64] = [:]

    init(_ network: SimulatedNetwork) { self.network = network }

    func send(
      from local: TransportAddress, to remote: TransportAddress, ecn: ECNCodepoint, capacity: Int,
      _ write: (UnsafeMutableRawBufferPointer) -> Int
    ) {
      network.send(from: local, to: remote, ecn: ecn, capacity: capacity, write)
    }

    func packetsDiscarded(from local: TransportAddress) -> UInt64 { lost[local] ?? 0 }
  }

  @Test func whatTheSocketLosesIsPutDownToThePairInUse() throws {
    var sink: LosingSink?
    let pair = try PeerPair(sinks: { network in
      let made = LosingSink(network)
      made.lost[TransportAddress("10.0.0.1:5000")!] = 5
      sink = made
      return (made, nil)
    })
    #expect(pair.connect())
    func discarded() -> UInt64? {
      pair.a.transport.pairStatistics.first { $0.isSelected }?.traffic.packetsDiscardedOnSend
    }
    #expect(discarded() == 0, "what was lost before is nobody's")
    sink?.lost[pair.a.address] = 8
    #expect(discarded() == 3)
    #expect(discarded() == 3)
    sink?.lost[pair.a.address] = 9
    #expect(discarded() == 4)
  }
}
