import SoraMedia
import SoraSCTP
import Testing

@Suite struct StreamResetTests {
  @Test func aStreamCountsFromZeroAgain() throws {
    let world = World()
    #expect(world.connect())
    for index in 0..<3 { try world.a.association.send(pattern(2000, index), on: 5, at: world.now) }
    try world.a.association.resetStreams([5], at: world.now)
    #expect(throws: SCTPSendError.streamClosing(5)) {
      try world.a.association.send([1], on: 5, at: world.now)
    }
    #expect(world.run(within: .seconds(2)) { world.a.has(.outgoingStreamsReset([5])) })
    #expect(world.b.has(.incomingStreamsReset([5])))
    #expect(world.b.messages.count == 3)
    try world.a.association.send([42], on: 5, at: world.now)
    #expect(world.run(within: .seconds(2)) { world.b.messages.count == 4 })
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func nothingIsLostBeforeAReset(seed: UInt64) throws {
    let world = World(
      link: .init(loss: 0.1, duplication: 0.05, reordering: 0.1), seed: seed)
    #expect(world.connect())
    for round in 0..<3 {
      for index in 0..<10 {
        try world.a.association.send(pattern(3000, index), on: 1, at: world.now)
        try world.b.association.send(pattern(1000, index), on: 1, at: world.now)
      }
      try world.a.association.resetStreams([1, 2], at: world.now)
      try world.b.association.resetStreams([1], at: world.now)
      #expect(
        world.run(within: .seconds(60)) {
          world.a.events.filter {
            $0 == .outgoingStreamsReset([1, 2]) || $0 == .outgoingStreamsReset([2])
          }
          .count > round
            && world.a.events.filter { $0 == .incomingStreamsReset([1]) }.count > round
            && world.b.events.filter { $0 == .outgoingStreamsReset([1]) }.count > round
        })
      #expect(
        world.run(within: .seconds(60)) {
          world.b.messages.count == (round + 1) * 10 && world.a.messages.count == (round + 1) * 10
        })
      world.run(for: .seconds(2))
    }
  }

  @Test func aPeerWithoutResetsIsKnown() throws {
    var other = SCTPConfiguration()
    other.streamReset = false
    let world = World(.init(), other)
    #expect(throws: SCTPResetError.notConnected) {
      try world.a.association.resetStreams([1], at: world.now)
    }
    #expect(world.connect())
    #expect(throws: SCTPResetError.unsupported) {
      try world.a.association.resetStreams([1], at: world.now)
    }
  }

  /// A request of the peer, as RFC 6525 §4 writes it, by hand.
  private func request(_ sequence: UInt32, _ last: UInt32, _ streams: [UInt16]) -> [UInt8] {
    let value = RawPeer.words(sequence, 0, last) + streams.flatMap { RawPeer.halves($0) }
    return RawPeer.chunk(
      130, RawPeer.halves(13, UInt16(4 + value.count)) + value)
  }

  private func result(_ packets: [RawPeer.Packet]) -> UInt8? { packets.chunk(130)?.value.last }

  @Test func aRequestWaitsForItsData() {
    let peer = RawPeer()
    #expect(peer.connect())
    #expect(result(peer.send(request(peer.firstTSN, peer.firstTSN, [4, 6]))) == 6)
    #expect(peer.events().count == 1)
    let answer = peer.send(peer.data(peer.firstTSN, stream: 4, [1]))
    #expect(result(answer) == 1)
    let events = peer.events()
    #expect(events.count == 2 && events.last == .incomingStreamsReset([4, 6]))
    // Once more: the same answer, and no event.
    #expect(result(peer.send(request(peer.firstTSN, peer.firstTSN, [4, 6]))) == 1)
    #expect(peer.events().isEmpty)
  }

  @Test func badRequestsAreRefused() {
    let peer = RawPeer()
    #expect(peer.connect())
    #expect(result(peer.send(request(peer.firstTSN &+ 7, 0, [1]))) == 5)
    // TSNs and more streams: denied.
    let addStreams = RawPeer.chunk(
      130, RawPeer.halves(17, 12) + RawPeer.words(peer.firstTSN, 0x10000))
    #expect(result(peer.send(addStreams)) == 2)
    #expect(peer.send(RawPeer.chunk(130, RawPeer.halves(13, 6) + [1, 2])).isEmpty)
    #expect(peer.association.statistics.dropped.malformed == 1)
    #expect(peer.association.state == .connected)
  }

  @Test func aSilentPeerIsATimeout() throws {
    var configuration = SCTPConfiguration()
    configuration.maximumRetransmissions = 2
    configuration.heartbeatInterval = nil
    let peer = RawPeer(configuration)
    #expect(peer.connect())
    try peer.association.resetStreams([3], at: peer.now)
    #expect(peer.drain().types == [130])
    #expect(peer.wait(.seconds(60)).types == [130, 130, 6])
    #expect(peer.events().last == .aborted(.timeout(.streamReset)))
  }
}
