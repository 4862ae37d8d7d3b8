import SoraICE
import SoraMedia
import SoraNetworkSimulator
import Testing

@Suite struct DeterminismTests {
  static let rough = LinkConditions(
    delay: .milliseconds(50), jitter: .milliseconds(10), jitterReorders: true, loss: 0.02,
    burstLoss: GilbertElliott(goodToBad: 0.002, badToGood: 0.3), duplication: 0.01,
    reordering: 0.01, bitsPerSecond: 4_000_000)

  func run(seed: UInt64) -> (digest: UInt64, text: String) {
    let pair = Pair(seed: seed, Self.rough, retention: .everything)
    pair.right.onReceive = { number, source, local in
      if number % 10 == 0 {
        pair.network.send([1, 2, 3], from: local, to: source)
        pair.network.note("answered \(number)")
      }
    }
    pair.stream(3_000, every: .milliseconds(2), size: 1100)
    return (pair.network.log.digest, pair.network.log.text)
  }

  @Test func oneSeedMakesOneLog() {
    let first = run(seed: 5)
    let second = run(seed: 5)
    #expect(first.digest == second.digest)
    let isSame = first.text == second.text
    #expect(isSame)
    for part in ["0.000 send 10.0.0.1:1000>10.0.0.2:2000 1100 ", "drop:loss", "note answered 10\n"]
    {
      let isThere = first.text.contains(part)
      #expect(isThere, "\(part)")
    }
    #expect(run(seed: 6).digest != first.digest)
  }

  @Test func theDigestSeesOneBit() {
    func digest(_ byte: UInt8) -> UInt64 {
      let pair = Pair()
      pair.network.send([0, 0, byte], from: pair.leftAddress, to: pair.rightAddress)
      pair.network.run(for: .seconds(1))
      return pair.network.log.digest
    }
    #expect(digest(1) == digest(1))
    #expect(digest(1) != digest(3))
  }

  @Test func theLogKeepsTheLatestEvents() {
    let pair = Pair(retention: .latest(10))
    pair.network.note("early")
    pair.stream(100, every: .milliseconds(1))
    pair.network.note("late")
    let lines = pair.network.log.lines
    #expect((10...20).contains(lines.count))
    #expect(lines.last?.hasSuffix("note late") == true)
    #expect(pair.network.log.eventCount == 202)
  }

  @Test func anHourOfVideoTakesSeconds() {
    // 2.5 Mbit/s in 1200-byte datagrams for an hour (five minutes in debug builds), one feedback datagram for ten of them.
    let pair = Pair(seed: 3, Self.rough)
    let clock = ContinuousClock()
    let start = clock.now
    pair.right.onReceive = { number, source, local in
      pair.right.numbers.removeAll(keepingCapacity: true)
      pair.right.times.removeAll(keepingCapacity: true)
      pair.right.sources.removeAll(keepingCapacity: true)
      if number % 10 == 0 {
        pair.network.send(from: local, to: source, capacity: 64) { _ in 64 }
      }
    }
    #if DEBUG
      let minutes = 5
    #else
      let minutes = 60
    #endif
    pair.stream(15_000 * minutes, every: .milliseconds(4), size: 1200)
    let statistics = pair.link.forwardStatistics
    print(
      "\(minutes) virtual minutes, \(statistics.sentPackets) datagrams: \(clock.now - start)"
    )
    #expect(statistics.sentPackets == 15_000 * minutes)
    #expect(pair.network.drops == SimulationDrops())
  }
}
