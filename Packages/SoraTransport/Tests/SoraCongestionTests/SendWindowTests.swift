import SoraCongestion
import SoraMedia
import Testing

@Suite struct SendWindowTests {
  private static let roundTrip = Duration.milliseconds(100)

  /// Packets of 1,000 bytes; 1 Mbit/s is 125 of them per second.
  private func fill(_ window: SendWindow, _ packets: Int, at now: Instant = .zero) -> Int {
    var last = 0
    for _ in 0..<packets { last = window.send(1_000, at: now) }
    return last
  }

  private func isFull(
    _ window: SendWindow, estimate: Bitrate = .megabits(1), roundTrip: Duration = roundTrip,
    at now: Instant = .zero
  ) -> Bool {
    window.isFull(estimate: estimate, roundTrip: roundTrip, at: now)
  }

  @Test func aRoundTripsWorthMayBeOnTheWay() {
    let window = SendWindow()
    _ = fill(window, 13)
    #expect(!isFull(window))
    // A quarter of a second's.
    _ = fill(window, 18)
    #expect(isFull(window))
    // A longer path holds more.
    #expect(!isFull(window, roundTrip: Self.roundTrip * 3))
  }

  @Test func answersMakeRoomAndOldOnesTakeNoneBack() {
    let window = SendWindow()
    let first = fill(window, 20)
    _ = fill(window, 20)
    #expect(isFull(window))
    window.answered(upTo: first + 10_000, next: .zero)
    window.answered(upTo: first, next: .zero)
    #expect(!isFull(window))
  }

  /// Where less is going to be sent than the estimate says, less may be on the way; but a source may have more all of a sudden.
  @Test func whatIsGoingToBeSentBoundsIt() {
    let window = SendWindow()
    _ = fill(window, 29)
    func isFull() -> Bool { self.isFull(window, estimate: .megabits(2)) }
    window.useful = .kilobits(100)
    #expect(!isFull())
    _ = fill(window, 2)
    #expect(isFull())
    window.useful = .kilobits(1_600)
    #expect(!isFull())
    _ = fill(window, 8)
    #expect(isFull())
    window.useful = .megabits(5)
    #expect(!isFull())
    window.useful = nil
    #expect(!isFull())
    _ = fill(window, 5)
    #expect(isFull())
  }

  /// A key frame is more than the window: nothing is known of a queue before its first packets' answers are due.
  @Test func aKeyFrameGoesOnAsLongAsAnswersComeInTime() {
    let window = SendWindow()
    window.keyFrameWaits(behind: 80_000)
    let first = fill(window, 40)
    _ = fill(window, 40, at: .zero + .milliseconds(100))
    #expect(!isFull(window, at: .zero + .milliseconds(170)))
    window.answered(upTo: first, next: .zero + .milliseconds(100))
    #expect(!isFull(window, at: .zero + .milliseconds(270)))
    #expect(isFull(window, at: .zero + .milliseconds(271)))
    // What follows it has the usual bound.
    window.answered(upTo: 80_000, next: nil)
    _ = fill(window, 40, at: .zero + .milliseconds(300))
    #expect(isFull(window, at: .zero + .milliseconds(300)))
  }

  @Test func aFewPacketsMayAlwaysLeave() {
    let window = SendWindow()
    _ = fill(window, 5)
    #expect(!isFull(window, estimate: .kilobits(10), roundTrip: .zero))
    _ = fill(window, 5)
    #expect(isFull(window, estimate: .kilobits(10), roundTrip: .zero))
  }

  /// A message that is lost is answered for by the next: that isn't a queue.
  @Test func lostFeedbackMakesRoomForAWhile() {
    let window = SendWindow()
    _ = fill(window, 28)
    #expect(isFull(window))
    window.feedbackLost(at: .zero)
    #expect(!isFull(window))
    #expect(isFull(window, at: .zero + .seconds(11)))
  }

  /// What left before a link was gone for long is in no queue any more.
  @Test func silenceEmptiesIt() {
    let window = SendWindow()
    _ = fill(window, 100)
    let later = Instant.zero + .seconds(3)
    _ = fill(window, 1, at: later)
    #expect(!isFull(window, at: later))
    // A packet now and then isn't silence.
    _ = fill(window, 30, at: later)
    _ = fill(window, 1, at: later + .seconds(1))
    #expect(isFull(window, at: later))
  }
}
