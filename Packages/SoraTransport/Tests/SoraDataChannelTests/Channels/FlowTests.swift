import SoraDataChannel
import SoraMedia
import SoraSCTP
import Testing

/// Limits, and what slow or hostile peers can do.
@Suite struct FlowTests {
  private func open(_ pair: SessionPair) throws -> (DataChannelID, DataChannelID) {
    let id = try pair.client.session.open(.init(label: "f"), at: pair.now)
    pair.run { !pair.server.announced.isEmpty }
    return (id, try #require(pair.server.announced.first?.id))
  }

  @Test func thePeersLimitCounts() throws {
    let pair = SessionPair()
    pair.connect(maximumMessageSize: 1000)
    let (id, there) = try open(pair)
    try pair.client.session.send([UInt8](repeating: 1, count: 1000), on: id, at: pair.now)
    #expect(throws: DataChannelError.messageTooLarge(count: 1001, limit: 1000)) {
      try pair.client.session.send([UInt8](repeating: 1, count: 1001), on: id, at: pair.now)
    }
    #expect(pair.run { pair.server.messages(there).count == 1 })
  }

  @Test func withoutALimitOfThePeersTheBufferIsTheLimit() throws {
    var large = DataChannelConfiguration()
    large.maximumMessageSize = 3_000_000
    let pair = SessionPair(server: large)
    pair.connect(maximumMessageSize: 0)
    let (id, there) = try open(pair)
    try pair.client.session.send([UInt8](repeating: 9, count: 3_000_000), on: id, at: pair.now)
    #expect(pair.run { pair.server.messages(there).count == 1 })
    #expect(pair.server.messages(there)[0].payload == [UInt8](repeating: 9, count: 3_000_000))
  }

  @Test func bufferedAmountFallsToItsThreshold() throws {
    let pair = SessionPair()
    pair.connect()
    let (id, _) = try open(pair)
    pair.client.session.setBufferedAmountLowThreshold(50_000, of: id)
    for _ in 0..<10 {
      try pair.client.session.send([UInt8](repeating: 1, count: 20_000), on: id, at: pair.now)
    }
    #expect(pair.client.session.bufferedAmount(of: id) > 50_000)
    #expect(pair.run { pair.client.events.contains(.bufferedAmountLow(id)) })
    #expect(pair.client.session.bufferedAmount(of: id) <= 50_000)
    #expect(pair.run { pair.client.session.bufferedAmount(of: id) == 0 })
  }

  /// Nobody reads: the peer's window closes, what it has to send stays with it, and goes on when somebody reads again.
  @Test func aSlowReaderHoldsTheSenderBack() throws {
    var small = DataChannelConfiguration()
    small.sendBufferLimit = 1_000_000
    small.receiveWindow = 300_000
    small.maximumMessageSize = 65_536
    let pair = SessionPair(client: small, server: small)
    pair.connect(maximumMessageSize: 65_536)
    let (id, there) = try open(pair)
    pair.server.isPaused = true
    var sent = 0
    var isFull = false
    for _ in 0..<1000 where !isFull {
      do throws(DataChannelError) {
        try pair.client.session.send([UInt8](repeating: 1, count: 10_000), on: id, at: pair.now)
        sent += 1
      } catch {
        #expect(error == .bufferFull(limit: 1_000_000))
        isFull = true
      }
      pair.run(for: .milliseconds(20))
    }
    #expect(isFull)
    #expect(sent < 150)
    pair.run(for: .seconds(60))
    pair.server.isPaused = false
    #expect(pair.run { pair.server.messages(there).count == sent })
    #expect(pair.client.events.contains(.sendBufferLow))
  }

  @Test func aPeerOpensNoMoreThanTheLimit() throws {
    var few = DataChannelConfiguration()
    few.maximumChannels = 3
    let pair = SessionPair(server: few)
    pair.connect()
    let ids = try (0..<5).map { try pair.client.session.open(.init(label: "\($0)"), at: pair.now) }
    #expect(pair.run { pair.client.isClosed(ids[3]) && pair.client.isClosed(ids[4]) })
    #expect(pair.server.announced.count == 3)
    #expect(pair.server.session.statistics.dropped.tooManyChannels == 2)
  }

  /// A peer that speaks SCTP by itself and breaks the rules above it.
  @Test func brokenEstablishmentIsCounted() throws {
    let end = SessionEnd(DataChannelConfiguration(), seed: 1)
    let peer = SCTPAssociation(random: RandomSource(seed: 2))
    var now = Instant(nanoseconds: 1)
    end.session.connect(to: DataChannelPeer(isClient: true), at: now)
    peer.connect(at: now)
    func exchange() {
      for _ in 0..<20 {
        now += .milliseconds(1)
        end.read(at: now)
        end.session.drainPackets(at: now) { packet in
          peer.receive(packet, at: now)
          return true
        }
        peer.drainPackets(at: now) { packet in
          end.session.receive(packet, at: now)
          return true
        }
        while peer.nextEvent() != nil {}
        peer.poll(at: now)
        end.session.poll(at: now)
      }
    }
    func send(_ bytes: [UInt8], _ stream: UInt16, _ ppid: UInt32) throws {
      try peer.send(bytes.span.bytes, on: stream, ppid: ppid, at: now)
      exchange()
    }
    exchange()
    let open = DCEPMessage.open(.init(label: "x")).encoded
    try send([9, 9], 1, 50)
    #expect(end.session.statistics.dropped.malformed == 1)
    try send([1], 1, 53)
    #expect(end.session.statistics.dropped.unknownChannel == 1)
    // Even streams are this end's own.
    try send(open, 4, 50)
    #expect(end.session.statistics.dropped.streamConflict == 1)
    try send(open, 1, 50)
    #expect(end.announced.count == 1)
    try send(open, 1, 50)
    #expect(end.session.statistics.dropped.streamConflict == 2)
    try send([1, 2], 1, 999)
    #expect(end.session.statistics.dropped.unknownPayloadProtocol == 1)
    #expect(end.session.isRunning)
  }
}
