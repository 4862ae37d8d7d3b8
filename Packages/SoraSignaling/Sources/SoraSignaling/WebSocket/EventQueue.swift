import Synchronization

/// A queue between an event loop and one task that reads it, with a cost for each element so
/// that the writer can stop reading its socket when the reader falls behind.
final class EventQueue<Element: Sendable>: Sendable {
  private struct State {
    var elements: [(element: Element, cost: Int)] = []
    var head = 0
    var cost = 0
    var isFinished = false
    var isPaused = false
    var waiter: CheckedContinuation<Element?, Never>?
    var onDrained: (@Sendable () -> Void)?
  }

  /// Above this the writer is told to pause; at half of it, it may go on.
  private let highWater: Int
  private let state = Mutex(State())

  init(highWater: Int) { self.highWater = highWater }

  /// What to call, from any thread, when a paused writer may go on.
  func onDrained(_ action: @escaping @Sendable () -> Void) {
    state.withLock { $0.onDrained = action }
  }

  /// Adds an element. Returns true when the writer should pause.
  @discardableResult
  func push(_ element: Element, cost: Int = 0) -> Bool {
    var waiter: CheckedContinuation<Element?, Never>?
    let pause = state.withLock { state in
      guard !state.isFinished else { return false }
      if let waiting = state.waiter {
        state.waiter = nil
        waiter = waiting
        return false
      }
      state.elements.append((element, cost))
      state.cost += cost
      if state.cost > highWater { state.isPaused = true }
      return state.isPaused
    }
    waiter?.resume(returning: element)
    return pause
  }

  /// No more elements; those queued are still delivered.
  func finish() {
    let waiter = state.withLock { state in
      state.isFinished = true
      state.onDrained = nil
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: nil)
  }

  /// The next element, or nil at the end or when the task is cancelled. One reader at a time:
  /// a second one makes the first get nil.
  func next() async -> Element? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Element?, Never>) in
        var result: Element??
        var displaced: CheckedContinuation<Element?, Never>?
        var drained: (@Sendable () -> Void)?
        state.withLock { state in
          if state.head < state.elements.count {
            let (element, cost) = state.elements[state.head]
            state.head += 1
            state.cost -= cost
            if state.head == state.elements.count || state.head > 64 {
              state.elements.removeFirst(state.head)
              state.head = 0
            }
            if state.isPaused, state.cost <= highWater / 2 {
              state.isPaused = false
              drained = state.onDrained
            }
            result = .some(element)
          } else if state.isFinished || Task.isCancelled {
            // The flag is set before the handler below runs, so that either it is seen here
            // or the handler finds the waiter.
            result = .some(nil)
          } else {
            displaced = state.waiter
            state.waiter = continuation
          }
        }
        displaced?.resume(returning: nil)
        drained?()
        if let result { continuation.resume(returning: result) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        defer { state.waiter = nil }
        return state.waiter
      }
      waiter?.resume(returning: nil)
    }
  }
}
