import SoraCongestion
import SoraMedia
import Testing

@Suite struct SendWindowTests {
  private static let roundTrip = Duration.milliseconds(100)

  /// Packets of 1,000 bytes; 1 Mbit/s is 125 of them per second.
  private func fill(_ window: inout SendWindow, _ packets: Int, at now: Instant = .zero) -> Int {
    var last = 0
    for _ in 0..<packets { last = window.send(1_000, at: now) }
    return last
  }

  @Test func aRoundTripsWorthMayBeOnTheWay() {
    var window = SendWindow()
    _ = fill(&window, 13)
    #expect(!window.isFull(estimate: .megabits(1), roundTrip: Self.roundTrip, at: .zero))
    // A quarter of a second's.
    _ = fill(&window, 18)
    #expect(window.isFull(estimate: .megabits(1), roundTrip: Self.roundTrip, at: .zero))
    // A longer path holds more.
    #expect(!window.isFull(estimate: .megabits(1), roundTrip: Self.roundTrip * 3, at: .zero))
  }

  @Test func answersMakeRoomAndOldOnesTakeNoneBack() {
    var window = SendWindow()
    let first = fill(&window, 20)
    _ = fill(&window, 20)
    #expect(window.isFull(estimate: .megabits(1), roundTrip: Self.roundTrip, at: .zero))
    window.answered(upTo: first + 10_000)
    window.answered(upTo: first)
    #expect(!window.isFull(estimate: .megabits(1), roundTrip: Self.roundTrip, at: .zero))
  }

  @Test func aFewPacketsMayAlwaysLeave() {
    var window = SendWindow()
    _ = fill(&window, 5)
    #expect(!window.isFull(estimate: .kilobits(10), roundTrip: .zero, at: .zero))
    _ = fill(&window, 5)
    #expect(window.isFull(estimate: .kilobits(10), roundTrip: .zero, at: .zero))
  }

  /// A message that is lost is answered for by the next: that isn't a queue.
  @Test func lostFeedbackMakesRoomForAWhile() {
    var window = SendWindow()
    _ = fill(&window, 28)
    #expect(window.isFull(estimate: .megabits(1), roundTrip: Self.roundTrip, at: .zero))
    window.feedbackLost(at: .zero)
    #expect(!window.isFull(estimate: .megabits(1), roundTrip: Self.roundTrip, at: .zero))
    let later = Instant.zero + .seconds(11)
    #expect(window.isFull(estimate: .megabits(1), roundTrip: Self.roundTrip, at: later))
  }

  /// What left before a link was gone for long is in no queue any more.
  @Test func silenceEmptiesIt() {
    var window = SendWindow()
    _ = fill(&window, 100)
    let later = Instant.zero + .seconds(3)
    _ = fill(&window, 1, at: later)
    #expect(!window.isFull(estimate: .megabits(1), roundTrip: Self.roundTrip, at: later))
    // A packet now and then isn't silence.
    _ = fill(&window, 30, at: later)
    _ = fill(&window, 1, at: later + .seconds(1))
    #expect(window.isFull(estimate: .megabits(1), roundTrip: Self.roundTrip, at: later))
  }
}
