import SoraCapture
import SoraCommandSupport
import SoraMedia
import Testing

@Suite struct SizeWatchTests {
  private static let asked = Resolution(width: 7_680, height: 4_320)

  @Test(arguments: [("cpu", "this machine"), ("bandwidth", "the link"), (nil, "the encoder")])
  func smallerPicturesAreToldOnceWithTheReason(_ reason: String?, _ text: String) throws {
    var watch = SizeWatch()
    let sent = Resolution(width: 1_440, height: 810)
    let told = (0..<10).compactMap { _ in
      watch.warning(sent: sent, source: Self.asked, reason: reason)
    }
    #expect(told.count == 1)
    #expect(told.first?.hasPrefix("sending 1440x810 in place of 7680x4320: \(text)") == true)
  }

  @Test func aStreamThatGrowsIsNoMatter() {
    var watch = SizeWatch()
    let small = Resolution(width: 640, height: 360)
    for _ in 0..<5 {
      #expect(watch.warning(sent: small, source: Self.asked, reason: "cpu") == nil)
      #expect(watch.warning(sent: Self.asked, source: Self.asked, reason: nil) == nil)
    }
    let nothing = Resolution(width: 0, height: 0)
    for _ in 0..<5 { #expect(watch.warning(sent: nothing, source: small, reason: nil) == nil) }
  }
}

@Suite struct MeterTests {
  @Test func percentilesAreNearestRanks() {
    var histogram = LatencyHistogram()
    #expect(histogram.percentile(50) == nil)
    for milliseconds in 1...100 { histogram.add(milliseconds: milliseconds) }
    #expect(histogram.percentile(0) == 1)
    #expect(histogram.percentile(50) == 50)
    #expect(histogram.percentile(95) == 95)
    #expect(histogram.percentile(99) == 99)
    #expect(histogram.percentile(100) == 100)
  }

  @Test func agesThatMakeNoSenseStayOutOfThePercentiles() {
    var histogram = LatencyHistogram()
    histogram.add(milliseconds: -3)
    histogram.add(milliseconds: 40)
    histogram.add(milliseconds: -10_000)
    histogram.add(milliseconds: .max)
    #expect(histogram.count == 2)
    #expect(histogram.outliers == 2)
    #expect(histogram.percentile(1) == 0)
    #expect(histogram.percentile(99) == 40)
  }

  @Test func stampsTellGapsDuplicatesAndDisorder() {
    var meter = StampMeter()
    for index in [10, 11, 14, 14, 13, 15] as [UInt32] {
      meter.add(FrameStamp(index: index, milliseconds: 1_000), atRealtimeMilliseconds: 1_020)
    }
    meter.add(nil, atRealtimeMilliseconds: 1_020)
    #expect(meter.stamped == 6)
    #expect(meter.unstamped == 1)
    #expect(meter.gaps == 1)
    #expect(meter.missing == 1)
    #expect(meter.duplicates == 1)
    #expect(meter.outOfOrder == 1)
    #expect(meter.latency.percentile(50) == 20)
  }

  @Test func aFrameWhoseStampCannotBeReadIsNotMissing() {
    var meter = StampMeter()
    // Before the first, one of two of a gap, both of a gap, none of one, and after the last.
    for index in [nil, 0, 1, nil, 4, nil, nil, 7, 9, nil] as [UInt32?] {
      meter.add(
        index.map { FrameStamp(index: $0, milliseconds: 1) }, atRealtimeMilliseconds: 1)
    }
    #expect(meter.stamped == 5)
    #expect(meter.unstamped == 5)
    #expect(meter.missing == 2)
    #expect(meter.gaps == 2)
  }

  @Test func aSenderThatBeginsAnewLeavesNoGap() {
    var meter = StampMeter()
    for index in [5_000, 5_001, 0, 1, 2] as [UInt32] {
      meter.add(FrameStamp(index: index, milliseconds: 0), atRealtimeMilliseconds: 0)
    }
    #expect(meter.restarts == 1)
    #expect(meter.missing == 0)
    #expect(meter.outOfOrder == 0)
  }

  @Test func theStampSurvivesTheWrapOfTheClock() {
    var meter = StampMeter()
    meter.add(
      FrameStamp(index: 1, milliseconds: .max), atRealtimeMilliseconds: Int64(UInt32.max) + 31)
    #expect(meter.latency.percentile(50) == 31)
  }

  @Test func pictureMeterSeesRateLatencyAndQuality() throws {
    let pattern = TestPattern(width: 320, height: 180)
    let meter = VideoMeter()
    for index in 0..<31 as Range<UInt32> {
      let now = Instant(nanoseconds: Int64(index) * 1_000_000_000 / 30)
      let picture = pattern.frame(index: index, milliseconds: 77)
      meter.add(
        RawVideoFrame(buffer: picture, timestamp: now), at: now, realtimeMilliseconds: 177)
      // The probe takes no picture while it compares another.
      meter.finish()
    }
    let snapshot = meter.snapshot
    #expect(snapshot.frames == 31)
    #expect(snapshot.width == 320 && snapshot.height == 180)
    #expect(abs(snapshot.framesPerSecond - 30) < 0.01)
    #expect(snapshot.stamps.latency.percentile(99) == 100)
    #expect(snapshot.quality.samples == 6)
    #expect(try #require(snapshot.quality.average) == 100)
  }

  @Test func silenceAtTheEndLowersTheRateAndIsAFreeze() {
    let picture = TestPattern(width: 64, height: 48).frame(index: 0, milliseconds: 0)
    let meter = VideoMeter(measuresQuality: false)
    for index in 0...60 as ClosedRange<Int64> {
      let now = Instant(nanoseconds: index * 1_000_000_000 / 30)
      meter.add(
        RawVideoFrame(buffer: picture, timestamp: now), at: now, realtimeMilliseconds: 0)
    }
    let snapshot = meter.snapshot
    let soon = Instant.zero + .milliseconds(2_500)
    #expect(abs(snapshot.framesPerSecond(until: soon) - 30) < 0.01)
    #expect(snapshot.silence(at: soon) == nil)
    let late = Instant.zero + .seconds(4)
    #expect(abs(snapshot.framesPerSecond(until: late) - 15) < 0.01)
    #expect(snapshot.seconds(until: late) == 4)
    #expect(snapshot.silence(at: late) == .seconds(2))
    #expect(VideoMeter(measuresQuality: false).snapshot.silence(at: late) == nil)
  }

  @Test func audioMeterBeginsWithSound() throws {
    let meter = AudioMeter()
    let silence = AudioFrame(
      samples: [Int16](repeating: 0, count: 960), sampleRate: 48_000, channels: 2, timestamp: .zero)
    meter.add(silence, at: .zero)
    #expect(meter.snapshot.seconds == 0)
    var loud = silence
    loud.samples = (0..<960).map { $0 / 2 % 2 == 0 ? 16_384 : -16_384 }
    meter.add(loud, at: Instant(nanoseconds: 5))
    let before = meter.snapshot
    #expect(before.firstSound == Instant(nanoseconds: 5))
    #expect(abs(before.seconds - 0.01) < 1e-9)
    #expect(abs(try #require(before.levelDb()) + 6.02) < 0.01)
    meter.add(silence, at: Instant(nanoseconds: 10))
    #expect(meter.snapshot.levelDb(since: before) == nil)
  }
}
