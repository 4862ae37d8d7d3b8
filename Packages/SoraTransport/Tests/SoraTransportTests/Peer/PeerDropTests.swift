import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraTransport
import SoraWire
import Testing

/// Everything that is dropped is counted once, under its own reason.
@Suite struct PeerDropTests {
  /// Passes a peer's datagrams on, keeps the last one, and may hold them back.
  private final class Tap: DatagramSink {
    unowned let network: SimulatedNetwork
    var holds = false
    var loses: ([UInt8]) -> Bool = { _ in false }
    private(set) var last: [UInt8] = []

    init(_ network: SimulatedNetwork) { self.network = network }

    func send(
      from local: TransportAddress, to remote: TransportAddress, ecn: ECNCodepoint, capacity: Int,
      _ write: (UnsafeMutableRawBufferPointer) -> Int
    ) {
      var bytes = [UInt8](repeating: 0, count: capacity)
      let count = bytes.withUnsafeMutableBytes { write($0) }
      last = Array(bytes[..<count])
      guard !holds, count > 0, !loses(last) else { return }
      network.send(last, from: local, to: remote)
    }
  }

  /// A connected pair, of which `b` is watched and `a` is tapped.
  private struct Bench {
    let pair: PeerPair
    let tap: Tap

    init(connects: Bool = true) throws {
      var tap: Tap?
      pair = try PeerPair(sinks: { network in
        tap = Tap(network)
        return (tap, nil)
      })
      self.tap = try #require(tap)
      pair.b.session.setReceiveSections([TestStreams.audioSection()], at: .zero)
      if connects { try #require(pair.connect()) }
    }

    var counts: [String: UInt64] {
      let drops = pair.b.transport.drops + pair.b.session.drops
      return Dictionary(uniqueKeysWithValues: drops.map { ($0.name, $0.count) })
    }

    /// Does something: exactly this counter moves, by one.
    func expect(
      _ name: String?, sourceLocation: SourceLocation = #_sourceLocation, _ body: () -> Void
    ) {
      var expected = counts
      if let name { expected[name, default: 0] += 1 }
      body()
      #expect(counts == expected, sourceLocation: sourceLocation)
    }

    func feed(_ bytes: [UInt8], from address: TransportAddress? = nil) {
      var copy = bytes
      copy.withUnsafeMutableBytes {
        pair.b.transport.receive(
          $0, from: address ?? pair.a.address, on: pair.b.address, at: pair.network.now)
      }
    }

    func expect(
      _ name: String?, fed bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
    ) {
      expect(name, sourceLocation: sourceLocation) { feed(bytes) }
    }

    /// What `a` makes of a packet, without sending it.
    func protected(_ number: UInt16) -> [UInt8] {
      tap.holds = true
      defer { tap.holds = false }
      pair.a.sendPlain(number)
      return tap.last
    }

    func protected(rtp: [UInt8]) -> [UInt8] {
      tap.holds = true
      defer { tap.holds = false }
      _ = rtp.withUnsafeBytes { pair.a.transport.sendRTP($0) }
      return tap.last
    }

    func protected(rtcp: [UInt8]) -> [UInt8] {
      tap.holds = true
      defer { tap.holds = false }
      pair.a.transport.sendRTCP(capacity: rtcp.count) { memory in
        memory.copyBytes(from: rtcp)
        return rtcp.count
      }
      return tap.last
    }
  }

  @Test func datagramsThatAreNothing() throws {
    let bench = try Bench()
    bench.expect("transport.unknownProtocol", fed: [5, 1, 2, 3])
    bench.expect("transport.unknownProtocol", fed: [200] + [UInt8](repeating: 1, count: 40))
    bench.expect("transport.empty", fed: [])
    bench.expect("transport.unknownRelay", fed: [0x40, 0, 0, 4, 1, 2, 3, 4])
    bench.expect("transport.malformed", fed: [0x80, 96, 0, 1])
    bench.expect("dtls.malformed", fed: [22, 0xFE, 0xFD] + [UInt8](repeating: 0x5A, count: 60))
    bench.expect("ice.malformed", fed: [0, 1] + [UInt8](repeating: 0, count: 30))
    let stranger = TransportAddress("203.0.113.9:9")!
    bench.expect("transport.unknownSource") {
      bench.feed([22, 0xFE, 0xFD] + [UInt8](repeating: 0x5A, count: 60), from: stranger)
    }
    #expect(bench.pair.b.transport.state == .connected)
  }

