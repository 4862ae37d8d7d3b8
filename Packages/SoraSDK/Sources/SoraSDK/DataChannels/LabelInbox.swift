import Synchronization

/// Hands the messages of one label to those who read them.
final class LabelInbox: Sendable {
  private struct Subscriber {
    let continuation: AsyncStream<DataChannelMessage>.Continuation
    /// That it hasn't read.
    var waiting = 0
  }

  private struct State {
    var subscribers: [Int: Subscriber] = [:]
    var lastID = 0
    /// For the first who comes.
    var kept: [DataChannelMessage] = []
    var keptBytes = 0
    var hadSubscriber = false
    var isEnded = false
  }

  /// Bytes of messages that are kept for the first who comes, and how many.
  private static let keptBytes = 1 << 20
  private static let keptMessages = 256

  let backlog = MessageBacklog()
  private let state = Mutex(State())

  static func cost(_ message: DataChannelMessage) -> Int {
    message.data.count + MessageBacklog.overhead
  }

  func publish(_ message: DataChannelMessage) {
    let cost = Self.cost(message)
    state.withLock { state in
      guard !state.isEnded else { return }
      guard state.hadSubscriber else {
        state.kept.append(message)
        state.keptBytes += cost
        while state.kept.count > Self.keptMessages || state.keptBytes > Self.keptBytes {
          state.keptBytes -= Self.cost(state.kept.removeFirst())
        }
        return
      }
      // Under the lock, so that a new subscriber neither misses it nor gets it twice.
      for id in state.subscribers.keys {
        backlog.add(cost)
        state.subscribers[id]?.waiting += cost
        state.subscribers[id]?.continuation.yield(message)
      }
    }
  }

  func subscribe() -> DataChannelMessages {
    let (stream, continuation) = AsyncStream.makeStream(of: DataChannelMessage.self)
    let id = state.withLock { state -> Int in
      state.lastID += 1
      var subscriber = Subscriber(continuation: continuation)
      for message in state.kept {
        subscriber.waiting += Self.cost(message)
        continuation.yield(message)
      }
      backlog.add(subscriber.waiting)
      state.kept = []
      state.keptBytes = 0
      state.hadSubscriber = true
      if state.isEnded {
        continuation.finish()
      } else {
        state.subscribers[state.lastID] = subscriber
      }
      return state.lastID
    }
    continuation.onTermination = { [weak self] _ in self?.remove(id) }
    return DataChannelMessages(stream: stream) { [weak self] message in
      self?.taken(Self.cost(message), by: id)
    }
  }

  private func taken(_ bytes: Int, by id: Int) {
    let isThere = state.withLock { state in
      state.subscribers[id]?.waiting -= bytes
      return state.subscribers[id] != nil
    }
    if isThere { backlog.remove(bytes) }
  }

  private func remove(_ id: Int) {
    // Ends outside of the lock: a subscriber may be let go of inside of it.
    let subscriber = state.withLock { $0.subscribers.removeValue(forKey: id) }
    if let subscriber { backlog.remove(subscriber.waiting) }
  }

  /// Nothing more will come. What hasn't been read can be.
  func end() {
    let subscribers = state.withLock { state in
      defer { state.subscribers = [:] }
      state.isEnded = true
      return state.subscribers.values.map(\.continuation)
    }
    for continuation in subscribers { continuation.finish() }
    backlog.end()
  }
}

/// The messages of one label, in order, until the channel ends: `MediaChannel.messages(label:)`. Linux only.
public struct DataChannelMessages: AsyncSequence, Sendable {
  fileprivate let stream: AsyncStream<DataChannelMessage>
  fileprivate let taken: @Sendable (DataChannelMessage) -> Void

  public func makeAsyncIterator() -> Iterator {
    Iterator(base: stream.makeAsyncIterator(), taken: taken)
  }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: AsyncStream<DataChannelMessage>.Iterator
    fileprivate let taken: @Sendable (DataChannelMessage) -> Void

    public mutating func next() async -> DataChannelMessage? {
      guard let message = await base.next() else { return nil }
      taken(message)
      return message
    }
  }
}
