import Synchronization

/// Bytes of one data channel's messages that are on their way to the app. Who reads the channel waits while there are too many, and with
/// that the other side.
final class MessageBacklog: Sendable {
  private struct State {
    var bytes = 0
    var waiters: [CheckedContinuation<Void, Never>] = []
    var isEnded = false
  }

  /// Beyond this nothing more is read.
  static let limit = 1 << 20
  /// What a message costs beside its bytes.
  static let overhead = 256

  private let state = Mutex(State())

  func add(_ bytes: Int) { state.withLock { $0.bytes += bytes } }

  func remove(_ bytes: Int) {
    let free = state.withLock { state in
      state.bytes -= bytes
      guard state.bytes <= Self.limit else { return [CheckedContinuation<Void, Never>]() }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in free { waiter.resume() }
  }

  func waitForRoom() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.isEnded || state.bytes <= Self.limit { return true }
        state.waiters.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  /// Nobody has to wait any more.
  func end() {
    let free = state.withLock { state in
      defer { state.waiters = [] }
      state.isEnded = true
      return state.waiters
    }
    for waiter in free { waiter.resume() }
  }
}