  @Test func checksThatAreNotThePeers() throws {
    let bench = try Bench()
    let (a, b) = (bench.pair.a.transport.ice, bench.pair.b.transport.ice)
    func request(_ username: String, _ key: String) -> [UInt8] {
      STUNMessage(
        .request, transactionID: STUNTransactionID(random: RandomSource(seed: 4)),
        attributes: [.username(Array(username.utf8)), .priority(1), .iceControlling(9)]
      ).encoded(key: Array(key.utf8))
    }
    let name = "\(b.localParameters.ufrag):\(a.localParameters.ufrag)"
    bench.expect("ice.badIntegrity", fed: request(name, "not the password"))
    // Refusals are far enough apart to be answered.
    bench.pair.network.run(for: .milliseconds(100))
    bench.expect("ice.unknownUsername", fed: request("x:y", b.localParameters.password))
    bench.expect(nil, fed: request(name, b.localParameters.password))
    let stranger = STUNMessage(
      .success, transactionID: STUNTransactionID(random: RandomSource(seed: 5)))
    bench.expect("ice.unknownTransaction", fed: stranger.encoded(key: Array("k".utf8)))
    // A candidate that is known already is no packet.
    bench.expect(nil) {
      bench.pair.b.transport.addRemoteCandidate(a.localCandidates[0], at: bench.pair.network.now)
    }
    #expect(b.statistics.dropped(.duplicateCandidate) == 1)
  }

  @Test func protectedPackets() throws {
    let bench = try Bench()
    bench.pair.b.usesSession = false
    let old = bench.protected(1)
    let fresh = bench.protected(2)
    var forged = fresh
    forged[forged.count - 1] ^= 1
    bench.expect("transport.unauthenticated", fed: forged)
    bench.expect(nil, fed: fresh)
    bench.expect("transport.replayed", fed: fresh)
    for number in 3..<1_200 as Range<UInt16> { bench.pair.a.sendPlain(number) }
    bench.pair.network.run(for: .seconds(1))
    bench.expect("transport.tooOld", fed: old)
  }

  @Test func whatComesTooEarlyOrTooLate() throws {
    let bench = try Bench(connects: false)
    bench.expect("transport.beforeKeys", fed: [0x80, 96] + [UInt8](repeating: 0, count: 40))
    bench.expect("transport.notConnected") { bench.pair.b.sendPlain(1) }
    try #require(bench.pair.connect())
    let late = bench.protected(1)
    bench.pair.b.transport.close(at: bench.pair.network.now)
    bench.expect("transport.afterEnd", fed: late)
    bench.expect("transport.notConnected") { bench.pair.b.sendPlain(1) }
    // What DTLS counted is still told.
    #expect(bench.pair.b.transport.dtlsStatistics?.tlsVersion == 0xFEFD)
  }

  /// The client is connected, and the server isn't: every datagram of DTLS is lost since the client has keys.
  private func benchWithoutLastFlight() throws -> Bench {
    let bench = try Bench(connects: false)
    let (network, a, b) = (bench.pair.network, bench.pair.a, bench.pair.b)
    (a.usesSession, b.usesSession) = (false, false)
    bench.tap.loses = { [unowned a] in (20...63).contains($0[0]) && a.transport.isWritable }
    bench.pair.start()
    #expect(network.run(until: { a.transport.state == .connected }, within: .seconds(1)))
    return bench
  }

