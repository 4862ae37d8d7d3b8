import SoraMedia
import SoraSCTP
import Testing

/// How much comes through paths of several kinds, in virtual time.
@Suite struct GoodputTests {
  /// Bits per second of messages that are read, over the seconds behind `warmUp`.
  private func goodput(
    _ link: Link.Conditions, seconds: Int64, warmUp: Int64 = 2, messageSize: Int = 60_000,
    seed: UInt64 = 5, _ configuration: SCTPConfiguration = .init()
  ) -> (rate: Double, world: World) {
    let world = World(configuration, link: link, seed: seed)
    world.b.keepsMessages = false
    #expect(world.connect())
    let message = pattern(messageSize, 3)
    world.app = { world in
      while world.a.association.totalBufferedAmount < 7_000_000 {
        try? world.a.association.send(message, at: world.now)
      }
    }
    world.run(for: .seconds(warmUp))
    let start = world.now
    let before = world.b.receivedBytes
    world.run(for: .seconds(seconds))
    let elapsed = (world.now - start).inSeconds
    return (Double(world.b.receivedBytes - before) * 8 / elapsed, world)
  }

  @Test func aLongFastPathIsFilled() {
    let (rate, world) = goodput(.init(delay: .milliseconds(30)), seconds: 3)
    print("30 ms, no limit: \(Int(rate / 1e6)) Mbit/s")
    #expect(rate >= 520e6)
    #expect(world.a.association.statistics.chunksRetransmitted == 0)
  }

  @Test func aBottleneckIsUsed() {
    let (rate, _) = goodput(
      .init(delay: .milliseconds(15), rate: 18_000_000, queue: 100_000), seconds: 20, warmUp: 5)
    print("18 Mbit/s: \(rate / 1e6) Mbit/s")
    #expect(rate >= 16e6)
  }

  @Test func lossLeavesAShare() {
    let (rate, _) = goodput(
      .init(delay: .milliseconds(30), loss: 0.01), seconds: 60, warmUp: 5)
    print("1 % loss, 60 ms: \(rate / 1e6) Mbit/s")
    #expect(rate >= 1.5e6)
  }

  @Test func aSlowReaderIsNotOverrun() {
    var configuration = SCTPConfiguration()
    configuration.receiveWindow = 300_000
    let world = World(configuration, seed: 4)
    #expect(world.connect())
    world.b.isReading = false
    for index in 0..<40 { try? world.a.association.send(pattern(50_000, index), at: world.now) }
    world.run(for: .seconds(30))
    #expect(world.b.association.statistics.receiveWindow < 60_000)
    #expect(world.a.association.state == .connected)
    world.b.isReading = true
    // At once, and not when the next probe of the window would have left.
    #expect(world.run(within: .seconds(2)) { world.b.messages.count == 40 })
    #expect(world.b.messages.map(\.payload) == (0..<40).map { pattern(50_000, $0) })
  }

  /// The last packets of a burst are lost: the message is there within about three round trips, before any timeout.
  @Test(arguments: [1, 2, 3])
  func aLostTailIsSentAgainSoon(lost: Int) throws {
    let world = World(link: .init(delay: .milliseconds(25)), seed: 8)
    #expect(world.connect())
    try world.a.association.send(pattern(20_000, 0), at: world.now)
    #expect(world.run(within: .seconds(5)) { world.b.messages.count == 1 })
    world.run(for: .milliseconds(300))
    let start = world.now
    try world.a.association.send(pattern(10_000, 1), at: world.now)
    var count = 0
    world.there.drops = { packet in
      guard packet[12] == 64 else { return false }
      count += 1
      return count > 9 - lost && count <= 9
    }
    #expect(world.run(within: .seconds(5)) { world.b.messages.count == 2 })
    let took = world.now - start
    print("tail of \(lost): \(took.inMilliseconds) ms")
    #expect(took < .milliseconds(215))
    #expect(world.a.association.statistics.timeouts == 0)
    #expect(world.a.association.statistics.tailLossProbes >= 1)
  }

  @Test func pathMTUGrowsToWhatGoesThrough() {
    var configuration = SCTPConfiguration()
    configuration.maximumMTU = 9000
    let world = World(configuration, link: .init(mtu: 4000))
    #expect(world.connect())
    world.run(for: .seconds(120))
    let mtu = world.a.association.statistics.mtu
    #expect(mtu > 3900 && mtu <= 4000)
    try? world.a.association.send(pattern(100_000, 1), at: world.now)
    #expect(world.run(within: .seconds(2)) { world.b.messages.count == 1 })
    #expect(world.a.association.statistics.chunksRetransmitted == 0)
  }

