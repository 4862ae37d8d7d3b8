import SoraICE
import SoraMedia
import SoraNetworkSimulator
import Testing

@Suite struct LinkConditionTests {
  @Test func delayIsExact() {
    let pair = Pair(LinkConditions(delay: .milliseconds(50)))
    pair.stream(10, every: .milliseconds(20))
    #expect(pair.right.numbers == Array(0..<10))
    for (index, time) in pair.right.times.enumerated() {
      #expect(time == Instant.zero + .milliseconds(20 * index + 50))
    }
  }

  @Test func theNextEventSaysHowLongNothingHappens() {
    let pair = Pair(LinkConditions(delay: .milliseconds(50)))
    #expect(pair.network.nextEvent == nil)
    pair.send(1)
    #expect(pair.network.nextEvent == .zero + .milliseconds(50))
    pair.network.run(for: .milliseconds(49))
    #expect(pair.right.numbers.isEmpty)
    pair.network.run(for: .milliseconds(1))
    #expect(pair.right.numbers == [1])
    #expect(pair.network.nextEvent == nil)
  }

  @Test func jitterSpreadsAndKeepsOrderUnlessToldOtherwise() {
    var conditions = LinkConditions(delay: .milliseconds(50), jitter: .milliseconds(10))
    let ordered = Pair(conditions)
    ordered.stream(5_000, every: .milliseconds(2))
    let isInOrder = ordered.right.numbers == Array(0..<5_000)
    #expect(isInOrder)
    #expect(ordered.link.forwardStatistics.arrivedOutOfOrder == 0)

    conditions.jitterReorders = true
    let free = Pair(conditions)
    free.stream(5_000, every: .milliseconds(2))
    let delays = zip(free.right.numbers, free.right.times).map { number, time in
      (time - Instant.zero).inMilliseconds - 2 * Double(number)
    }
    let mean = delays.reduce(0, +) / Double(delays.count)
    #expect(abs(mean - 50) < 0.5)
    #expect(delays.min()! >= 40 && delays.min()! < 40.1)
    #expect(delays.max()! <= 60 && delays.max()! > 59.9)
    #expect(free.link.forwardStatistics.arrivedOutOfOrder > 1_000)
    print(
      "jitter ±10 ms: mean \(mean) ms, out of order \(free.link.forwardStatistics.arrivedOutOfOrder)/5000"
    )
  }

