import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraWire
import Testing

@Suite struct QueueManagementTests {
  private func overload(
    _ codel: CoDel?, every interval: Duration, _ count: Int
  ) -> (pair: Pair, delays: [Double]) {
    let pair = Pair(
      LinkConditions(
        delay: .milliseconds(10), bitsPerSecond: 2_000_000, queue: .time(.milliseconds(500)),
        codel: codel))
    pair.stream(count, every: interval, size: 1200)
    let delays = zip(pair.right.numbers, pair.right.times).map { number, time in
      (time - .zero).inMilliseconds - Double(number) * interval.inMilliseconds - 10
    }
    return (pair, delays)
  }

  /// A sender that doesn't yield, a tenth too fast: CoDel brings the standing queue down to about its target, drop-tail leaves it full.
  @Test func codelKeepsTheQueueShort() {
    // 4.912 ms is what a datagram takes at this rate.
    let interval = Duration.microseconds(4_465)
    let tail = overload(nil, every: interval, 8_000)
    let codel = overload(CoDel(), every: interval, 8_000)
    func settled(_ delays: [Double]) -> Double {
      let last = delays.suffix(delays.count / 2).sorted()
      return last[last.count / 2]
    }
    let (a, b) = (settled(tail.delays), settled(codel.delays))
    let (dropsA, dropsB) = (
      tail.pair.link.forwardStatistics.droppedByQueue,
      codel.pair.link.forwardStatistics.droppedByCoDel
    )
    print(
      "10 % overload: median waiting of drop-tail \(a) ms (\(dropsA) drops), CoDel \(b) ms (\(dropsB) drops)"
    )
    #expect(a > 450)
    #expect(b < 60)
    #expect(codel.pair.link.forwardStatistics.droppedByQueue == 0)
    #expect(
      codel.pair.link.forwardStatistics.deliveredPackets
        + codel.pair.link.forwardStatistics.dropped == 8_000)
    // The rate stays used: both deliver about what fits.
    #expect(
      codel.pair.link.forwardStatistics.deliveredPackets * 100
        > tail.pair.link.forwardStatistics.deliveredPackets * 97)
  }

  @Test func codelLeavesAShortBurstAlone() {
    let pair = Pair(
      LinkConditions(
        bitsPerSecond: 2_000_000, queue: .time(.milliseconds(500)), codel: CoDel()))
    // Fifteen at once wait 74 ms at most, which is less than an interval.
    for number in 0..<15 as Range<UInt64> { pair.send(number, size: 1200) }
    pair.network.run(for: .seconds(1))
    #expect(pair.right.numbers == Array(0..<15))
    #expect(pair.link.forwardStatistics.droppedByCoDel == 0)
  }

  /// What can be marked is, where it would have been dropped; the rest of it is dropped as before.
  @Test(arguments: [ECNCodepoint.notECT, .ect0, .ect1])
  func codelMarksWhatItMay(_ ecn: ECNCodepoint) {
    let pair = Pair(
      LinkConditions(
        bitsPerSecond: 2_000_000, queue: .time(.seconds(2)), codel: CoDel(marks: true)))
    pair.stream(2_000, every: .microseconds(4_465), size: 1200, ecn: ecn)
    let link = pair.link.forwardStatistics
    #expect((ecn == .notECT ? link.droppedByCoDel : link.marked) > 10)
    #expect((ecn == .notECT ? link.marked : link.droppedByCoDel) == 0)
    #expect(pair.right.ecns[ecn, default: 0] == link.deliveredPackets - link.marked)
    #expect(pair.right.ecns[.congestionExperienced, default: 0] == link.marked)
  }

  /// RFC 9331: ECT(1) is marked from the first packet that waits for long, ECT(0) isn't; a packet of full size is no queue.
  @Test func aQueueForL4SMarksEarly() {
    for (ecn, isMarked) in [(ECNCodepoint.ect1, true), (.ect0, false)] {
      let pair = Pair(
        LinkConditions(
          bitsPerSecond: 2_000_000, queue: .time(.seconds(2)),
          scalableThreshold: .milliseconds(1)))
      // One behind the head is no queue: of six the first goes at once, and the last two have none or one behind them.
      pair.stream(2, every: .zero, size: 1200, ecn: ecn)
      #expect(pair.link.forwardStatistics.marked == 0)
      pair.stream(6, every: .zero, size: 1200, ecn: ecn)
      #expect(pair.link.forwardStatistics.marked == (isMarked ? 3 : 0))
      #expect(pair.link.forwardStatistics.dropped == 0)
    }
  }

  @Test func aRouterMayClearTheBits() {
    let pair = Pair(LinkConditions(clearsECN: true))
    pair.stream(5, every: .zero, size: 100, ecn: .ect0)
    #expect(pair.right.ecns == [.notECT: 5])
  }
}
