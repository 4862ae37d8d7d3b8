import SoraMedia
import SoraSCTP
import Testing

/// What a peer may send without harm.
@Suite struct HostilePeerTests {
  private func connected(_ configuration: SCTPConfiguration = .init()) -> RawPeer {
    let peer = RawPeer(configuration)
    #expect(peer.connect())
    _ = peer.events()
    return peer
  }

  private func messages(_ peer: RawPeer) -> [SCTPMessage] {
    peer.events().compactMap { if case .message(let message) = $0 { message } else { nil } }
  }

  @Test func wrongTagsPortsAndChecksumsAreDropped() {
    let peer = connected()
    #expect(peer.send(peer.data(peer.firstTSN, [1]), tag: peer.theirTag &+ 1).isEmpty)
    var packet = peer.packet(peer.data(peer.firstTSN, [1]), checksum: 5)
    peer.association.receive(packet.span.bytes, at: peer.now)
    packet = peer.packet(peer.data(peer.firstTSN, [1]), checksum: 0)
    peer.association.receive(packet.span.bytes, at: peer.now)
    packet = peer.packet(peer.data(peer.firstTSN, [1]))
    packet[1] ^= 1
    peer.association.receive(packet.span.bytes, at: peer.now)
    let dropped = peer.association.statistics.dropped
    #expect(dropped.badTag == 1 && dropped.badChecksum == 2 && dropped.malformed == 1)
    #expect(messages(peer).isEmpty)
  }

  @Test func everyTruncationIsTaken() {
    let peer = connected()
    let chunks =
      peer.data(peer.firstTSN, [1, 2, 3]) + peer.sack(peer.theirTSN &- 1, [(1, 1)])
      + RawPeer.chunk(4, RawPeer.halves(1, 8) + [1, 2, 3, 4])
      + RawPeer.chunk(192, RawPeer.words(peer.firstTSN)) + RawPeer.chunk(9, RawPeer.halves(6, 4))
      + RawPeer.chunk(130, RawPeer.halves(13, 16) + RawPeer.words(1, 2, 3))
    for count in 0...chunks.count {
      let packet = peer.packet(Array(chunks.prefix(count)))
      peer.association.receive(packet.span.bytes, at: peer.now)
      _ = peer.drain()
    }
    #expect(peer.association.state == .connected)
    #expect(messages(peer).count == 1)
  }