  /// The client has keys with its last flight, which is lost: what it sends meanwhile waits for the flight, as far as there is room.
  @Test func mediaBehindALostFlightIsKept() throws {
    let bench = try benchWithoutLastFlight()
    let (network, a, b) = (bench.pair.network, bench.pair.a, bench.pair.b)
    // Longer than any, of a stranger, and more than is kept.
    bench.expect("transport.beforeKeys", fed: [UInt8](repeating: 0x80, count: 3000))
    bench.expect("transport.beforeKeys") {
      bench.feed(bench.protected(0), from: TransportAddress("10.9.9.9:9")!)
    }
    for number in 1..<41 as Range<UInt16> { #expect(a.sendPlain(number)) }
    network.run(for: .milliseconds(30))
    #expect(bench.counts["transport.beforeKeys"] == 10)
    #expect(!b.transport.isWritable && b.rtpPackets == 0)
    bench.tap.loses = { _ in false }
    #expect(network.run(until: { b.transport.isWritable }, within: .seconds(1)))
    #expect(b.rtpPackets == 32 && b.transport.statistics.firstPacketReceived == network.now)
    #expect(b.states.last?.state == .connected)
    #expect(bench.counts["transport.beforeKeys"] == 10)
    // What was kept isn't taken a second time.
    #expect(a.sendPlain(41))
    network.run(for: .milliseconds(30))
    #expect(b.rtpPackets == 33)
    #expect(bench.pair.b.transport.statistics.dropped.replayed == 0)
  }

  /// A handshake that comes to nothing leaves nothing uncounted.
  @Test func mediaOfAHandshakeThatFailsIsCounted() throws {
    let bench = try benchWithoutLastFlight()
    let (network, a, b) = (bench.pair.network, bench.pair.a, bench.pair.b)
    for number in 0..<5 as Range<UInt16> { a.sendPlain(number) }
    network.run(for: .milliseconds(30))
    #expect(bench.counts["transport.beforeKeys", default: 0] == 0)
    b.transport.close(at: network.now)
    #expect(bench.counts["transport.beforeKeys"] == 5)
  }

  @Test func plainPackets() throws {
    let bench = try Bench()
    func sound(_ type: UInt8, _ number: UInt8, ssrc: UInt8 = 7, payload: [UInt8] = [0xFC, 1])
      -> [UInt8]
    {
      bench.protected(rtp: [0x80, type, 0, number, 0, 0, 0, number, 0, 0, 0, ssrc] + payload)
    }
    bench.expect("rtp.unknownSource", fed: sound(50, 1, ssrc: 9))
    bench.expect(nil, fed: sound(111, 2))
    bench.expect("rtp.unknownPayloadType", fed: sound(50, 3))
    bench.expect("rtp.emptySound", fed: sound(111, 4, payload: []))
    bench.expect(nil, fed: sound(110, 5, payload: [5, 0x8A, 0, 80]))
    bench.expect("rtp.malformedTelephoneEvent", fed: sound(110, 6, payload: [5, 0x8A, 0]))
    #expect(bench.pair.b.audioCount == 1)
    bench.expect(
      "rtp.malformedRTCP",
      fed: bench.protected(rtcp: [0x80, 200, 0, 99, 0, 0, 0, 7, 0, 0, 0, 0]))
    bench.expect("rtp.unknownRTCP", fed: bench.protected(rtcp: [0x80, 210, 0, 1, 0, 0, 0, 7]))
    bench.expect(
      "rtp.requestOfUnknownSource", fed: bench.protected(rtcp: SessionBench.pli(0xDEAD)))
  }

  @Test func aStreamsDropsOutliveIt() throws {
    let bench = SessionBench()
    bench.session.setReceiveSections([TestStreams.videoSection()], at: bench.now)
    let packet = SessionBench.videoPacket(number: 1, timestamp: 0)
    bench.receive(packet)
    bench.receive(packet)
    #expect(bench.session.drops == [PacketDrop(.videoBuffer, "duplicate", 1)])
    bench.session.setReceiveSections([], at: bench.now)
    #expect(bench.session.receiveStreams.isEmpty)
    #expect(bench.session.drops == [PacketDrop(.videoBuffer, "duplicate", 1)])
    bench.receive(packet)
    #expect(bench.session.drops.first { $0.name == "rtp.endedSource" }?.count == 1)
  }

  /// A counter that isn't listed would be seen by nobody.
  @Test func everyCounterIsListed() {
    func labels(_ value: Any) -> [String] { Mirror(reflecting: value).children.compactMap(\.label) }
    #expect(
      labels(PeerTransportStatistics.Dropped())
        == PeerTransportStatistics.Dropped().counts.map(\.key))
    #expect(labels(RTPSession.Dropped()) == RTPSession.Dropped().counts.map(\.key))
    #expect(labels(DTLSStatistics.Dropped()) == DTLSStatistics.Dropped().counts.map(\.key))
    #expect(labels(ICEGatherer.Dropped()) == ICEGatherer.Dropped().counts.map(\.key))
    #expect(labels(NetworkStatistics.Drops()) == NetworkStatistics.Drops().counts.map(\.key))
    #expect(
      labels(VideoJitterBufferStatistics.Discarded())
        == VideoJitterBufferStatistics.Discarded().counts.map(\.key))
    for reason in ICEDropReason.allCases { #expect(!"\(reason)".contains("(")) }
  }
}
