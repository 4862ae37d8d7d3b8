import SoraCongestion
import SoraMedia
import SoraNetworkSimulator
import Testing

@Suite struct LinkScenarioTests {
  @Test func aCleanLinkIsFilledWithinSeconds() throws {
    let scenario = CongestionScenario(
      LinkConditions(delay: .milliseconds(20), bitsPerSecond: 10_000_000))
    let seconds = try #require(scenario.secondsUntil(.megabits(5.4), within: .seconds(20)))
    let later = scenario.run(.seconds(60))
    print("clean 10 Mbit/s: 5.4 Mbit/s after \(seconds) s, then \(later)")
    print(scenario.summary("clean 10 Mbit/s"))
    #expect(seconds < 3)
    #expect(later.low > 5_000_000)
    #expect(scenario.link.forwardStatistics.dropped == 0)
  }

  @Test(arguments: [1_000_000, 1_500_000, 2_000_000])
  func aLimitIsFoundAndKept(limit: Int) {
    let scenario = CongestionScenario(
      LinkConditions(
        delay: .milliseconds(30), bitsPerSecond: limit, queue: .time(.milliseconds(300))))
    scenario.run(.seconds(15))
    let before = scenario.link.forwardStatistics
    let settled = scenario.run(.seconds(60))
    let after = scenario.link.forwardStatistics
    let queue =
      (after.totalQueueTime - before.totalQueueTime).inMilliseconds
      / Double(after.deliveredPackets - before.deliveredPackets)
    let drops = after.droppedByQueue - before.droppedByQueue
    let goodput =
      Double(after.deliveredBytes - before.deliveredBytes) * 8 / 60
    print(
      "limit \(limit): settled \(settled), goodput \(goodput), mean queue \(queue) ms, drops \(drops)"
    )
    print(scenario.summary("limit \(limit)"))
    #expect(settled.mean > 0.75 * Double(limit))
    #expect(settled.mean < 1.02 * Double(limit))
    #expect(goodput > 0.72 * Double(limit))
    #expect(queue < 100)
    #expect(Double(drops) < 0.01 * Double(after.sentPackets - before.sentPackets))
  }

  @Test func twoPercentOfRandomLossIsNoCongestion() throws {
    let scenario = CongestionScenario(
      seed: 4,
      LinkConditions(
        delay: .milliseconds(50), jitter: .milliseconds(10), loss: 0.02, bitsPerSecond: 10_000_000))
    let seconds = try #require(scenario.secondsUntil(.megabits(4), within: .seconds(30)))
    let later = scenario.run(.seconds(120))
    print("2 % loss: 4 Mbit/s after \(seconds) s, then \(later)")
    print(scenario.summary("2 % loss"))
    #expect(later.mean > 4_000_000)
    #expect(later.low > 2_000_000)
  }

  /// Jitter on both ways is no queue on the way there, and a probe sees through it.
  @Test(arguments: 1...4)
  func jitterIsNoCongestionForWhoForwards(seed: UInt64) {
    let jittery = LinkConditions(
      delay: .milliseconds(40), jitter: .milliseconds(30), jitterReorders: true)
    let scenario = CongestionScenario(
      seed: seed, jittery, backward: jittery,
      configuration: .init(
        start: .megabits(1), maximum: .megabits(2.4), leastQueue: .milliseconds(60)),
      appMaximum: .megabits(1.6))
    scenario.run(.seconds(10))
    let settled = scenario.run(.seconds(60))
    print("±30 ms both ways, seed \(seed): \(settled)")
    print(scenario.summary("±30 ms both ways"))
    #expect(settled.low > 1_600_000)
    #expect(settled.mean > 2_000_000)
  }

  @Test(arguments: 1...8)
  func aRoughLimitIsFoundWhateverTheDice(seed: UInt64) {
    let scenario = CongestionScenario(
      seed: seed,
      LinkConditions(
        delay: .milliseconds(50), jitter: .milliseconds(10), loss: 0.02, bitsPerSecond: 1_500_000,
        queue: .time(.milliseconds(300))))
    scenario.run(.seconds(15))
    let before = scenario.link.forwardStatistics
    let settled = scenario.run(.seconds(60))
    let after = scenario.link.forwardStatistics
    let queue =
      (after.totalQueueTime - before.totalQueueTime).inMilliseconds
      / Double(after.deliveredPackets - before.deliveredPackets)
    print("1.5 Mbit/s, 2 % loss, ±10 ms, seed \(seed): \(settled), mean queue \(queue) ms")
    #expect(settled.mean > 0.75 * 1_500_000 && settled.mean < 1.05 * 1_500_000)
    #expect(queue < 120)
  }

