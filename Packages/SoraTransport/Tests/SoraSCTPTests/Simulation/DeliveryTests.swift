import SoraMedia
import SoraSCTP
import Testing

/// Every message comes once, whole and in its order, whatever the path does.
@Suite struct DeliveryTests {
  private struct Sent {
    var stream: UInt16
    var isUnordered: Bool
    var payload: [UInt8]
  }

  private func configuration(_ seed: UInt64) -> SCTPConfiguration {
    var configuration = SCTPConfiguration()
    configuration.interleaving = seed % 2 == 0
    configuration.zeroChecksum = seed % 3 == 0
    configuration.scheduler = seed % 5 == 0 ? .roundRobin : .weightedFair
    if seed % 4 == 1 { configuration.receiveWindow = 300_000 }
    return configuration
  }

  private func plan(_ random: RandomSource, _ count: Int) -> [Sent] {
    (0..<count).map { index in
      let size: Int
      switch random.next() % 10 {
      case 0: size = Int(random.next() % 60_000) + 1
      case 1...3: size = Int(random.next() % 5000) + 1
      default: size = Int(random.next() % 300) + 1
      }
      return Sent(
        stream: UInt16(random.next() % 5), isUnordered: random.next() % 4 == 0,
        payload: pattern(size, index) + [UInt8(index & 255), UInt8(index >> 8)])
    }
  }

