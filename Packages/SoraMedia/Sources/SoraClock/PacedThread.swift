import Foundation
public import SoraMedia
import Synchronization

/// A thread that wakes at the deadlines of an absolute schedule, so that lateness never adds up. Safe from any thread.
public final class PacedThread: Sendable {
  private struct State {
    var isStopped = false
    var hasEnded = false
    var thread: pthread_t?
  }
  private let state = Mutex(State())
  private let ended = DispatchSemaphore(value: 0)

  /// Starts it.
  ///
  /// - Parameters:
  ///   - name: what tools call it; Linux shows 15 characters.
  ///   - deadline: when turn `n` is due, counted from 0. Never earlier than that of the turn before.
  ///   - body: one turn, on the thread; returns the number of the next turn (greater than `n`), or nil to end.
  public init(
    name: String, deadline: @escaping @Sendable (Int64) -> Instant,
    body: @escaping @Sendable (_ turn: Int64) -> Int64?
  ) {
    let thread = Thread { [self] in
      state.withLock { $0.thread = pthread_self() }
      var turn: Int64? = 0
      while let n = turn, sleep(until: deadline(n)) { turn = body(n) }
      state.withLock { $0.hasEnded = true }
      ended.signal()
    }
    thread.name = name
    thread.start()
  }

  /// Whether the last turn is over.
  public var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Ends the thread, and returns when its last turn is over; at once where a turn calls it, which is the last one then.
  public func stop() {
    let thread = state.withLock { state in
      state.isStopped = true
      return state.thread
    }
    if let thread, pthread_equal(thread, pthread_self()) != 0 { return }
    ended.wait()
    ended.signal()
  }

  /// False when the thread is to end. Long waits are cut up, so that `stop` takes effect soon.
  private func sleep(until deadline: Instant) -> Bool {
    while true {
      if state.withLock({ $0.isStopped }) { return false }
      let now = SystemClock.now
      if now >= deadline { return true }
      let next = min(deadline, now + .milliseconds(100))
      var time = timespec(
        tv_sec: Int(next.nanoseconds / 1_000_000_000),
        tv_nsec: Int(next.nanoseconds % 1_000_000_000))
      unsafe clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &time, nil)
    }
  }
}
