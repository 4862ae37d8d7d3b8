import SoraMedia
import SoraSCTP
import Testing

@Suite struct ShutdownTests {
  @Test func allIsDeliveredBefore() throws {
    let world = World(link: .init(loss: 0.05), seed: 3)
    #expect(world.connect())
    for index in 0..<50 {
      try world.a.association.send(pattern(5000, index), at: world.now)
      try world.b.association.send(pattern(3000, index), at: world.now)
    }
    world.a.association.shutdown(at: world.now)
    #expect(world.a.association.state == .shuttingDown)
    #expect(throws: SCTPSendError.notConnected) {
      try world.a.association.send([1], at: world.now)
    }
    #expect(
      world.run(within: .seconds(60)) {
        world.a.association.state == .ended && world.b.association.state == .ended
      })
    #expect(world.a.has(.closed) && world.b.has(.closed))
    #expect(world.b.messages.map(\.payload) == (0..<50).map { pattern(5000, $0) })
    #expect(world.a.messages.map(\.payload) == (0..<50).map { pattern(3000, $0) })
  }

  @Test func bothMayEndAtOnce() {
    let world = World()
    #expect(world.connect())
    world.a.association.shutdown(at: world.now)
    world.b.association.shutdown(at: world.now)
    #expect(
      world.run(within: .seconds(5)) {
        world.a.association.state == .ended && world.b.association.state == .ended
      })
    #expect(world.a.has(.closed) && world.b.has(.closed))
  }

  /// Each packet of the shutdown is lost once.
  @Test(arguments: 0..<3)
  func aLostPacketIsSentAgain(lost: Int) {
    let world = World()
    #expect(world.connect())
    world.run(for: .seconds(1))
    let type: UInt8 = [7, 8, 14][lost]
    let link = lost == 1 ? world.back : world.there
    var dropped = 0
    link.drops = { packet in
      guard packet[12] == type, dropped == 0 else { return false }
      dropped += 1
      return true
    }
    world.a.association.shutdown(at: world.now)
    #expect(
      world.run(within: .seconds(30)) {
        world.a.association.state == .ended && world.b.association.state == .ended
      })
    #expect(dropped == 1)
    #expect(world.a.has(.closed) && world.b.has(.closed))
  }

  @Test func beforeTheConnectionThereIsNothingToEnd() {
    let idle = RawPeer()
    idle.association.shutdown(at: idle.now)
    #expect(idle.association.state == .ended && idle.events() == [.closed])
    let waiting = RawPeer()
    waiting.association.connect(at: waiting.now)
    waiting.association.shutdown(at: waiting.now)
    #expect(waiting.association.state == .ended && waiting.association.nextDeadline == nil)
  }

  @Test func silenceEndsAShutdown() {
    var configuration = SCTPConfiguration()
    configuration.maximumRetransmissions = 3
    let world = World(configuration)
    #expect(world.connect())
    world.there.drops = { _ in true }
    world.a.association.shutdown(at: world.now)
    #expect(world.run(within: .seconds(100)) { world.a.association.state == .ended })
    #expect(world.a.has(.aborted(.timeout(.shutdown))))
  }

  @Test func anAbortTellsWhy() {
    let world = World()
    #expect(world.connect())
    world.a.association.abort("enough", at: world.now)
    #expect(world.run(within: .seconds(1)) { world.b.association.state == .ended })
    #expect(world.a.has(.aborted(.byUser)))
    #expect(world.b.has(.aborted(.byPeer(cause: 12, text: "enough"))))
  }

  @Test func whatIsTooOldHoldsNoShutdownUp() throws {
    var configuration = SCTPConfiguration()
    configuration.heartbeatInterval = nil
    let world = World(configuration)
    #expect(world.connect())
    try world.a.association.send(
      pattern(500, 0), .init(lifetime: .zero, token: 5), at: world.now)
    world.a.association.shutdown(at: world.now)
    #expect(world.run(within: .seconds(2)) { world.a.association.state == .ended })
    #expect(world.a.has(.closed) && world.a.has(.sendFailed(stream: 0, token: 5)))
    #expect(world.b.messages.isEmpty)
  }

  /// RFC 9260 §9.2: DATA that comes in SHUTDOWN-SENT is taken, and answered by another SHUTDOWN.
  @Test func dataIsTakenWhileShuttingDown() {
    let peer = RawPeer()
    #expect(peer.connect())
    peer.association.shutdown(at: peer.now)
    #expect(peer.drain().types.contains(7))
    let answer = peer.send(peer.data(peer.firstTSN, [1, 2, 3]))
    #expect(answer.types.contains(7) && answer.types.contains(3))
    #expect(peer.events().contains { if case .message = $0 { true } else { false } })
    #expect(peer.send(RawPeer.chunk(8)).types == [14])
    #expect(peer.association.state == .ended)
  }
}
