import SoraMedia
import SoraRTP
import Testing

@Suite struct ReceiveStatisticsTests {
  private func header(_ number: Int, timestamp: Int = 0) -> RTPHeader {
    var header = RTPHeader(
      payloadType: 96, sequenceNumber: UInt16(truncatingIfNeeded: number),
      timestamp: UInt32(truncatingIfNeeded: timestamp), ssrc: 1)
    header.payloadCount = 100
    return header
  }

  private func report(_ statistics: inout ReceiveStatistics) -> RTCPReportBlock? {
    statistics.makeReportBlock(senderReports: nil, at: .zero)
  }

  @Test func lossesAreCountedOverAWrap() throws {
    var statistics = ReceiveStatistics(ssrc: 1, clockRate: 90_000)
    #expect(report(&statistics) == nil)
    for number in 65_500..<65_600 where number % 4 != 1 {
      statistics.received(header(number), packetCount: 112, at: .zero)
    }
    let block = try #require(report(&statistics))
    #expect(block.extendedHighestSequence == 65_599)
    #expect(block.cumulativeLost == 25)
    #expect(block.fractionLost == 64)
    #expect(statistics.payloadBytesReceived == 7500)
    #expect(statistics.headerBytesReceived == 900)
    // The next interval has no loss, and recovers one.
    for number in 65_600..<65_700 {
      statistics.received(header(number), packetCount: 112, at: .zero)
    }
    statistics.received(header(65_501), packetCount: 112, isRetransmission: true, at: .zero)
    let next = try #require(report(&statistics))
    #expect(next.fractionLost == 0)
    #expect(next.cumulativeLost == 24)
    #expect(statistics.retransmittedPacketsReceived == 1)
  }

  @Test func duplicatesGiveANegativeLoss() throws {
    var statistics = ReceiveStatistics(ssrc: 1, clockRate: 90_000)
    for number in [1, 2, 2, 3] { statistics.received(header(number), packetCount: 112, at: .zero) }
    let block = try #require(report(&statistics))
    #expect(block.cumulativeLost == -1 && block.fractionLost == 0)
  }

  @Test func jitterConvergesToTheMeanDifference() {
    var statistics = ReceiveStatistics(ssrc: 1, clockRate: 90_000)
    // Every second packet comes 10 ms late: successive transits differ by 10 ms, which is 900 ticks.
    for number in 0..<2000 {
      let now = Instant.zero + .milliseconds(number * 20 + (number % 2) * 10)
      statistics.received(header(number, timestamp: number * 1800), packetCount: 112, at: now)
    }
    #expect(abs(Int(statistics.jitterTicks) - 900) < 20)
    #expect(abs(statistics.jitter - 0.01) < 0.0003)
  }

  @Test func aConfirmedJumpRestartsTheCount() throws {
    var statistics = ReceiveStatistics(ssrc: 1, clockRate: 90_000)
    for number in 0..<10 { statistics.received(header(number), packetCount: 112, at: .zero) }
    statistics.received(header(30_000), packetCount: 112, at: .zero)
    #expect(statistics.packetsLost == 0)
    statistics.received(header(30_001), packetCount: 112, at: .zero)
    statistics.received(header(30_002), packetCount: 112, at: .zero)
    #expect(statistics.packetsLost == 0)
    let block = try #require(report(&statistics))
    #expect(block.extendedHighestSequence == 30_002)
  }
}

@Suite struct NackGeneratorTests {
  private func collect(_ generator: inout NackGenerator, _ milliseconds: Int) -> [UInt16] {
    var requests: [UInt16] = []
    generator.collect(into: &requests, at: .zero + .milliseconds(milliseconds))
    return requests
  }

  @Test func missingPacketsAreAskedForAgainAfterARoundTrip() {
    var generator = NackGenerator()
    generator.setRoundTrip(.milliseconds(80))
    generator.received(sequenceNumber: 65_534, at: .zero)
    #expect(generator.nextDeadline == nil)
    generator.received(sequenceNumber: 1, at: .zero)
    #expect(generator.nextDeadline == .zero)
    #expect(collect(&generator, 0) == [65_535, 0])
    #expect(collect(&generator, 80) == [])
    #expect(generator.nextDeadline == .zero + .milliseconds(90))
    generator.received(
      sequenceNumber: 65_535, isRetransmission: true, at: .zero + .milliseconds(85))
    #expect(collect(&generator, 90) == [0])
    #expect(generator.statistics.recovered == 1)
    generator.received(sequenceNumber: 0, isRetransmission: true, at: .zero + .milliseconds(170))
    #expect(generator.nextDeadline == nil && generator.missingCount == 0)
  }

