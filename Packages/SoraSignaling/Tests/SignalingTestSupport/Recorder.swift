import Synchronization

/// A list that other threads fill and a test waits on.
public final class Recorder<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  public init() {}

  public var elements: [Element] { state.withLock { $0.elements } }

  public func append(_ element: Element) {
    let ready = state.withLock { state in
      state.elements.append(element)
      let count = state.elements.count
      defer { state.waiters.removeAll { $0.count <= count } }
      return state.waiters.filter { $0.count <= count }
    }
    for waiter in ready { waiter.continuation.resume() }
  }

  /// Waits until there are so many elements; gives up when the test's time is over.
  public func wait(for count: Int) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          let isReady = state.elements.count >= count || Task.isCancelled
          if !isReady { state.waiters.append((count, continuation)) }
          return isReady
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      let waiters = state.withLock { state in
        defer { state.waiters = [] }
        return state.waiters
      }
      for waiter in waiters { waiter.continuation.resume() }
    }
  }
}