  @Test func randomLossAndDuplicationMeetTheirRates() {
    let pair = Pair(LinkConditions(delay: .milliseconds(5), loss: 0.02, duplication: 0.01))
    pair.stream(50_000, every: .microseconds(100))
    let statistics = pair.link.forwardStatistics
    let loss = Double(statistics.lostAtRandom) / 50_000
    let copies = Double(statistics.duplicated) / Double(50_000 - statistics.lostAtRandom)
    print("loss \(loss), duplication \(copies)")
    #expect(abs(loss - 0.02) < 0.002)
    #expect(abs(copies - 0.01) < 0.002)
    #expect(
      pair.right.numbers.count == 50_000 - statistics.lostAtRandom + statistics.duplicated)
    #expect(statistics.deliveredPackets == pair.right.numbers.count)
  }

  @Test func burstLossComesInBursts() {
    let model = GilbertElliott(goodToBad: 0.005, badToGood: 0.2)
    let pair = Pair(LinkConditions(burstLoss: model))
    pair.stream(100_000, every: .microseconds(100))
    let loss = Double(pair.link.forwardStatistics.lostInBursts) / 100_000
    var bursts = 0
    for (a, b) in zip(pair.right.numbers, pair.right.numbers.dropFirst()) where b > a + 1 {
      bursts += 1
    }
    let length = Double(pair.link.forwardStatistics.lostInBursts) / Double(bursts)
    print("burst loss \(loss) (model \(model.averageLoss)), burst length \(length) (model 5)")
    #expect(abs(loss - model.averageLoss) < 0.004)
    #expect(abs(length - 5) < 0.6)
  }

  @Test func reorderingHoldsDatagramsBack() {
    let pair = Pair(
      LinkConditions(
        delay: .milliseconds(20), reordering: 0.05, reorderingDelay: .milliseconds(15)))
    pair.stream(20_000, every: .milliseconds(5))
    let statistics = pair.link.forwardStatistics
    #expect(abs(Double(statistics.heldBack) / 20_000 - 0.05) < 0.006)
    #expect(statistics.arrivedOutOfOrder > statistics.heldBack * 9 / 10)
    #expect(pair.right.numbers.count == 20_000)
    let isInOrder = pair.right.numbers == Array(0..<20_000)
    #expect(!isInOrder)
  }

  @Test func theRateLimitPassesItsRateAndDropsWhatDoesNotFit() {
    // 1228 bytes on the wire each millisecond are 9.8 Mbit/s, offered to 2 Mbit/s.
    let pair = Pair(
      LinkConditions(
        delay: .milliseconds(10), bitsPerSecond: 2_000_000, queue: .time(.milliseconds(300))))
    pair.stream(10_000, every: .milliseconds(1), size: 1200)
    let statistics = pair.link.forwardStatistics
    // What was sent in 10 s, plus what the queue held.
    let rate = Double(statistics.deliveredPackets * 1228 * 8) / 10.3
    print(
      "rate \(rate) bit/s, longest queue \(statistics.longestQueueTime), drops \(statistics.droppedByQueue)"
    )
    #expect(abs(rate - 2_000_000) < 20_000)
    #expect(statistics.longestQueueTime > .milliseconds(290))
    #expect(statistics.longestQueueTime < .milliseconds(310))
    #expect(statistics.droppedByQueue + statistics.deliveredPackets == 10_000)
    // Two datagrams leave one sending time apart.
    let gap = pair.right.times[1] - pair.right.times[0]
    #expect(gap == .nanoseconds(Int64(1228 * 8) * 500))
  }

  @Test func aQueueOfBytesHoldsThatManyBytes() {
    let pair = Pair(
      LinkConditions(bitsPerSecond: 1_000_000, queue: .bytes(12_280)))
    for number in 0..<100 { pair.send(UInt64(number), size: 1200) }
    pair.network.run(for: .seconds(2))
    #expect(pair.right.numbers == Array(0..<10))
    #expect(pair.link.forwardStatistics.droppedByQueue == 90)
    #expect(pair.link.forwardStatistics.largestQueueBytes == 12_280)
  }

  @Test func conditionsChangeInVirtualTime() {
    let pair = Pair(LinkConditions(delay: .milliseconds(10), bitsPerSecond: 10_000_000))
    pair.link.change(at: .zero + .seconds(1)) { $0.bitsPerSecond = 500_000 }
    pair.link.change(at: .zero + .seconds(3)) { $0.bitsPerSecond = nil }
    pair.stream(2_000, every: .milliseconds(2), size: 1000)
    // 4.1 Mbit/s offered: all of it in the first second, an eighth in the next two, all of it in the last.
    let first = pair.right.times.filter { $0 < .zero + .milliseconds(1_010) }.count
    let middle = pair.right.times.filter {
      $0 > .zero + .milliseconds(1_010) && $0 < .zero + .milliseconds(3_010)
    }.count
    let last = pair.right.times.filter { $0 > .zero + .milliseconds(3_015) }.count
    #expect(abs(first - 500) <= 2)
    #expect(abs(middle - 122) <= 3)
    #expect(last >= 495)
    let isSorted = pair.right.numbers == pair.right.numbers.sorted()
    #expect(isSorted)
  }

  @Test func aLinkThatIsDownDropsItsQueueAndComesBack() {
    let pair = Pair(LinkConditions(delay: .milliseconds(10), bitsPerSecond: 1_000_000))
    pair.network.at(.zero + .milliseconds(500)) { _ in pair.link.setUp(false) }
    pair.network.at(.zero + .milliseconds(900)) { _ in pair.link.setUp(true) }
    pair.stream(1_000, every: .milliseconds(2), size: 1000)
    let statistics = pair.link.forwardStatistics
    #expect(statistics.droppedWhileDown >= 200)
    #expect(statistics.sentPackets == 1_000)
    #expect(statistics.sentPackets == statistics.deliveredPackets + statistics.dropped)
    let cameBack = pair.right.times.contains { $0 > .zero + .seconds(1) }
    #expect(cameBack)
    let arrivedMeanwhile = pair.right.times.contains {
      $0 > .zero + .milliseconds(511) && $0 < .zero + .milliseconds(900)
    }
    #expect(!arrivedMeanwhile)
  }

  @Test func datagramsThatAreTooLargeAreDroppedAndCounted() {
    let pair = Pair()
    pair.send(1, size: 1472)
    pair.send(2, size: 1473)
    pair.network.run(for: .seconds(1))
    #expect(pair.right.numbers == [1])
    #expect(pair.link.forwardStatistics.droppedTooLarge == 1)
  }
}
