import SoraMedia
import SoraRTP
import Testing

@Suite struct TransportFeedbackTests {
  /// What one feedback message says: sequence numbers with arrival times, in microseconds.
  private func read(
    _ datagram: [UInt8], _ timeline: inout TransportFeedbackTimeline
  ) throws -> [(UInt16, Int64?)] {
    try withBytes(datagram) { buffer in
      var reader = RTCPReader(buffer)
      guard case .transportFeedback(let feedback) = try reader.next() else {
        Issue.record("no feedback")
        return []
      }
      let reference = timeline.reference(of: feedback)
      return feedback.map { status in
        (
          status.sequenceNumber,
          status.nanosecondsFromReference.map { (reference.nanoseconds + $0) / 1000 }
        )
      }
    }
  }

  @Test func handBuiltChunksAreUnderstood() throws {
    // Base 5, 16 statuses, reference 2 (128 ms), message 9. A run of four lost packets, a one-bit vector of which
    // seven statuses remain unused, ... spelled out: run(0 x 4), two-bit vector (1 2 0 1 0 0 0), one-bit (1 0 0 1 1).
    var bytes: [UInt8] = [0x8F, 205, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 5, 0, 16, 0, 0, 2, 9]
    bytes += [0x00, 0x04]
    bytes += [0xC0 | 0b01_10_00, 0b01_00_00_00]
    bytes += [0x80 | 0b100110, 0]
    bytes += [4, 0xFF, 0xFE, 8, 1, 2, 3]  // deltas: 4, -2, 8, 1, 2, 3
    bytes += [0, 0, 3]
    bytes[0] |= 0x20
    bytes[3] = UInt8(bytes.count / 4 - 1)
    var timeline = TransportFeedbackTimeline()
    let statuses = try read(bytes, &timeline)
    #expect(statuses.map(\.0) == Array(5..<21))
    let base: Int64 = 128_000
    let expected: [Int64?] = [
      nil, nil, nil, nil, base + 1000, base + 500, nil, base + 2500, nil, nil, nil, base + 2750,
      nil,
      nil, base + 3250, base + 4000,
    ]
    #expect(statuses.map(\.1) == expected)
  }

  @Test func runsOfNoPacketsAreSkipped() throws {
    // Two statuses: an empty run, then a run of two received packets.
    let bytes: [UInt8] = [
      0xAF, 205, 0, 6, 0, 0, 0, 1, 0, 0, 0, 2, 0, 5, 0, 2, 0, 0, 0, 9, 0x20, 0x00, 0x20, 0x02,
      4, 8, 0, 2,
    ]
    var timeline = TransportFeedbackTimeline()
    #expect(try read(bytes, &timeline).map(\.1) == [1000, 3000])
  }

  @Test func reservedSymbolsAndMissingDeltasAreRefused() {
    let reserved: [UInt8] = [
      0x8F, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 5, 0, 1, 0, 0, 2, 9, 0x60, 0x01, 0, 0,
    ]
    let short: [UInt8] = [
      0x8F, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 5, 0, 9, 0, 0, 2, 9, 0x20, 0x09, 0, 0,
    ]
    for bytes in [reserved, short] {
      #expect(throws: RTPError.malformedFeedback(packetType: 205, format: 15)) {
        try withBytes(bytes) { buffer in
          var reader = RTCPReader(buffer)
          _ = try reader.next()
        }
      }
    }
  }

  @Test(arguments: 0..<12)
  func everythingThatArrivedIsReportedAtItsTime(seed: UInt64) throws {
    let random = RandomSource(seed: seed)
    let generator = TransportFeedbackGenerator(interval: .milliseconds(50))
    var timeline = TransportFeedbackTimeline()
    var now = Instant.zero + .seconds(1_073_000)  // the reference time wraps a little later
    var number = UInt16(65_000)
    var sent: [UInt16: Int64] = [:]
    var reported: [UInt16: Int64] = [:]
    var lost: Set<UInt16> = []
    for _ in 0..<3000 {
      now += .microseconds(Int(random.next() % (seed % 3 == 0 ? 900_000 : 4000)))
      let skip = random.next() % 20 == 0 ? UInt16(random.next() % 30) : 0
      for offset in 0..<skip { lost.insert(number &+ offset) }
      number &+= skip
      generator.received(sequenceNumber: number, ssrc: 3, at: now)
      sent[number] = now.microseconds
      number &+= 1
      guard generator.isDue(at: now) else { continue }
      var more = true
      while more {
        let bytes = try rtcp(capacity: seed % 2 == 0 ? 1200 : 64) {
          more = try generator.write(into: &$0, sender: 1, at: now)
        }
        #expect(bytes.count % 4 == 0)
        for (sequence, arrival) in try read(bytes, &timeline) {
          if let arrival { reported[sequence] = arrival }
        }
      }
      #expect(generator.nextDeadline == nil)
    }
    var wrong = 0
    var base: Int64?
    for (sequence, arrival) in reported {
      guard let truth = sent[sequence] else {
        Issue.record("\(sequence) was never received")
        continue
      }
      // The timeline starts wherever the 24-bit reference stood: the difference is constant.
      let difference = truth / 250 - arrival / 250
      if base == nil { base = difference }
      if difference != base { wrong += 1 }
    }
    #expect(wrong == 0)
    #expect(reported.count > 2800)
    #expect(lost.isDisjoint(with: reported.keys))
  }

  @Test func aLatePacketIsReportedAfterAll() throws {
    let generator = TransportFeedbackGenerator()
    var timeline = TransportFeedbackTimeline()
    generator.received(sequenceNumber: 1, ssrc: 1, at: .zero)
    generator.received(sequenceNumber: 3, ssrc: 1, at: .zero + .milliseconds(1))
    #expect(generator.nextDeadline == .zero + .milliseconds(50))
    let first = try rtcp { _ = try generator.write(into: &$0, sender: 1, at: .zero) }
    #expect(try read(first, &timeline).map { $0.1 != nil } == [true, false, true])
    generator.received(sequenceNumber: 2, ssrc: 1, at: .zero + .milliseconds(60))
    let second = try rtcp { _ = try generator.write(into: &$0, sender: 1, at: .zero) }
    let statuses = try read(second, &timeline)
    #expect(statuses.map(\.0) == [2, 3])
    #expect(statuses.map(\.1) == [60_000, 1000])
    generator.received(sequenceNumber: 2, ssrc: 1, at: .zero + .milliseconds(61))
    #expect(generator.packetsIgnored == 1)
  }

  @Test func aJumpStartsOver() throws {
    let generator = TransportFeedbackGenerator()
    var timeline = TransportFeedbackTimeline()
    generator.received(sequenceNumber: 1, ssrc: 1, at: .zero)
    generator.received(sequenceNumber: 30_000, ssrc: 1, at: .zero + .milliseconds(5))
    let bytes = try rtcp { _ = try generator.write(into: &$0, sender: 1, at: .zero) }
    #expect(try read(bytes, &timeline).map(\.0) == [30_000])
  }

  @Test func referenceTimesAreUnwrapped() {
    var timeline = TransportFeedbackTimeline()
    let first = timeline.reference(time: 0xFF_FFFF)
    let second = timeline.reference(time: 1)
    #expect(second - first == .milliseconds(128))
    #expect(timeline.reference(time: 0xFF_FFFE) - first == .milliseconds(-64))
  }
}
