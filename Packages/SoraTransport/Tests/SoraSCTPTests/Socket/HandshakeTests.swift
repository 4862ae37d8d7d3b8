import SoraMedia
import SoraSCTP
import Testing

@Suite struct HandshakeTests {
  @Test func fourPacketsConnectBothEnds() {
    let world = World()
    #expect(world.connect())
    #expect(world.a.connections == 1 && world.b.connections == 1)
    let both = world.a.association.capabilities
    #expect(both == world.b.association.capabilities)
    #expect(both?.interleaving == true && both?.partialReliability == true)
    #expect(both?.streamReset == true && both?.zeroChecksum == false)
  }

  @Test func bothMayBeginAtOnce() throws {
    let world = World()
    world.b.association.connect(at: world.now)
    #expect(world.connect())
    world.run(for: .seconds(1))
    #expect(world.a.connections == 1 && world.b.connections == 1)
    try world.a.association.send([1, 2], at: world.now)
    try world.b.association.send([3], at: world.now)
    #expect(
      world.run(within: .seconds(1)) { world.a.messages.count == 1 && world.b.messages.count == 1 })
  }

  /// Each of the handshake's packets is lost once, with one end or both beginning.
  @Test(arguments: 0..<4, [false, true])
  func aLostPacketIsSentAgain(lost: Int, both: Bool) throws {
    let world = World()
    let link = lost % 2 == 0 ? world.there : world.back
    var seen = 0
    link.drops = { _ in
      seen += 1
      return seen == lost / 2 + 1
    }
    try world.a.association.send([7], at: world.now)
    if both { world.b.association.connect(at: world.now) }
    #expect(world.connect())
    #expect(world.run(within: .seconds(5)) { world.b.messages.count == 1 })
    #expect(world.a.connections == 1 && world.b.connections == 1)
  }

  @Test func dataGoesWithTheCookie() throws {
    let world = World()
    try world.a.association.send([9], at: world.now)
    let start = world.now
    world.a.association.connect(at: start)
    #expect(world.run(within: .seconds(1)) { world.b.messages.count == 1 })
    // Three trips of 10 ms, not five.
    #expect(world.now - start <= .milliseconds(31))
  }

  @Test func nobodyThereIsATimeout() {
    var configuration = SCTPConfiguration()
    configuration.maximumInitRetransmissions = 3
    let world = World(configuration)
    world.there.drops = { _ in true }
    world.a.association.connect(at: world.now)
    #expect(world.run(within: .seconds(60)) { world.a.association.state == .ended })
    #expect(world.a.has(.aborted(.timeout(.initiation))))
    #expect(world.there.lost == 4)
    #expect(world.a.association.nextDeadline == nil)
  }

  @Test func anINITKeepsNothing() {
    let peer = RawPeer()
    for _ in 0..<5 {
      #expect(peer.send(peer.initiation(), tag: 0).types == [2])
      #expect(peer.association.state == .idle && peer.association.nextDeadline == nil)
    }
    #expect(peer.connect())
  }

  @Test func aForgedCookieIsDropped() {
    let peer = RawPeer()
    #expect(peer.readInitiationAck(peer.send(peer.initiation(), tag: 0)))
    for place in peer.cookie.indices {
      var cookie = peer.cookie
      cookie[place] ^= 0x40
      #expect(peer.send(RawPeer.chunk(10, cookie)).isEmpty)
    }
    #expect(peer.send(RawPeer.chunk(10, Array(peer.cookie.dropLast()))).isEmpty)
    #expect(peer.send(RawPeer.chunk(10, peer.cookie), tag: 77).isEmpty)
    #expect(peer.association.state == .idle)
    #expect(peer.association.statistics.dropped.outOfTheBlue == UInt64(peer.cookie.count + 2))
    #expect(peer.send(RawPeer.chunk(10, peer.cookie)).types.first == 11)
  }

  @Test func anOldCookieIsStale() {
    let peer = RawPeer()
    #expect(peer.readInitiationAck(peer.send(peer.initiation(), tag: 0)))
    peer.now += .seconds(61)
    let answer = peer.send(RawPeer.chunk(10, peer.cookie))
    #expect(answer.first?.tag == peer.ownTag && answer.types == [9])
    #expect(Array(answer.chunk(9)?.value.prefix(2) ?? []) == [0, 3])
    #expect(peer.association.state == .idle)
  }

  /// RFC 9260 §5.2.4, A: the peer has lost everything, and begins again.
  @Test func aRestartedPeerIsWelcome() throws {
    let world = World()
    #expect(world.connect())
    try world.b.association.send(pattern(5000, 1), on: 3, at: world.now)
    #expect(world.run(within: .seconds(1)) { world.a.messages.count == 1 })
    world.run(for: .seconds(1))
    let peer = Restarted(world)
    try world.b.association.send(pattern(900, 2), on: 3, at: world.now)
    peer.association.connect(at: world.now)
    #expect(peer.run(within: .seconds(5)) { peer.messages.count == 1 })
    #expect(peer.messages.first?.payload == pattern(900, 2))
    #expect(world.b.has(.restarted) && world.b.association.state == .connected)
  }

  @Test func aRestartWithoutTheTagsIsDropped() {
    let peer = RawPeer()
    #expect(peer.connect())
    let stale = RawPeer(seed: 10)
    #expect(stale.readInitiationAck(stale.send(stale.initiation(), tag: 0)))
    // Another association's cookie: the key is another's.
    #expect(peer.send(RawPeer.chunk(10, stale.cookie), tag: stale.theirTag).isEmpty)
    #expect(peer.association.state == .connected)
    #expect(!peer.events().contains(.restarted))
  }

  @Test func aSecondCookieEchoIsAcknowledgedAgain() {
    let peer = RawPeer()
    #expect(peer.connect())
    #expect(peer.send(RawPeer.chunk(10, peer.cookie)).types == [11])
    #expect(peer.events().count == 1)
  }

  @Test func brokenINITsAreRefused() {
    let peer = RawPeer()
    // No tag; no streams; too short; a parameter beyond the end.
    var noTag = peer.initiation()
    noTag.replaceSubrange(4..<8, with: [0, 0, 0, 0])
    #expect(peer.send(noTag, tag: 0).isEmpty)
    var noStreams = peer.initiation()
    noStreams.replaceSubrange(12..<14, with: [0, 0])
    #expect(peer.send(noStreams, tag: 0).types == [6])
    #expect(peer.send(RawPeer.chunk(1, [1, 2, 3, 4]), tag: 0).isEmpty)
    #expect(peer.send(peer.initiation(1, extensions: [130], [0, 9, 0, 200]), tag: 0).types == [6])
    #expect(peer.association.statistics.dropped.malformed == 4)
    // An INIT with a tag in its packet.
    #expect(peer.send(peer.initiation(), tag: 5).isEmpty)
  }

  @Test func unknownParametersAreToldWhereTheyAskForIt() {
    let peer = RawPeer()
    // 0xC001: go on and tell; 0x8002: go on in silence; 0x4003: stop and tell.
    let more =
      RawPeer.halves(0xC001, 8) + [1, 2, 3, 4] + RawPeer.halves(0x8002, 4)
      + RawPeer.halves(0x4003, 4)
    let answer = peer.send(peer.initiation(1, extensions: [130, 192], more), tag: 0)
    let value = answer.chunk(2)?.value ?? []
    #expect(
      value.indices.dropLast(7).contains {
        Array(value[$0..<$0 + 8]) == [0, 8, 0, 12, 0xC0, 1, 0, 8]
      })
    #expect(
      value.indices.dropLast(7).contains {
        Array(value[$0..<$0 + 8]) == [0, 8, 0, 8, 0x40, 3, 0, 4]
      })
    #expect(!value.indices.dropLast(7).contains { Array(value[$0 + 4..<$0 + 6]) == [0x80, 2] })
  }
}

/// A new end in the place of a world's first.
private final class Restarted {
  let association: SCTPAssociation
  var messages: [SCTPMessage] = []
  private let world: World
  private var now: Instant

  init(_ world: World) {
    self.world = world
    now = world.now
    association = SCTPAssociation(random: RandomSource(seed: 4711))
  }

  func run(within limit: Duration, until condition: () -> Bool) -> Bool {
    let end = now + limit
    let other = world.b.association
    while !condition(), now < end {
      now += .milliseconds(5)
      association.poll(at: now)
      other.poll(at: now)
      for _ in 0..<4 {
        association.drainPackets(at: now) {
          other.receive($0, at: now)
          return true
        }
        var packets: [[UInt8]] = []
        other.drainPackets(at: now) { packet in
          packet.withUnsafeBytes { packets.append([UInt8]($0)) }
          return true
        }
        for packet in packets { association.receive(packet.span.bytes, at: now) }
      }
      world.b.drainEvents()
      while let event = association.nextEvent() {
        if case .message(let message) = event { messages.append(message) }
      }
    }
    return condition()
  }
}
