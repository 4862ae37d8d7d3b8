import SoraSCTP
import Testing

@Suite struct RoundTripTests {
  private let ms: Int64 = 1_000_000

  private func estimate() -> RoundTripEstimate {
    RoundTripEstimate(
      initial: .milliseconds(500), minimum: .milliseconds(200), maximum: .seconds(10))
  }

  /// RFC 9260 §6.3.1: SRTT = R, RTTVAR = R / 2, RTO = SRTT + 4 RTTVAR.
  @Test func firstSampleMakesTheTimeout() {
    var estimate = estimate()
    #expect(estimate.timeout == 500 * ms && !estimate.hasSample)
    estimate.add(100 * ms, at: 0)
    #expect(estimate.smoothed == 100 * ms && estimate.timeout == 300 * ms)
  }

  @Test func laterSamplesAreWeighed() {
    var estimate = estimate()
    estimate.add(100 * ms, at: 0)
    estimate.add(180 * ms, at: 1)
    // RTTVAR = 3/4 50 + 1/4 80 = 57.5; SRTT = 7/8 100 + 1/8 180 = 110.
    #expect(estimate.smoothed == 110 * ms && estimate.timeout == 340 * ms)
    #expect(estimate.shortest == 100 * ms)
  }

  @Test func timeoutStaysInItsBounds() {
    var estimate = estimate()
    for _ in 0..<50 { estimate.add(ms, at: 0) }
    #expect(estimate.timeout == 200 * ms)
    for _ in 0..<50 { estimate.add(60_000 * ms, at: 0) }
    #expect(estimate.timeout == 10_000 * ms)
    estimate.add(-5, at: 0)
    estimate.add(.max, at: 0)
    #expect(estimate.timeout == 10_000 * ms)
  }
}
