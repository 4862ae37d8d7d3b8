import SoraMedia
import SoraRTP
import Testing

@Suite struct SequenceAndTimeTests {
  @Test func numbersAreExtendedOverWraps() {
    var extender = SequenceNumberExtender()
    #expect(extender.extend(65_534) == 65_534)
    #expect(extender.extend(1) == 65_537)
    #expect(extender.extend(65_535) == 65_535)
    #expect(extender.highest == 65_537)
    for step in 0..<200_000 {
      let number = UInt16(truncatingIfNeeded: 65_538 + step)
      #expect(extender.extend(number) == Int64(65_538 + step))
    }
    var backwards = SequenceNumberExtender()
    backwards.extend(0)
    #expect(backwards.extend(65_535) == -1)
    #expect(sequenceNumber(0, isNewerThan: 65_535))
    #expect(!sequenceNumber(65_535, isNewerThan: 0))
    #expect(!sequenceNumber(5, isNewerThan: 5))
  }

  @Test func timestampsAreExtendedOverWraps() {
    var extender = TimestampExtender()
    #expect(extender.extend(.max) == Int64(UInt32.max))
    #expect(extender.extend(2999) == Int64(UInt32.max) + 3000)
    #expect(extender.extend(.max) == Int64(UInt32.max))
  }

  @Test func ntpTimesConvertBothWays() {
    // 1970-01-01 is 2,208,988,800 seconds after 1900-01-01 (RFC 868).
    #expect(NTPTime(unixNanoseconds: 0).rawValue == 2_208_988_800 << 32)
    #expect(NTPTime(unixNanoseconds: 500_000_000).rawValue & 0xFFFF_FFFF == 0x8000_0000)
    let random = RandomSource(seed: 5)
    for _ in 0..<1000 {
      let nanoseconds = Int64(random.next() % 2_000_000_000_000_000_000)
      #expect(NTPTime(unixNanoseconds: nanoseconds).unixNanoseconds == nanoseconds)
    }
    let wall = WallClock(unixNanoseconds: 1_700_000_000_000_000_000, at: .zero + .seconds(3))
    let later = Instant.zero + .seconds(5)
    #expect(wall.ntp(at: later).unixNanoseconds == 1_700_000_002_000_000_000)
    #expect(wall.instant(of: wall.ntp(at: later)) == later)
  }

  @Test func theRoundTripIsTheExampleOfTheRFC() {
    // RFC 3550 §6.4.1, figure 2: A = 0xb710:8000, DLSR = 0x0005:4000, LSR = 0xb705:2000 -> 6.125 s.
    var block = RTCPReportBlock(ssrc: 1)
    block.lastSenderReport = 0xB705_2000
    block.delaySinceLastSenderReport = 0x0005_4000
    let now = NTPTime(rawValue: 0x0000_B710_8000_0000)
    #expect(block.roundTrip(at: now) == .milliseconds(6125))
    block.lastSenderReport = 0
    #expect(block.roundTrip(at: now) == nil)
  }

  @Test func captureTimesFollowTheSenderReport() throws {
    var tracker = SenderReportTracker(clockRate: 90_000)
    #expect(tracker.captureTime(of: 1) == nil)
    #expect(tracker.delaySinceLast(at: .zero) == 0)
    let ntp = NTPTime(unixNanoseconds: 1_700_000_000_000_000_000)
    let info = RTCPSenderInfo(
      ssrc: 1, ntp: ntp, rtpTimestamp: .max - 44_999, packetCount: 0, octetCount: 0)
    tracker.received(info, at: .zero)
    let later = try #require(tracker.captureTime(of: 45_000))
    #expect(abs(later.unixNanoseconds - 1_700_000_001_000_000_000) < 2)
    let earlier = try #require(tracker.captureTime(of: .max - 134_999))
    #expect(abs(earlier.unixNanoseconds - 1_699_999_999_000_000_000) < 2)
    #expect(tracker.lastSenderReport == ntp.middle)
    #expect(tracker.delaySinceLast(at: .zero + .milliseconds(1500)) == 0x1_8000)
  }

  @Test func theRemoteClockTrustsTheFastestReport() throws {
    var clock = RemoteClock()
    let start: Int64 = 1_700_000_000_000_000_000
    for (second, extra) in [40, 3, 25, 60].enumerated() {
      let now = Instant.zero + .seconds(second) + .milliseconds(50 + extra)
      clock.received(
        NTPTime(unixNanoseconds: start + Int64(second) * 1_000_000_000), at: now,
        roundTrip: .milliseconds(100))
    }
    let instant = try #require(clock.instant(of: NTPTime(unixNanoseconds: start)))
    #expect(instant == .zero + .milliseconds(3))
  }
}
