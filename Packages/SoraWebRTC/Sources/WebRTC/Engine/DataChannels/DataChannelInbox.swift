import SoraMedia
import Synchronization

/// Received messages of one channel, from the network loop to whoever reads them. Safe from any thread.
final class DataChannelInbox: Sendable {
  /// What came, in order.
  enum Item: Sendable {
    case message(DataMessage)
    case stateChanged
    case amountChanged(UInt64, isLow: Bool)
  }

  private enum Reader {
    /// What comes waits for one.
    case none
    case delegate
    case sequence
  }

  private struct State {
    var items = Ring<Item>()
    var messageBytes = 0
    var reader = Reader.none
    var isScheduled = false
    var isEnded = false
    /// What still comes is of no use to anybody.
    var isDiscarding = false
    var waiter: (key: Int, continuation: CheckedContinuation<DataMessage?, Never>)?
    var nextKey = 0

    /// Bytes that count in the backlog: those that wait for a reader who has begun to read.
    var unread: Int { reader == .none ? 0 : messageBytes }
  }

  /// Messages that wait for a reader who never came, in bytes (libwebrtc's limit, as well).
  static let unreadLimit = 16 << 20
  /// What a message costs beside its bytes.
  static let overhead = 64

  private let state = Mutex(State())
  private let backlog: DataBacklog
  /// Lets the connection take more.
  private let resume: @Sendable () -> Void

  init(backlog: DataBacklog, resume: @escaping @Sendable () -> Void) {
    self.backlog = backlog
    self.resume = resume
  }

  private static func cost(_ message: DataMessage) -> Int { message.data.count + overhead }

  // MARK: From the loop

  /// What the connection has to do for a message.
  enum Insertion {
    case none
    /// Have the delegate called.
    case schedule
    /// Too much waits for nobody.
    case overflow
  }

  /// - Returns: what to do, and whether the connection is to take nothing more for now.
  func insert(_ message: DataMessage) -> (Insertion, isFull: Bool) {
    let cost = Self.cost(message)
    var waiter: CheckedContinuation<DataMessage?, Never>?
    // What waits for a reader who isn't there is counted when one comes.
    let (insertion, isCounted) = state.withLock { state -> (Insertion, Bool) in
      if let waiting = state.waiter {
        waiter = waiting.continuation
        state.waiter = nil
        return (.none, false)
      }
      if state.isDiscarding { return (.none, false) }
      state.messageBytes += cost
      state.items.append(.message(message))
      switch state.reader {
      case .none: return (state.messageBytes > Self.unreadLimit ? .overflow : .none, false)
      case .sequence: return (.none, true)
      case .delegate:
        defer { state.isScheduled = true }
        return (state.isScheduled ? .none : .schedule, true)
      }
    }
    waiter?.resume(returning: message)
    return (insertion, isCounted && backlog.add(cost))
  }

  /// Has the delegate told, after all messages before. One that comes later misses no state. Returns whether to have it called.
  func insert(_ item: Item) -> Bool {
    state.withLock { state in
      switch (state.reader, item) {
      case (.delegate, _), (.none, .stateChanged): state.items.append(item)
      default: return false
      }
      guard state.reader == .delegate else { return false }
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
  }

  /// Bytes that wait for a reader who has begun to read.
  var unread: Int { state.withLock { $0.unread } }

  /// Forgets the messages that wait, and those that still come.
  func discard() {
    let bytes = state.withLock { state in
      state.isDiscarding = true
      let bytes = state.unread
      state.messageBytes = 0
      var kept = Ring<Item>()
      while let item = state.items.popFirst() {
        if case .message = item { continue }
        kept.append(item)
      }
      state.items = kept
      return bytes
    }
    if bytes > 0, backlog.remove(bytes) { resume() }
  }

  /// Nothing more comes.
  func end() {
    let waiter = state.withLock { state in
      defer { state.waiter = nil }
      state.isEnded = true
      return state.waiter
    }
    waiter?.continuation.resume(returning: nil)
  }

  // MARK: A delegate

  /// A delegate is there, and takes what waits. Returns whether to have it called.
  func startDelegate() -> Bool {
    claim(.delegate)
    return state.withLock { state in
      guard state.reader == .delegate, !state.items.isEmpty, !state.isScheduled else {
        return false
      }
      state.isScheduled = true
      return true
    }
  }

  /// The next thing to tell the delegate; nil ends its turn.
  func nextForDelegate() -> Item? {
    let item = state.withLock { state -> Item? in
      guard let item = state.items.popFirst() else {
        state.isScheduled = false
        return nil
      }
      if case .message(let message) = item { state.messageBytes -= Self.cost(message) }
      return item
    }
    return item
  }

  /// The delegate has taken a message.
  func taken(_ message: DataMessage) {
    if backlog.remove(Self.cost(message)) { resume() }
  }

  // MARK: A sequence

  /// The next message; nil where nothing more comes, or the task is cancelled.
  func next() async -> DataMessage? {
    claim(.sequence)
    let key = state.withLock { state in
      state.nextKey += 1
      return state.nextKey
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in wait(continuation, key) }
    } onCancel: {
      cancel(key)
    }
  }

  private func wait(_ continuation: CheckedContinuation<DataMessage?, Never>, _ key: Int) {
    enum Outcome {
      case waits
      case gives(DataMessage?)
    }
    let outcome = state.withLock { state -> Outcome in
      while let item = state.items.popFirst() {
        guard case .message(let message) = item else { continue }
        state.messageBytes -= Self.cost(message)
        return .gives(message)
      }
      // One reader at a time: a second one ends at once.
      if state.isEnded || Task.isCancelled || state.waiter != nil { return .gives(nil) }
      state.waiter = (key, continuation)
      return .waits
    }
    guard case .gives(let message) = outcome else { return }
    if let message { taken(message) }
    continuation.resume(returning: message)
  }

  private func cancel(_ key: Int) {
    let waiter = state.withLock { state -> CheckedContinuation<DataMessage?, Never>? in
      guard let waiter = state.waiter, waiter.key == key else { return nil }
      state.waiter = nil
      return waiter.continuation
    }
    waiter?.resume(returning: nil)
  }

  /// The first reader takes what waited for one.
  private func claim(_ reader: Reader) {
    let claimed = state.withLock { state -> Int in
      guard state.reader == .none else { return 0 }
      state.reader = reader
      return state.messageBytes
    }
    // Full or not: what came before is there, and the next message stops the connection.
    if claimed > 0 { _ = backlog.add(claimed) }
  }
}