  private func check(_ end: End, _ sent: [Sent]) {
    #expect(end.messages.count == sent.count)
    for stream in 0..<5 as Range<UInt16> {
      let ordered = end.messages.filter { $0.stream == stream && !$0.isUnordered }.map(\.payload)
      #expect(ordered == sent.filter { $0.stream == stream && !$0.isUnordered }.map(\.payload))
      let unordered = end.messages.filter { $0.stream == stream && $0.isUnordered }.map(\.payload)
      #expect(
        Set(unordered) == Set(sent.filter { $0.stream == stream && $0.isUnordered }.map(\.payload)))
    }
  }

  @Test(arguments: 1...100 as ClosedRange<UInt64>)
  func everyMessageComesOnce(seed: UInt64) throws {
    let random = RandomSource(seed: seed &* 77)
    let world = World(
      configuration(seed),
      link: .init(
        delay: .milliseconds(Int64(random.next() % 40)), rate: seed % 7 == 0 ? 5_000_000 : nil,
        loss: Double(random.next() % 15) / 100, duplication: Double(random.next() % 10) / 100,
        reordering: Double(random.next() % 20) / 100), seed: seed)
    let there = plan(random, 120)
    let back = plan(random, 60)
    if seed % 2 == 0 { world.b.association.connect(at: world.now) }
    #expect(world.connect())
    for message in there {
      try world.a.association.send(
        message.payload, on: message.stream, .init(isUnordered: message.isUnordered), at: world.now)
    }
    for message in back {
      try world.b.association.send(
        message.payload, on: message.stream, .init(isUnordered: message.isUnordered), at: world.now)
    }
    #expect(
      world.run(within: .seconds(300)) {
        world.b.messages.count >= there.count && world.a.messages.count >= back.count
      })
    world.run(for: .seconds(5))
    check(world.b, there)
    check(world.a, back)
    #expect(world.a.association.totalBufferedAmount == 0)
    #expect(world.a.association.statistics.bytesInFlight == 0)
    #expect(world.b.association.statistics.receiveWindow == configuration(seed).receiveWindow)
  }

  /// RFC 3758: what is given up isn't delivered, what is delivered is whole and in order, and the rest goes on.
  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func limitedMessagesComeWholeOrNotAtAll(seed: UInt64) throws {
    let world = World(
      configuration(seed),
      link: .init(
        delay: .milliseconds(20), rate: 4_000_000, queue: 60_000, loss: 0.1, reordering: 0.05),
      seed: seed)
    #expect(world.connect())
    var sent: [[UInt8]] = []
    for index in 0..<150 {
      let payload = pattern(200 + (index * 373) % 6000, index) + [UInt8(index)]
      sent.append(payload)
      let options =
        index % 3 == 0
        ? SCTPSendOptions(
          isUnordered: index % 2 == 0, lifetime: .milliseconds(120), token: UInt64(index + 1))
        : SCTPSendOptions(
          isUnordered: index % 2 == 0, maximumRetransmissions: UInt16(index % 2),
          token: UInt64(index + 1))
      try world.a.association.send(payload, on: UInt16(index % 3), options, at: world.now)
      world.run(for: .milliseconds(5))
    }
    #expect(world.run(within: .seconds(60)) { world.a.association.totalBufferedAmount == 0 })
    try world.a.association.send([255, 254], on: 0, at: world.now)
    #expect(world.run(within: .seconds(20)) { world.b.messages.last?.payload == [255, 254] })
    let came = world.b.messages.dropLast().map(\.payload)
    let failed = world.a.events.compactMap { event -> UInt64? in
      if case .sendFailed(_, let token) = event { token } else { nil }
    }
    #expect(!failed.isEmpty && !came.isEmpty)
    #expect(Set(came).count == came.count)
    #expect(Set(came).isSubset(of: Set(sent)))
    for (index, payload) in sent.enumerated() where !came.contains(payload) {
      #expect(failed.contains(UInt64(index + 1)))
    }
    for stream in 0..<3 as Range<UInt16> {
      let ordered = world.b.messages.filter { $0.stream == stream && !$0.isUnordered }
        .compactMap { message in sent.firstIndex(of: message.payload) }
      #expect(ordered == ordered.sorted())
    }
    #expect(world.a.association.statistics.messagesAbandoned == UInt64(failed.count))
  }

  @Test func anUnorderedMessageOvertakes() throws {
    let world = World(link: .init(delay: .milliseconds(50)))
    #expect(world.connect())
    var count = 0
    world.there.drops = { packet in
      guard packet[12] == 64 || packet[12] == 0 else { return false }
      count += 1
      return count == 1
    }
    try world.a.association.send(pattern(1100, 0), on: 1, at: world.now)
    try world.a.association.send(pattern(1100, 1), on: 2, at: world.now)
    try world.a.association.send(pattern(1100, 2), on: 1, .init(isUnordered: true), at: world.now)
    try world.a.association.send(pattern(1100, 3), on: 1, at: world.now)
    #expect(world.run(within: .seconds(1)) { world.b.messages.count == 2 })
    #expect(world.b.messages.map(\.payload) == [pattern(1100, 1), pattern(1100, 2)])
    #expect(world.run(within: .seconds(1)) { world.b.messages.count == 4 })
    #expect(world.b.messages.map(\.payload).suffix(2) == [pattern(1100, 0), pattern(1100, 3)])
  }

  /// RFC 8260: a short message doesn't wait for a long one of another stream.
  @Test(arguments: [true, false])
  func interleavingLetsShortMessagesPass(interleaving: Bool) throws {
    var configuration = SCTPConfiguration()
    configuration.interleaving = interleaving
    let world = World(configuration, link: .init(rate: 2_000_000))
    #expect(world.connect())
    try world.a.association.send(pattern(200_000, 0), on: 1, at: world.now)
    world.run(for: .milliseconds(50))
    try world.a.association.send([1], on: 2, at: world.now)
    #expect(world.run(within: .seconds(10)) { world.b.messages.count == 2 })
    #expect(world.b.messages[0].stream == (interleaving ? 2 : 1))
  }

  @Test func prioritiesShareTheRate() throws {
    let world = World(link: .init(rate: 4_000_000))
    world.b.keepsMessages = true
    #expect(world.connect())
    world.a.association.setPriority(512, of: 2)
    world.a.association.setPriority(128, of: 1)
    for index in 0..<200 {
      try world.a.association.send(pattern(1000, index), on: 1, at: world.now)
      try world.a.association.send(pattern(1000, index), on: 2, at: world.now)
    }
    #expect(world.run(within: .seconds(5)) { world.b.messages.count >= 150 })
    let heavy = world.b.messages.filter { $0.stream == 2 }.count
    #expect(heavy >= 110 && heavy <= 130)
  }

  @Test func thresholdsAreTold() throws {
    let world = World()
    #expect(world.connect())
    world.a.association.setBufferedAmountLowThreshold(10_000, of: 4)
    try world.a.association.send(pattern(50_000, 0), on: 4, at: world.now)
    #expect(world.a.association.bufferedAmount(of: 4) == 50_000)
    #expect(world.run(within: .seconds(2)) { world.b.messages.count == 1 })
    #expect(world.a.events.filter { $0 == .bufferedAmountLow(stream: 4) }.count == 1)
    #expect(world.a.association.bufferedAmount(of: 4) == 0)
  }

  @Test func aFullBufferRefusesAndTells() throws {
    var configuration = SCTPConfiguration()
    configuration.maximumSentMessageSize = 40_000
    configuration.sendBufferLimit = 100_000
    let world = World(configuration)
    #expect(world.connect())
    try world.a.association.send(pattern(40_000, 0), at: world.now)
    try world.a.association.send(pattern(40_000, 1), at: world.now)
    #expect(throws: SCTPSendError.bufferFull(limit: 100_000)) {
      try world.a.association.send(pattern(40_000, 2), at: world.now)
    }
    #expect(throws: SCTPSendError.messageTooLarge(count: 40_001, limit: 40_000)) {
      try world.a.association.send(pattern(40_001, 2), at: world.now)
    }
    #expect(throws: SCTPSendError.empty) { try world.a.association.send([], at: world.now) }
    #expect(world.run(within: .seconds(2)) { world.a.has(.sendBufferLow) })
  }

  @Test func zeroChecksumIsWhereBothWant() throws {
    for (first, second) in [(true, true), (true, false), (false, true)] {
      var one = SCTPConfiguration()
      one.zeroChecksum = first
      var other = SCTPConfiguration()
      other.zeroChecksum = second
      let world = World(one, other)
      #expect(world.connect())
      var zeros = 0
      var all = 0
      world.there.drops = { packet in
        all += 1
        if packet[8..<12].allSatisfy({ $0 == 0 }) { zeros += 1 }
        return false
      }
      try world.a.association.send(pattern(20_000, 0), at: world.now)
      #expect(world.run(within: .seconds(2)) { world.b.messages.count == 1 })
      #expect(zeros == (first && second ? all : 0) && all > 0)
    }
  }
}
