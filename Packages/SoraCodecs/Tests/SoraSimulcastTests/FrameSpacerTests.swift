import SoraMedia
import SoraSimulcast
import Testing

@Suite struct FrameSpacerTests {
  private func kept(
    source: Double, limit: Double?, seconds: Int = 10, jitter: (Int) -> Int64 = { _ in 0 }
  ) -> [Instant] {
    var spacer = FrameSpacer()
    return (0..<Int(source) * seconds).map {
      Instant(nanoseconds: Int64(Double($0) * 1e9 / source) + jitter($0))
    }.filter { spacer.keeps($0, framesPerSecond: limit) }
  }

  @Test(arguments: [(30.0, 20.0), (30, 15), (30, 25), (30, 7), (60, 30), (30, 1), (24, 20)])
  func theRateIsMetWithEvenGaps(_ rates: (Double, Double)) {
    let times = kept(source: rates.0, limit: rates.1)
    #expect(abs(Double(times.count) - rates.1 * 10) <= 1, "\(times.count)")
    let gaps = zip(times, times.dropFirst()).map { ($1 - $0).inSeconds }
    let spread = (gaps.max() ?? 0) - (gaps.min() ?? 0)
    #expect(spread < 1.01 / rates.0, "gaps differ by \(spread)")
  }

  @Test func aSourceWithinTheLimitLosesNothing() {
    #expect(kept(source: 30, limit: nil).count == 300)
    #expect(kept(source: 25, limit: 30).count == 250)
    // 30 a second, each up to 8 ms early or late.
    let times = kept(source: 30, limit: 30) { Int64($0 % 3 - 1) * 8_000_000 }
    #expect(times.count == 300)
  }

  @Test func aPauseIsNotMadeUpForByABurst() {
    var spacer = FrameSpacer()
    _ = spacer.keeps(.zero, framesPerSecond: 10)
    let burst = (0..<30).filter {
      spacer.keeps(
        Instant(nanoseconds: 5_000_000_000 + Int64($0) * 10_000_000), framesPerSecond: 10)
    }
    #expect(burst.count <= 4)
  }

  @Test func aClockThatJumpsBackStopsNothing() {
    var spacer = FrameSpacer()
    _ = spacer.keeps(Instant(nanoseconds: 100_000_000_000), framesPerSecond: 10)
    let keeps = spacer.keeps(.zero, framesPerSecond: 10)
    #expect(keeps)
  }

  @Test func aForcedFrameIsKeptAndCounted() {
    var spacer = FrameSpacer()
    func keeps(_ milliseconds: Int64, forced: Bool = false) -> Bool {
      spacer.keeps(
        Instant(nanoseconds: milliseconds * 1_000_000), framesPerSecond: 10, isForced: forced)
    }
    #expect(keeps(0))
    #expect(!keeps(33))
    #expect(keeps(66, forced: true))
    #expect(!keeps(100))
    #expect(keeps(200))
  }
}
