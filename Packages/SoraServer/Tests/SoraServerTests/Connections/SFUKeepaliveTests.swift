import SoraMedia
import SoraServer
import Testing

/// Pings over signaling.
@Suite struct SFUKeepaliveTests {
  private func second(_ value: Int64) -> Instant { Instant(nanoseconds: value * 1_000_000_000) }

  private func keepalive(pingsPerStatistics: Int = 3) -> SFUKeepalive {
    SFUKeepalive(
      interval: .seconds(5), timeout: .seconds(60), pingsPerStatistics: pingsPerStatistics)
  }

  @Test func nothingIsDueBeforeItStarts() {
    var keepalive = keepalive()
    let event = keepalive.poll(at: second(100))
    #expect(event == nil && keepalive.nextDeadline == nil)
  }

  @Test func eachThirdPingAsksForStatistics() {
    var keepalive = keepalive()
    keepalive.start(at: second(100))
    var asked: [Bool] = []
    for time in 101...130 as ClosedRange<Int64> {
      keepalive.receivedPong(at: second(time))
      let event = keepalive.poll(at: second(time))
      guard case .ping(let statistics) = event else { continue }
      asked.append(statistics)
      #expect(time % 5 == 0)
      #expect(keepalive.nextDeadline == second(time + 5))
    }
    #expect(asked == [false, false, true, false, false, true])
  }

  @Test func zeroAsksForNone() {
    var keepalive = keepalive(pingsPerStatistics: 0)
    keepalive.start(at: second(0))
    let event = keepalive.poll(at: second(5))
    #expect(event == .ping(statistics: false))
  }

  @Test func silenceLosesTheClient() {
    var keepalive = keepalive()
    keepalive.start(at: second(0))
    keepalive.receivedPong(at: second(10))
    for time in stride(from: 5, to: 70, by: 5) as StrideTo<Int64> {
      let event = keepalive.poll(at: second(time))
      #expect(event != .lost && event != nil)
    }
    let event = keepalive.poll(at: second(70))
    #expect(event == .lost)
  }
}