  /// Sent again as it was, a packet that nobody waits for any more is still a repair, as is a second copy: neither says how the network
  /// delays packets.
  @Test func aLateRepairInPlaceIsARepair() {
    var generator = NackGenerator()
    generator.repairsInPlace = true
    generator.longestUse = .milliseconds(100)
    generator.setRoundTrip(.milliseconds(60))
    for number: UInt16 in [0, 2] { generator.received(sequenceNumber: number, at: .zero) }
    #expect(collect(&generator, 0) == [1] && collect(&generator, 100) == [])
    #expect(generator.statistics.givenUp == 1)
    let areRepairs = [1, 1, 3].map {
      generator.received(sequenceNumber: $0, at: .zero + .milliseconds(120))
    }
    #expect(areRepairs == [true, true, false])
    #expect(generator.statistics.recovered == 0 && generator.statistics.late == 2)
  }

  /// A server learns no round trip of who publishes only: what it has asked for says how long that takes.
  @Test func withoutARoundTripAnswersPaceRepetitions() {
    var generator = NackGenerator()
    generator.received(sequenceNumber: 0, at: .zero)
    for turn in 0..<20 {
      let number = UInt16(200 * turn)
      for offset in 1..<199 as Range<UInt16> {
        generator.received(
          sequenceNumber: number + offset, at: .zero + .milliseconds(200 * turn))
      }
      generator.received(sequenceNumber: number + 200, at: .zero + .milliseconds(200 * turn))
      #expect(collect(&generator, 200 * turn) == [number + 199])
      generator.received(
        sequenceNumber: number + 199, isRetransmission: true,
        at: .zero + .milliseconds(200 * turn + 48))
    }
    generator.received(sequenceNumber: 4002, at: .zero + .seconds(4))
    #expect(collect(&generator, 4_000) == [4001])
    // 48 ms, and an eighth of it.
    #expect(generator.nextDeadline == .zero + .milliseconds(4_054))
    #expect(collect(&generator, 4_054) == [4001])
    // Of which request this is the answer, nobody knows: it counts for nothing.
    generator.received(
      sequenceNumber: 4001, isRetransmission: true, at: .zero + .milliseconds(4_055))
    generator.received(sequenceNumber: 4004, at: .zero + .seconds(5))
    #expect(collect(&generator, 5_000) == [4003])
    #expect(generator.nextDeadline == .zero + .milliseconds(5_054))
    // A report knows better.
    generator.setRoundTrip(.milliseconds(16))
    #expect(collect(&generator, 5_054) == [4003])
    #expect(generator.nextDeadline.map { $0 < .zero + .milliseconds(5_054 + 40) } == true)
  }

  /// Who loses packets loses requests: each is said once more, unless the answer came in between, and tries are counted as before.
  @Test(arguments: [(every: 10, twice: true), (every: 200, twice: false)])
  func wherePacketsAreLostOftenRequestsAreSaidTwice(every: Int, twice: Bool) {
    var generator = NackGenerator()
    generator.setRoundTrip(.milliseconds(80))
    for number in 0..<1000 {
      let now = 5 * number
      if number % every == 3 { continue }
      generator.received(sequenceNumber: UInt16(number), at: .zero + .milliseconds(now))
      for missing in collect(&generator, now) where missing % 20 == 3 || !twice {
        generator.received(
          sequenceNumber: missing, isRetransmission: true, at: .zero + .milliseconds(now))
      }
    }
    generator.discard(before: 999)
    generator.received(sequenceNumber: 1001, at: .zero + .seconds(6))
    #expect(collect(&generator, 6_000) == [1000])
    #expect(collect(&generator, 6_010) == (twice ? [1000] : []))
    // A round trip and an eighth of it after what was said last.
    let next = twice ? 6_100 : 6_090
    #expect(generator.nextDeadline == .zero + .milliseconds(next))
    #expect(collect(&generator, next) == [1000])
    generator.received(
      sequenceNumber: 1000, isRetransmission: true, at: .zero + .milliseconds(next + 5))
    #expect(generator.nextDeadline == nil && collect(&generator, next + 10) == [])
    // Ten tries, and nobody waits for longer.
    generator.setRoundTrip(.milliseconds(36))
    generator.received(sequenceNumber: 1003, at: .zero + .seconds(7))
    let asked = (7_000..<10_000).map { collect(&generator, $0).count }.reduce(0, +)
    #expect(twice ? asked % 2 == 0 && asked > 10 : asked <= 10)
    #expect(generator.missingCount == 0)
  }