  @Test func lossThatTheRateDoesNotMakeIsDiscounted() {
    let scenario = CongestionScenario(
      seed: 4, LinkConditions(delay: .milliseconds(30), loss: 0.15, bitsPerSecond: 10_000_000))
    scenario.run(.seconds(30))
    let later = scenario.run(.seconds(60))
    print("15 % loss: \(later)")
    print(scenario.summary("15 % loss"))
    #expect(later.mean > 600_000)
  }

  @Test func aShortQueueBoundsTheRateByLoss() {
    // A policer: no delay to see, everything beyond the rate is dropped.
    let scenario = CongestionScenario(
      LinkConditions(
        delay: .milliseconds(30), bitsPerSecond: 2_000_000, queue: .time(.milliseconds(8))))
    scenario.run(.seconds(15))
    let before = scenario.link.forwardStatistics
    let later = scenario.run(.seconds(60))
    let after = scenario.link.forwardStatistics
    let loss =
      Double(after.droppedByQueue - before.droppedByQueue)
      / Double(after.sentPackets - before.sentPackets)
    print("policer 2 Mbit/s: \(later), loss \(loss)")
    #expect(later.mean < 2_600_000)
    #expect(loss < 0.2)
  }

  @Test func aSuddenDropIsFollowedAndRecoveredFrom() throws {
    let scenario = CongestionScenario(
      LinkConditions(
        delay: .milliseconds(30), bitsPerSecond: 3_000_000, queue: .time(.milliseconds(800))))
    let before = scenario.run(.seconds(30))
    #expect(before.mean > 2_000_000)
    scenario.link.forwardConditions.bitsPerSecond = 700_000
    let start = scenario.network.now
    let followed = scenario.network.run(
      until: { scenario.sender.estimator.estimate < .kilobits(700) }, within: .seconds(10))
    let seconds = (scenario.network.now - start).inSeconds
    let drained = scenario.network.run(
      until: { scenario.link.queueTimes.forward < .milliseconds(100) }, within: .seconds(20))
    let drainSeconds = (scenario.network.now - start).inSeconds
    scenario.run(.seconds(5))
    let low = scenario.run(.seconds(30))
    print(
      "3 -> 0.7 Mbit/s: below after \(seconds) s, queue under 100 ms after \(drainSeconds) s, then \(low)"
    )
    print(scenario.summary("drop"))
    #expect(followed && seconds < 2.5)
    #expect(drained && drainSeconds < 5)
    #expect(low.mean > 0.7 * 700_000 && low.mean < 1.02 * 700_000)

    scenario.link.forwardConditions.bitsPerSecond = 3_000_000
    let recovery = try #require(scenario.secondsUntil(.megabits(2.2), within: .seconds(60)))
    let after = scenario.run(.seconds(30))
    print("0.7 -> 3 Mbit/s: 2.2 Mbit/s after \(recovery) s, then \(after)")
    #expect(recovery < 25)
    #expect(after.mean > 2_200_000)
  }

  @Test func aLinkThatFallsSilentLowersTheRateAndComesBack() throws {
    let scenario = CongestionScenario(
      LinkConditions(delay: .milliseconds(30), bitsPerSecond: 10_000_000))
    scenario.run(.seconds(10))
    scenario.link.setUp(false)
    scenario.run(.seconds(10))
    let during = scenario.sender.estimator.estimate
    scenario.link.setUp(true)
    let recovery = try #require(scenario.secondsUntil(.megabits(4), within: .seconds(60)))
    print("10 s outage: down to \(during), 4 Mbit/s again after \(recovery) s")
    #expect(during < .megabits(1))
    #expect(recovery < 30)
  }

  @Test func anApplicationThatSendsLittleKeepsItsEstimate() {
    let scenario = CongestionScenario(
      LinkConditions(delay: .milliseconds(30), bitsPerSecond: 10_000_000))
    scenario.run(.seconds(10))
    scenario.sender.appMaximum = .kilobits(100)
    let limited = scenario.run(.seconds(60))
    print("application limited: \(limited), padding \(scenario.sender.paddingBytes) bytes")
    #expect(scenario.sender.estimator.isApplicationLimited)
    #expect(limited.low > 2_000_000)
  }

  @Test func oneSeedMakesOneRun() {
    func digest(_ seed: UInt64) -> (UInt64, Bitrate) {
      let scenario = CongestionScenario(
        seed: seed,
        LinkConditions(
          delay: .milliseconds(40), jitter: .milliseconds(5), loss: 0.01, bitsPerSecond: 2_000_000))
      scenario.run(.seconds(20))
      return (scenario.network.log.digest, scenario.sender.estimator.estimate)
    }
    let first = digest(9)
    let second = digest(9)
    #expect(first == second)
    #expect(digest(10).0 != first.0)
  }
}
