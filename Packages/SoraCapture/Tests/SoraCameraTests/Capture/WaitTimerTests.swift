import Foundation
import SoraCamera
import SoraClock
import SoraMedia
import Testing

@Suite struct WaitTimerTests {
  private let timer: WaitTimer
  private let past = Instant.zero
  private let future = SystemClock.now + .seconds(3600)

  init() throws { timer = try WaitTimer() }

  /// Whether a wait would end at once.
  private var hasCome: Bool {
    var waiting = pollfd(fd: timer.fd, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, 0) == 1
  }

  @Test func aDeadlineComes() throws {
    timer.set(noLaterThan: future)
    #expect(!hasCome)
    timer.set(noLaterThan: SystemClock.now + .milliseconds(1))
    pause(while: !hasCome)
    #expect(hasCome && !timer.expired())
    timer.set(noLaterThan: future)
    #expect(!hasCome, "the deadline after it")
    timer.set(noLaterThan: past)
    #expect(hasCome)
  }

  /// What a frame does: it moves the deadline, and sets nothing.
  @Test func anEarlierDeadlineIsKept() throws {
    timer.set(noLaterThan: past)
    timer.set(noLaterThan: future)
    #expect(hasCome)
  }

  @Test func whoIsWokenStaysSo() throws {
    timer.set(noLaterThan: future)
    timer.wake()
    #expect(hasCome && timer.expired())
    timer.set(noLaterThan: future)
    #expect(hasCome && timer.expired())
  }
}