  @Test func aPacketIsGivenUpAfterTenTriesOrASecond() {
    var quick = NackGenerator()
    quick.setRoundTrip(.milliseconds(10))
    quick.received(sequenceNumber: 1, at: .zero)
    quick.received(sequenceNumber: 3, at: .zero)
    var tries = 0
    for millisecond in 0..<2000 { tries += collect(&quick, millisecond).count }
    #expect(tries == 10)
    #expect(quick.missingCount == 0 && quick.statistics.givenUp == 1)

    var slow = NackGenerator()
    slow.setRoundTrip(.milliseconds(400))
    slow.received(sequenceNumber: 1, at: .zero)
    slow.received(sequenceNumber: 3, at: .zero)
    tries = 0
    for millisecond in 0..<3000 { tries += collect(&slow, millisecond).count }
    #expect(tries == 3)
    #expect(slow.missingCount == 0)
  }

  @Test func tooManyMissingPacketsNeedAKeyFrame() {
    var generator = NackGenerator()
    generator.received(sequenceNumber: 0, at: .zero)
    generator.received(sequenceNumber: 1002, at: .zero)
    #expect(generator.keyFrameNeeded)
    #expect(generator.missingCount == 0 && generator.statistics.overflows == 1)
    generator.keyFrameNeeded = false
    generator.received(sequenceNumber: 1004, at: .zero)
    #expect(collect(&generator, 0) == [1003])
  }

  @Test func reorderingDelaysTheFirstRequest() {
    var generator = NackGenerator()
    generator.received(sequenceNumber: 0, at: .zero)
    generator.received(sequenceNumber: 2, at: .zero)
    generator.received(sequenceNumber: 1, at: .zero + .milliseconds(8))
    #expect(generator.statistics.reordered == 1)
    generator.received(sequenceNumber: 4, at: .zero + .milliseconds(20))
    #expect(generator.nextDeadline == .zero + .milliseconds(30))
  }

  @Test func whatNobodyNeedsIsForgotten() {
    var generator = NackGenerator()
    generator.received(sequenceNumber: 65_530, at: .zero)
    generator.received(sequenceNumber: 5, at: .zero)
    #expect(generator.missingCount == 10)
    generator.discard(before: 2)
    #expect(collect(&generator, 0) == [2, 3, 4])
  }

  @Test func aRestartedSourceIsFollowed() {
    var generator = NackGenerator()
    generator.received(sequenceNumber: 10, at: .zero)
    generator.received(sequenceNumber: 40_000, at: .zero)
    generator.received(sequenceNumber: 40_001, at: .zero)
    generator.received(sequenceNumber: 40_003, at: .zero)
    #expect(collect(&generator, 0) == [40_002])
  }

  @Test func anyOrderOfNumbersIsBounded() {
    let random = RandomSource(seed: 15)
    var generator = NackGenerator()
    for step in 0..<50_000 {
      let number =
        random.next() % 10 == 0
        ? UInt16(truncatingIfNeeded: random.next()) : UInt16(truncatingIfNeeded: step)
      generator.received(
        sequenceNumber: number, isRetransmission: random.next() % 5 == 0,
        at: .zero + .milliseconds(step))
      if step % 7 == 0 { _ = collect(&generator, step) }
      #expect(generator.missingCount <= 1000)
    }
  }
}

@Suite struct PacketHistoryTests {
  @Test func packetsAreFoundUntilTheyAreOverwritten() throws {
    let history = PacketHistory(capacity: 64, slotSize: 100)
    for number in 65_500..<65_600 {
      withBytes([UInt8](repeating: UInt8(number & 0xFF), count: 12 + number % 50)) {
        history.store($0, sequenceNumber: UInt16(truncatingIfNeeded: number), at: .zero)
      }
    }
    for number in 65_500..<65_600 {
      let found = history.stored(sequenceNumber: UInt16(truncatingIfNeeded: number))
      if number < 65_536 {
        #expect(found == nil)
      } else {
        let bytes = try #require(found)
        #expect(bytes.count == 12 + number % 50)
        #expect(bytes.allSatisfy { $0 == UInt8(number & 0xFF) })
      }
    }
    #expect(history.statistics.stored == 100)
  }

  @Test func aPacketThatIsTooLargeIsLeftOut() {
    let history = PacketHistory(capacity: 32)
    for (number, count) in [(5, 20), (6, 2000)] as [(UInt16, Int)] {
      withBytes([UInt8](repeating: 1, count: count)) {
        history.store($0, sequenceNumber: number, at: .zero)
      }
    }
    #expect(history.stored(sequenceNumber: 5)?.count == 20)
    #expect(history.stored(sequenceNumber: 6) == nil)
    #expect(history.statistics.tooLarge == 1)
    history.removeAll()
    #expect(history.stored(sequenceNumber: 5) == nil)
  }
}
