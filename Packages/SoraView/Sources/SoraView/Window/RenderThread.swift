import Dispatch
import Foundation
import SoraClock
import SoraMedia
import Synchronization

/// The thread that draws all windows: SDL wants one for the display, and its colours are a setting of the process. It starts with the
/// first window, and waits while there is none. Safe from any thread.
package final class RenderThread: Sendable {
  /// The process's own, over SDL2.
  package static let shared = RenderThread { SDLDriver() }

  private struct State {
    var jobs: [@Sendable (RenderLoop) -> Void] = []
    var isAwake = false
    var isStarted = false
  }
  private let state = Mutex(State())
  private let call = DispatchSemaphore(value: 0)
  private let makeDriver: @Sendable () -> any ViewDriver

  /// - Parameter makeDriver: called once, on the thread.
  package init(makeDriver: @escaping @Sendable () -> any ViewDriver) {
    self.makeDriver = makeDriver
  }

  /// Does a job on the thread, and returns what it gives. Not to be called on that thread.
  @discardableResult
  func run<Value: Sendable>(_ job: @escaping @Sendable (RenderLoop) -> Value) -> Value {
    let result = Mutex<Value?>(nil)
    let done = DispatchSemaphore(value: 0)
    add { loop in
      let value = job(loop)
      result.withLock { $0 = value }
      done.signal()
    }
    done.wait()
    return result.withLock { $0 }!
  }

  private func add(_ job: @escaping @Sendable (RenderLoop) -> Void) {
    let isFirst = state.withLock { state in
      state.jobs.append(job)
      defer { state.isStarted = true }
      return !state.isStarted
    }
    if isFirst {
      let thread = Thread { [self] in work() }
      thread.name = "sora.view"
      thread.start()
    }
    wake()
  }

  /// Has the thread look for what is to be drawn.
  func wake() {
    let isNew = state.withLock { state in
      defer { state.isAwake = true }
      return !state.isAwake
    }
    if isNew { call.signal() }
  }

  private func work() {
    let loop = RenderLoop(driver: makeDriver())
    while true {
      let jobs = state.withLock { state in
        state.isAwake = false
        defer { state.jobs = [] }
        return state.jobs
      }
      for job in jobs { job(loop) }
      guard let next = loop.turn({ SystemClock.now }) else {
        call.wait()
        continue
      }
      let wait = max(0, (next - SystemClock.now).wholeNanoseconds)
      _ = call.wait(timeout: .now() + .nanoseconds(Int(wait)))
    }
  }
}