  /// Bytes at random within chunks of every type, before and after the handshake; nothing traps, and memory stays bounded.
  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func anyBytesAreTaken(seed: UInt64) {
    let random = RandomSource(seed: seed)
    let types: [UInt8] = [
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14, 64, 130, 132, 192, 194, 200, 77,
    ]
    var configuration = SCTPConfiguration()
    configuration.zeroChecksum = true
    var peer = RawPeer(configuration, seed: seed)
    for round in 0..<3000 {
      if round % 100 == 0 {
        peer = RawPeer(configuration, seed: seed &+ UInt64(round))
        if round % 200 == 0 {
          peer.connect(extensions: round % 400 == 0 ? [130, 192, 64] : [130, 192])
        }
      }
      var chunks: [UInt8] = []
      for _ in 0...random.next() % 4 {
        var value = random.bytes(Int(random.next() % 60))
        if random.next() % 2 == 0, value.count >= 4 {
          let near =
            (random.next() % 2 == 0 ? peer.firstTSN : peer.theirTSN) &+ UInt32(random.next() % 8)
          value.replaceSubrange(0..<4, with: RawPeer.words(near))
        }
        var chunk = RawPeer.chunk(
          types[Int(random.next() % UInt64(types.count))], flags: UInt8(random.next() % 16), value)
        if random.next() % 20 == 0 { chunk[3] = UInt8(truncatingIfNeeded: random.next()) }
        chunks += chunk
      }
      if random.next() % 10 == 0 {
        try? peer.association.send(pattern(3000, round), at: peer.now)
      }
      peer.now += .milliseconds(Int64(random.next() % 50))
      peer.association.poll(at: peer.now)
      if let next = peer.association.nextDeadline { #expect(next > peer.now) }
      peer.send(chunks, tag: random.next() % 10 == 0 ? UInt32(random.next() % 3) : peer.theirTag)
      _ = peer.events()
    }
  }

  @Test func acknowledgementsOfWhatWasNeverSentAreDropped() throws {
    let peer = connected()
    try peer.association.send(pattern(3000, 1), at: peer.now)
    _ = peer.drain()
    let last = peer.theirTSN &+ 2
    peer.send(peer.sack(last &+ 1))
    peer.send(peer.sack(peer.theirTSN &- 5))
    peer.send(peer.sack(peer.theirTSN &- 1, [(2, 4)]))
    peer.send(peer.sack(peer.theirTSN &- 1, [(3, 2)]))
    peer.send(peer.sack(peer.theirTSN &- 1, [(0, 1)]))
    peer.send(peer.sack(peer.theirTSN &- 1, [(1, 2), (2, 2)]))
    #expect(peer.association.statistics.dropped.acknowledgements == 6)
    #expect(peer.association.statistics.unacknowledgedChunks == 3)
    peer.send(peer.sack(last))
    #expect(peer.association.statistics.unacknowledgedChunks == 0)
  }

  @Test func aPeerThatIgnoresTheWindowIsBounded() {
    var configuration = SCTPConfiguration()
    configuration.receiveWindow = 50_000
    configuration.maximumMessageSize = 20_000
    let peer = connected(configuration)
    // Nothing is read; the peer sends ten times the window, with a gap and without.
    for index in 0..<500 as Range<UInt32> {
      peer.send(
        peer.data(
          peer.firstTSN &+ index &+ (index > 250 ? 1 : 0), ssn: UInt16(index),
          [UInt8](repeating: 1, count: 1000)))
    }
    #expect(
      peer.association.statistics.receiveWindow == 0
        || peer.association.statistics.receiveWindow < 1100)
    #expect(peer.association.statistics.dropped.data > 400)
    let count = messages(peer).count
    #expect(count > 40 && count < 60)
    #expect(peer.association.state == .connected)
  }

  @Test func aMessageWithoutEndIsRefused() {
    var configuration = SCTPConfiguration()
    configuration.maximumMessageSize = 10_000
    for ahead in [false, true] {
      let peer = connected(configuration)
      var answers: [RawPeer.Packet] = []
      for index in 0..<20 as Range<UInt32> {
        let flags: UInt8 = index == 0 ? 2 : (index == 19 ? 1 : 0)
        answers += peer.send(
          peer.data(
            peer.firstTSN &+ index &+ (ahead ? 1 : 0), flags: flags,
            [UInt8](repeating: 1, count: 1000)))
      }
      #expect(answers.types.contains(6))
      #expect(peer.events().last == .aborted(.messageTooLarge(limit: 10_000)))
    }
  }

  @Test func tsnsFarAheadAreNotKept() {
    let peer = connected()
    for index in 0..<100 as Range<UInt32> {
      peer.send(peer.data(peer.firstTSN &+ 70_000 &+ index, [1, 2, 3]))
    }
    #expect(peer.association.statistics.dropped.data == 100)
    peer.send(peer.data(peer.firstTSN &+ 65_000, ssn: 1, [1, 2, 3]))
    let answer = peer.send(peer.data(peer.firstTSN, [1, 2, 3]))
    #expect(Array(answer.chunk(3)?.value.suffix(4) ?? []) == RawPeer.halves(65_000, 65_000))
    #expect(messages(peer).count == 2)
  }

  @Test func dataWithoutDataEndsTheAssociation() {
    let peer = connected()
    let answer = peer.send(peer.data(peer.firstTSN, []))
    #expect(Array(answer.chunk(6)?.value.prefix(2) ?? []) == [0, 9])
    #expect(peer.association.state == .ended)
  }

