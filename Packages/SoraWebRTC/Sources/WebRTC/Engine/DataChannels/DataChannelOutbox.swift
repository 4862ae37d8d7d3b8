import SoraMedia
import Synchronization

/// Messages of one channel on their way from the app to the network loop, and how many bytes wait. Safe from any thread.
final class DataChannelOutbox: Sendable {
  private struct State {
    var messages = Ring<DataMessage>()
    var queuedBytes = 0
    /// Of those that the loop has taken: what hasn't left.
    var handedBytes = 0
    var isScheduled = false
    var lowThreshold = 0
    /// Bytes of the largest message that the other side takes.
    var messageLimit = DataChannelOutbox.limit
    var waiters: [CheckedContinuation<Void, Never>] = []
    var isEnded = false

    var amount: Int { queuedBytes + handedBytes }
  }

  /// Bytes that may wait before `send` refuses, and before its async form lets the caller wait.
  static let limit = 16 << 20
  static let high = 1 << 20

  private let state = Mutex(State())

  /// Bytes that wait.
  var amount: Int { state.withLock { $0.amount } }

  var lowThreshold: Int {
    get { state.withLock { $0.lowThreshold } }
    set { state.withLock { $0.lowThreshold = max(0, newValue) } }
  }

  /// Why a message isn't taken.
  enum Refusal {
    case ended
    case messageTooLarge(count: Int, limit: Int)
    case full(limit: Int)
  }

  enum Insertion {
    case refused(Refusal)
    /// The loop is to `take`, or knows already.
    case accepted(schedule: Bool)
  }

  func insert(_ message: DataMessage) -> Insertion {
    state.withLock { state in
      let count = message.data.count
      if state.isEnded { return .refused(.ended) }
      guard count <= state.messageLimit else {
        return .refused(.messageTooLarge(count: count, limit: state.messageLimit))
      }
      guard state.amount + count <= Self.limit else {
        return .refused(.full(limit: Self.limit))
      }
      state.messages.append(message)
      state.queuedBytes += count
      defer { state.isScheduled = true }
      return .accepted(schedule: !state.isScheduled)
    }
  }

  /// Waits while more than `high` bytes wait.
  func waitForRoom() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.isEnded || state.amount <= Self.high { return true }
        state.waiters.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  // MARK: On the loop

  func setMessageLimit(_ bytes: Int) {
    state.withLock { $0.messageLimit = min(bytes, Self.limit) }
  }

  /// The next message to send; nil ends the loop's turn.
  func next() -> DataMessage? {
    state.withLock { state in
      guard let message = state.messages.popFirst() else {
        state.isScheduled = false
        return nil
      }
      state.queuedBytes -= message.data.count
      state.handedBytes += message.data.count
      return message
    }
  }

  /// Puts a message back that couldn't be sent yet; the loop will come again by itself.
  func putBack(_ message: DataMessage) {
    state.withLock { state in
      state.messages.prepend(message)
      state.queuedBytes += message.data.count
      state.handedBytes -= message.data.count
    }
  }

  /// Notes how many bytes of those that were taken haven't left.
  ///
  /// - Returns: what waits now, and whether it has fallen to the threshold; nil where nothing has changed.
  func update(handed: Int) -> (amount: Int, isLow: Bool)? {
    var free: [CheckedContinuation<Void, Never>] = []
    let change = state.withLock { state -> (amount: Int, isLow: Bool)? in
      let before = state.amount
      state.handedBytes = handed
      let amount = state.amount
      guard amount != before else { return nil }
      if amount <= Self.high / 2 {
        free = state.waiters
        state.waiters = []
      }
      return (amount, before > state.lowThreshold && amount <= state.lowThreshold)
    }
    for waiter in free { waiter.resume() }
    return change
  }

  /// Nothing can be sent any more; what waits stays counted (W3C webrtc §6.2, `bufferedAmount`).
  func end() {
    let waiters = state.withLock { state in
      defer { state.waiters = [] }
      state.isEnded = true
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }
}
