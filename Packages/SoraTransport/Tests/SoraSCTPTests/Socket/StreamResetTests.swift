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

  /// No streams in a request are all of them; each begins anew, also one of which something waits, and whatever was used comes as before.
  @Test func allStreamsBeginAnewAtOnce() {
    let peer = RawPeer()
    #expect(peer.connect())
    _ = peer.events()
    var tsn = peer.firstTSN
    func take(_ stream: UInt16, number: UInt16) {
      _ = peer.send(peer.data(tsn, stream: stream, ssn: number, [UInt8(number)]))
      tsn &+= 1
    }
    var sequence = peer.firstTSN
    for _ in 0..<3 {
      for stream in 0..<200 { take(UInt16(stream), number: 0) }
      // Waits for the one before it, and in vain.
      take(7, number: 2)
      #expect(peer.messages().count == 200)
      #expect(result(peer.send(request(sequence, tsn &- 1, []))) == 1)
      sequence &+= 1
      #expect(peer.events() == [.incomingStreamsReset([])])
    }
    take(7, number: 0)
    take(7, number: 1)
    #expect(peer.messages().map(\.payload) == [[0], [1]])
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

  // MARK: - The peer asks for what this end sends

  private func incomingRequest(_ sequence: UInt32, _ streams: [UInt16]) -> [UInt8] {
    let value = RawPeer.words(sequence) + streams.flatMap { RawPeer.halves($0) }
    return RawPeer.chunk(130, RawPeer.halves(14, UInt16(4 + value.count)) + value)
  }

  /// The parameters of a type in what came, without their headers and padding.
  private func parameters(_ type: UInt8, _ packets: [RawPeer.Packet]) -> [[UInt8]] {
    packets.flatMap(\.chunks).filter { $0.type == 130 && $0.value[1] == type }
      .map { Array($0.value[4..<Int($0.value[3])]) }
  }

  private func resets(_ peer: RawPeer) -> [SCTPEvent] {
    peer.events().filter { if case .bufferedAmountLow = $0 { false } else { true } }
  }

  /// Says that a request of the association's was done.
  private func confirm(_ request: [UInt8], _ peer: RawPeer) {
    let value = Array(request[..<4]) + RawPeer.words(1)
    peer.send(RawPeer.chunk(130, RawPeer.halves(16, 12) + value))
  }

  @Test func aPeerMayAskForResets() throws {
    let peer = RawPeer()
    #expect(peer.connect())
    _ = peer.events()
    for stream in [3, 5] as [UInt16] {
      for _ in 0..<2 { try peer.association.send([1], on: stream, at: peer.now) }
    }
    _ = peer.drain()
    peer.send(peer.sack(peer.theirTSN &+ 3))
    let answer = peer.send(incomingRequest(peer.firstTSN, [3]))
    #expect(parameters(16, answer) == [RawPeer.words(peer.firstTSN, 1)])
    // RFC 6525 §4.1: its own number, that of the request that it follows, the last TSN, the streams.
    let requests = parameters(13, answer)
    #expect(requests.count == 1)
    let request = try #require(requests.first)
    #expect(
      Array(request[4...])
        == RawPeer.words(peer.firstTSN, peer.theirTSN &+ 3) + RawPeer.halves(3))
    #expect(throws: SCTPSendError.streamClosing(3)) {
      try peer.association.send([1], on: 3, at: peer.now)
    }
    // Once more: the same answer, and no other request.
    let again = peer.send(incomingRequest(peer.firstTSN, [3]))
    #expect(parameters(16, again) == [RawPeer.words(peer.firstTSN, 1)])
    #expect(parameters(13, again).isEmpty)
    confirm(request, peer)
    #expect(resets(peer) == [.outgoingStreamsReset([3])])
    try peer.association.send([2], on: 3, at: peer.now)
    try peer.association.send([2], on: 5, at: peer.now)
    let numbers = peer.drain().flatMap(\.chunks).filter { $0.type == 0 }
      .map { Array($0.value[4..<8]) }
    #expect(numbers == [RawPeer.halves(3, 0), RawPeer.halves(5, 2)])
    // And late, when all is done.
    let late = peer.send(incomingRequest(peer.firstTSN, [3]))
    #expect(parameters(16, late) == [RawPeer.words(peer.firstTSN, 1)])
    #expect(parameters(13, late).isEmpty)
    #expect(resets(peer).isEmpty)
  }

  @Test func aResetThatIsAskedForWaitsForWhatIsToBeSent() throws {
    let peer = RawPeer()
    #expect(peer.connect())
    try peer.association.send(pattern(60_000, 1), on: 3, at: peer.now)
    var packets = peer.drain()
    packets += peer.send(incomingRequest(peer.firstTSN, [3]))
    #expect(parameters(16, packets).count == 1 && parameters(13, packets).isEmpty)
    func sent() -> Int { packets.flatMap(\.chunks).count { $0.type == 0 } }
    for _ in 0..<20 where parameters(13, packets).isEmpty {
      packets += peer.send(peer.sack(peer.theirTSN &+ UInt32(sent()) &- 1))
    }
    let request = try #require(parameters(13, packets).first)
    #expect(sent() > 50)
    #expect(Array(request[8..<12]) == RawPeer.words(peer.theirTSN &+ UInt32(sent()) &- 1))
  }

  @Test func allStreamsAreResetForAPeerThatNamesNone() throws {
    let peer = RawPeer()
    #expect(peer.connect())
    _ = peer.events()
    for stream in [9, 2] as [UInt16] { try peer.association.send([1], on: stream, at: peer.now) }
    _ = peer.drain()
    let answer = peer.send(incomingRequest(peer.firstTSN, []))
    #expect(parameters(16, answer) == [RawPeer.words(peer.firstTSN, 1)])
    confirm(try #require(parameters(13, answer).first), peer)
    #expect(resets(peer) == [.outgoingStreamsReset([9, 2])])
  }

  @Test func badRequestsForWhatIsSentAreRefused() throws {
    let peer = RawPeer()
    #expect(peer.connect())
    _ = peer.events()
    try peer.association.send([1], on: 3, at: peer.now)
    _ = peer.drain()
    let wrong = peer.send(incomingRequest(peer.firstTSN &+ 7, [3]))
    #expect(parameters(16, wrong) == [RawPeer.words(peer.firstTSN &+ 7, 5)])
    #expect(peer.send(RawPeer.chunk(130, RawPeer.halves(14, 6) + [1, 2])).isEmpty)
    #expect(peer.association.statistics.dropped.malformed == 1)
    // The peer takes 1024 streams: there is no stream 1024, and nothing of such a request is done.
    let missing = peer.send(incomingRequest(peer.firstTSN, [3, 1024]))
    #expect(parameters(16, missing) == [RawPeer.words(peer.firstTSN, 3)])
    #expect(parameters(13, missing).isEmpty && parameters(13, wrong).isEmpty)
    let again = peer.send(incomingRequest(peer.firstTSN, [3, 1024]))
    #expect(parameters(16, again) == [RawPeer.words(peer.firstTSN, 3)])
    try peer.association.send([1], on: 3, at: peer.now)
    _ = peer.drain()
    #expect(resets(peer).isEmpty)
    // The number was used.
    let next = peer.send(incomingRequest(peer.firstTSN &+ 1, [3]))
    #expect(parameters(16, next) == [RawPeer.words(peer.firstTSN &+ 1, 1)])
    #expect(parameters(13, next).count == 1)
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