  @Test func aStreamThatThereIsNotIsAnError() {
    var configuration = SCTPConfiguration()
    configuration.incomingStreams = 4
    let peer = connected(configuration)
    let answer = peer.send(peer.data(peer.firstTSN, stream: 4, [1]))
    #expect(Array(answer.chunk(9)?.value ?? []) == RawPeer.halves(1, 8, 4, 0))
    #expect(answer.chunk(3).map { Array($0.value.prefix(4)) } == RawPeer.words(peer.firstTSN))
    #expect(messages(peer).isEmpty && peer.association.state == .connected)
  }

  /// RFC 9260 §3.2: the two highest bits of a type that isn't known.
  @Test(arguments: [
    (UInt8(0x30), false, false), (0x70, false, true), (0xB0, true, false), (0xF0, true, true),
  ])
  func unknownChunksDoAsTheirBitsSay(type: UInt8, goesOn: Bool, tells: Bool) {
    let peer = connected()
    let answer = peer.send(RawPeer.chunk(type, [1, 2]) + peer.data(peer.firstTSN, [7]))
    #expect((messages(peer).count == 1) == goesOn)
    #expect(answer.types.contains(9) == tells)
  }

  /// RFC 9260 §8.4.
  @Test func packetsOutOfTheBlueAreAnswered() {
    let peer = RawPeer()
    peer.theirTag = 99
    let answer = peer.send(peer.data(1, [1]))
    #expect(answer.types == [6] && answer.first?.tag == 99 && answer.chunk(6)?.flags == 1)
    let complete = peer.send(RawPeer.chunk(8))
    #expect(complete.types == [14] && complete.first?.tag == 99 && complete.chunk(14)?.flags == 1)
    for silent in [6, 14, 11, 9] as [UInt8] { #expect(peer.send(RawPeer.chunk(silent)).isEmpty) }
    #expect(peer.send(peer.data(1, [1]), tag: 0).isEmpty)
    #expect(peer.association.state == .idle)
  }

  @Test func anAbortNeedsATag() {
    let peer = connected()
    peer.send(RawPeer.chunk(6), tag: 1)
    peer.send(RawPeer.chunk(6, flags: 1), tag: peer.theirTag)
    #expect(peer.association.state == .connected)
    // Reflected: the tag that this end uses.
    peer.send(RawPeer.chunk(6, flags: 1), tag: peer.ownTag)
    #expect(peer.events() == [.aborted(.byPeer(cause: nil, text: ""))])
  }

  @Test func aClosedWindowIsProbed() throws {
    let peer = connected()
    try peer.association.send(pattern(2000, 1), at: peer.now)
    _ = peer.drain()
    peer.send(peer.sack(peer.theirTSN &+ 1, window: 0))
    try peer.association.send(pattern(2000, 2), at: peer.now)
    var next = peer.theirTSN &+ 2
    #expect(peer.drain().types == [0])
    var probes = 0
    for _ in 0..<30 {
      let packets = peer.wait(.seconds(10))
      probes += packets.types.filter { $0 == 0 }.count
      peer.send(peer.sack(next &- 1, window: 0))
      #expect(peer.association.state == .connected)
    }
    #expect(probes >= 25)
    next = next &+ 1
    peer.send(peer.sack(next &- 1, window: 100_000))
    #expect(peer.association.statistics.unacknowledgedChunks == 1)
  }

  @Test func duplicatesAreToldAndNotDelivered() {
    let peer = connected()
    for _ in 0..<50 {
      peer.association.receive(peer.packet(peer.data(peer.firstTSN, [1])).span.bytes, at: peer.now)
    }
    let sack = peer.drain().chunk(3)
    #expect(sack.map { Array($0.value[8..<12]) } == RawPeer.halves(0, 20))
    #expect(messages(peer).count == 1)
    #expect(peer.association.statistics.duplicatesReceived == 49)
  }

  @Test func manyAnswersAreNotKept() {
    let peer = connected()
    for _ in 0..<1000 {
      peer.association.receive(
        peer.packet(RawPeer.chunk(4, RawPeer.halves(1, 1004) + [UInt8](repeating: 0, count: 1000)))
          .span.bytes,
        at: peer.now)
    }
    #expect(peer.drain().types.filter { $0 == 5 }.count <= 32)
  }
}
