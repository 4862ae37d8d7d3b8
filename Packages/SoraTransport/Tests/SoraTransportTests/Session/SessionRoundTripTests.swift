import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraTransport
import Testing

/// Round trips of who sends nothing, by reference times (RFC 3611 §4.4).
@Suite struct SessionRoundTripTests {
  private func run(_ isNegotiated: Bool) throws -> PeerPair {
    let pair = try PeerPair(
      seed: 21, LinkConditions(delay: .milliseconds(60)),
      backward: LinkConditions(delay: .milliseconds(40)))
    let call = try MediaCall(
      pair, maximumVideo: 300_000, receiving: { $0.sendsReferenceTime = isNegotiated })
    pair.network.run(for: .seconds(20))
    #expect(call.received?.senderReports.count ?? 0 > 5)
    return pair
  }

  @Test func aPureReceiverMeasuresItsRoundTrip() throws {
    let pair = try run(true)
    let trips = pair.b.session.referencedRoundTrips
    print("reference times: \(trips.count) round trips, the last of \(trips.latest as Any)")
    #expect(trips.count >= 8 && trips.count <= 40)
    // 100 ms of path; the rest is rounding to 1/65536 s.
    for trip in [try #require(trips.latest), trips.total / Int(trips.count)] {
      #expect(trip >= .milliseconds(99) && trip <= .milliseconds(102), "\(trip)")
    }
    #expect(pair.b.session.roundTrip == trips.latest)
    #expect(pair.a.session.referencedRoundTrips.count == 0)
    #expect(pair.a.session.dropped.unknownRTCP == 0 && pair.a.session.dropped.malformedRTCP == 0)
  }

  @Test func withoutAgreementNoneIsSent() throws {
    let pair = try run(false)
    #expect(pair.b.session.referencedRoundTrips.count == 0)
    #expect(pair.b.session.roundTrip == nil)
  }

  /// Who sends media has sender reports for that.
  @Test func aSenderSendsReportsInstead() throws {
    let bench = SessionBench()
    var section = TestStreams.videoSection()
    section.sendsReferenceTime = true
    bench.session.setReceiveSections([section], at: bench.now)
    let stream = try #require(bench.session.addSendStream(TestStreams.audio()))
    bench.pass(.seconds(3))
    #expect(bench.takeRTCP().contains { $0.types.contains(207) }, "nothing has been sent yet")
    bench.session.send(StampedFrame.audio(index: 0, at: bench.now), on: stream, at: bench.now)
    bench.pass(.seconds(3))
    let reports = bench.takeRTCP()
    #expect(reports.contains { $0.types.contains(200) })
    #expect(!reports.contains { $0.types.contains(207) })
    // A reference time is answered once, with the time that it has waited.
    let asked = SessionBench.rtcp { writer throws(RTPError) in
      try writer.receiverReport(sender: 77)
      try writer.receiverReferenceTime(sender: 77, ntp: NTPTime(rawValue: 0xAAAA_BBBB_CCCC_DDDD))
    }
    bench.receiveRTCP(asked)
    bench.receiveRTCP(asked)
    bench.pass(.seconds(5))
    let answers = bench.takeRTCP().filter { $0.types.contains(207) }
    #expect(answers.count == 1)
    let bytes = try #require(answers.first)
    let report = try #require(bytes.packet(207))
    #expect(Array(report[8..<12]) == [5, 0, 0, 3])
    #expect(Array(report[12..<20]) == [0, 0, 0, 77, 0xBB, 0xBB, 0xCC, 0xCC])
  }

  @Test func answersToNothingAreIgnored() throws {
    let bench = SessionBench()
    var section = TestStreams.videoSection()
    section.sendsReferenceTime = true
    bench.session.setReceiveSections([section], at: bench.now)
    bench.receive(SessionBench.videoPacket(number: 1, timestamp: 0))
    bench.pass(.seconds(2))
    let report = try #require(bench.takeRTCP().compactMap { $0.packet(207) }.first)
    let reporter = report[4..<8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let middle = report[14..<18].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    func answer(_ ssrc: UInt32, _ time: UInt32, _ delay: UInt32) {
      bench.receiveRTCP(
        SessionBench.rtcp { writer throws(RTPError) in
          try writer.receiverDelays(
            sender: 1000, [RTCPReceiverDelay(ssrc: ssrc, lastReferenceTime: time, delay: delay)])
        })
    }
    answer(reporter, middle ^ 1, 0)
    answer(reporter, 0, 0)
    answer(reporter ^ 1, middle, 0)
    #expect(bench.session.roundTrip == nil)
    // A delay longer than the time since is no time at all.
    answer(reporter, middle, .max)
    #expect(bench.session.roundTrip == .zero)
    answer(reporter, middle, 0)
    #expect(bench.session.roundTrip ?? .zero > .zero)
    #expect(bench.session.referencedRoundTrips.count == 2)
  }
}

extension [UInt8] {
  /// Types of the RTCP packets in a compound.
  var types: [UInt8] {
    var types: [UInt8] = []
    var offset = 0
    while offset + 4 <= count {
      types.append(self[offset + 1])
      offset += (Int(self[offset + 2]) << 8 + Int(self[offset + 3]) + 1) * 4
    }
    return types
  }

  /// The first packet of a type in a compound.
  func packet(_ type: UInt8) -> [UInt8]? {
    var offset = 0
    while offset + 4 <= count {
      let size = (Int(self[offset + 2]) << 8 + Int(self[offset + 3]) + 1) * 4
      if self[offset + 1] == type { return Array(self[offset..<Swift.min(offset + size, count)]) }
      offset += size
    }
    return nil
  }
}
