import SoraCongestion
import SoraMedia
import SoraWire
import Testing

/// What marks of congestion do to an estimate (RFC 3168, RFC 9331), without any delay or loss.
@Suite struct MarkTests {
  /// Feeds an estimator with 100 packets per second in messages of 5, of which `marks` says which are marked.
  private func estimate(
    sentAs codepoint: ECNCodepoint, seconds: Int,
    queue: (Int) -> Duration = { _ in .zero }, marks: (Int) -> Bool
  ) -> BandwidthEstimator {
    let estimator = BandwidthEstimator(
      configuration: .init(start: .megabits(1), maximum: .megabits(2), probes: false))
    var sequence: Int64 = 1
    for message in 0..<(20 * seconds) {
      var results: [PacketFeedback] = []
      let now = Instant.zero + .milliseconds(50 * (message + 1))
      for index in 0..<5 {
        let sent = now - .milliseconds(50 - 10 * index)
        estimator.packetSent(sequence: sequence, size: 1250, at: sent)
        results.append(
          PacketFeedback(
            sequence: sequence, size: 1250, sendTime: sent,
            arrivalTime: sent + .milliseconds(20) + queue(Int(sequence)),
            ecn: marks(Int(sequence)) ? .congestionExperienced : codepoint))
        sequence += 1
      }
      estimator.feedback(results, at: now + .milliseconds(30))
    }
    return estimator
  }

  @Test func withoutMarksTheRateGrows() {
    let estimator = estimate(sentAs: .ect0, seconds: 10) { _ in false }
    #expect(estimator.estimate > .megabits(1.4))
    #expect(estimator.statistics.packetsMarked == 0 && estimator.statistics.markDecreases == 0)
  }

  /// One mark in a round trip is an answer as to over-use, however few packets have one.
  @Test func aClassicMarkIsOveruse() {
    let estimator = estimate(sentAs: .ect0, seconds: 10) { $0 % 100 == 0 }
    #expect(estimator.statistics.packetsMarked == 10)
    #expect((5...10).contains(estimator.statistics.markDecreases))
    #expect(estimator.estimate < .megabits(1.05), "\(estimator.estimate)")
  }

  /// Few marks of L4S let the rate grow, as DCTCP's window does: there is a share at which it stays. More lower it the faster.
  @Test func theAnswerToScalableMarksIsInProportion() {
    let few = estimate(sentAs: .ect1, seconds: 5) { $0 % 100 == 0 }
    let some = estimate(sentAs: .ect1, seconds: 5) { $0 % 9 < 2 }
    let all = estimate(sentAs: .ect1, seconds: 5) { $0 % 2 == 0 }
    print("L4S marks of 1 %, 22 %, 50 %: \(few.estimate), \(some.estimate), \(all.estimate)")
    #expect(few.estimate > .megabits(1))
    #expect(few.estimate > some.estimate && some.estimate > all.estimate)
    #expect(all.estimate < .kilobits(100))
  }

  /// A classic queue that marks packets of L4S, too, stands: one mark is over-use then (RFC 9331 §4.3).
  @Test func aQueueThatStandsIsAClassicOne() {
    let short = estimate(sentAs: .ect1, seconds: 10, queue: { _ in .milliseconds(5) }) {
      $0 % 50 == 0
    }
    let long = estimate(
      sentAs: .ect1, seconds: 10, queue: { $0 > 200 ? .milliseconds(25) : .zero }
    ) { $0 % 50 == 0 }
    print("L4S marks of 2 %: \(short.estimate), and with a queue of 25 ms \(long.estimate)")
    #expect(short.estimate > .megabits(1.2) && long.estimate < .megabits(1.1))
  }
}