  /// Bytes of UDP, IP and a DTLS record around a packet.
  private static let around = 28 + 22

  /// From what every path takes up to Ethernet's 1,500 bytes, and no further than the path goes.
  @Test(arguments: [1226, 1280, 1420, 1500])
  func ordinaryPathsAreFound(mtu: Int) throws {
    var configuration = SCTPConfiguration()
    configuration.mtu = 1176
    configuration.maximumMTU = 1448
    let limit = mtu - Self.around
    let world = World(configuration, link: .init(delay: .milliseconds(20), mtu: limit))
    #expect(world.connect())
    // Meanwhile messages of all sizes come, and none waits for the search.
    for index in 0..<200 {
      try world.a.association.send(pattern(1 + index * 97, index), at: world.now)
    }
    #expect(world.run(within: .seconds(5)) { world.b.messages.count == 200 })
    #expect(world.a.association.statistics.chunksRetransmitted == 0)
    world.run(for: .seconds(20))
    let found = world.a.association.statistics.mtu
    #expect(found <= limit && found > limit - 20)
  }

  /// A call's path loses its larger packets while messages go: from Ethernet into a tunnel.
  @Test(arguments: [1226, 1280]) func anOrdinaryPathGetsNarrower(mtu: Int) throws {
    var configuration = SCTPConfiguration()
    configuration.mtu = 1176
    configuration.maximumMTU = 1448
    let world = World(
      configuration,
      link: .init(delay: .milliseconds(20), rate: 20_000_000, mtu: 1500 - Self.around))
    #expect(world.connect())
    world.run(for: .seconds(5))
    #expect(world.a.association.statistics.mtu == 1448)
    for index in 0..<400 { try world.a.association.send(pattern(9_000, index), at: world.now) }
    #expect(world.run(within: .seconds(2)) { world.b.messages.count >= 100 })
    world.there.conditions.mtu = mtu - Self.around
    let start = world.now
    #expect(world.run(within: .seconds(5)) { world.b.messages.count == 400 })
    print("from 1500 to \(mtu): the rest came within \((world.now - start).inMilliseconds) ms")
    #expect(world.a.association.statistics.mtu <= mtu - Self.around)
    #expect(world.b.messages.map(\.payload) == (0..<400).map { pattern(9_000, $0) })
  }

  /// The path gets narrower without a word while a message is under way, and wider again later.
  @Test(arguments: [true, false]) func aNarrowerPathBringsWhatWasUnderWay(interleaving: Bool) throws
  {
    var configuration = SCTPConfiguration()
    configuration.maximumMTU = 9000
    configuration.interleaving = interleaving
    let world = World(configuration, link: .init(mtu: 4000))
    #expect(world.connect())
    world.run(for: .seconds(120))
    for index in 0..<4 { try world.a.association.send(pattern(250_000, index), at: world.now) }
    #expect(world.run(within: .seconds(2)) { world.b.messages.count == 1 })
    let statistics = world.a.association.statistics
    #expect(statistics.mtu > 3900 && statistics.unacknowledgedChunks > 10)
    var largest = 0
    world.there.drops = { packet in
      largest = max(largest, packet.count)
      return false
    }
    // Larger packets did leave, with several chunks.
    #expect(world.run(within: .seconds(1)) { largest > 3900 })
    world.there.conditions.mtu = 1600
    let before = world.a.association.statistics.chunksRetransmitted
    let start = world.now
    #expect(world.run(within: .seconds(2)) { world.b.messages.count == 4 })
    let again = world.a.association.statistics.chunksRetransmitted - before
    print(
      "narrower, interleaving \(interleaving): \((world.now - start).inMilliseconds) ms, \(again) again"
    )
    #expect(world.b.messages.map(\.payload) == (0..<4).map { pattern(250_000, $0) })
    #expect(again < 1200)
    // What comes through now is found, and nothing more is lost.
    world.run(for: .seconds(60))
    let narrow = world.a.association.statistics
    #expect(narrow.mtu > 1550 && narrow.mtu <= 1600)
    try world.a.association.send(pattern(250_000, 4), at: world.now)
    #expect(world.run(within: .seconds(2)) { world.b.messages.count == 5 })
    #expect(world.a.association.statistics.chunksRetransmitted == narrow.chunksRetransmitted)
    // Larger ones are looked for again after ten minutes, and no sooner (RFC 8899 §5.1.1).
    world.there.conditions.mtu = 4000
    world.run(for: .seconds(500))
    #expect(world.a.association.statistics.mtu == narrow.mtu)
    world.run(for: .seconds(200))
    #expect(world.a.association.statistics.mtu > 3900)
    #expect(world.a.isConnected && world.b.isConnected)
  }
}
