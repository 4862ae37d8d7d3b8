import Synchronization

/// What happens to a channel: the same as its handlers are told, in the same order.
public enum MediaChannelEvent: Sendable {
  /// Media can flow.
  case connected
  /// The local stream, or one that somebody else started.
  case streamAdded(any MediaStream)
  /// A remote stream was withdrawn.
  case streamRemoved(any MediaStream)
  /// An event of the channel; not told again as `signaling`.
  case notify(SignalingNotify)
  /// Data that was pushed through the server; not told again as `signaling`.
  case push(SignalingPush)
  /// The data channels can be used: `MediaChannel.sendMessage`. Once. Linux only.
  case dataChannelsOpened
  /// A message on a data channel of the app's own. Linux only.
  case message(DataChannelMessage)
  /// Any other message, after the SDK acted on it.
  case signaling(Signaling)
  /// The channel ended, nil when it ended as it should. The last event.
  case disconnected((any Error)?)
}

extension MediaChannelEvent {
  fileprivate var isMessage: Bool {
    switch self {
    case .notify, .push, .signaling, .message: true
    default: false
    }
  }

  /// Of what is kept for the first subscriber, the part that others choose the size of.
  fileprivate var byteCount: Int {
    if case .message(let message) = self { message.data.count } else { 0 }
  }
}

/// Hands a channel's events to its subscribers.
final class MediaChannelEventHub: Sendable {
  private struct State: Sendable {
    var subscribers: [Int: AsyncStream<MediaChannelEvent>.Continuation] = [:]
    var lastID = 0
    /// What a subscriber has to know that comes now, in the order in which it happened: the connection and the streams. Until the first
    /// subscriber comes, messages too.
    var standing: [MediaChannelEvent] = []
    var keptBytes = 0
    var hadSubscriber = false
    var end: MediaChannelEvent?
    var waiters: [CheckedContinuation<Void, Never>] = []

    mutating func note(_ event: MediaChannelEvent) {
      switch event {
      case .connected, .streamAdded, .dataChannelsOpened: standing.append(event)
      case .streamRemoved(let stream):
        standing.removeAll {
          if case .streamAdded(let known) = $0 { known === stream } else { false }
        }
      case .disconnected:
        end = event
        standing = []
      case .notify, .push, .signaling, .message:
        guard !hadSubscriber else { return }
        standing.append(event)
        keptBytes += event.byteCount
        while standing.count(where: \.isMessage) > MediaChannelEventHub.keptMessages
          || keptBytes > MediaChannelEventHub.keptBytes,
          let oldest = standing.firstIndex(where: \.isMessage)
        {
          keptBytes -= standing.remove(at: oldest).byteCount
        }
      }
    }
  }

  private let state = Mutex(State())

  /// Messages that are kept for the first subscriber.
  private static let keptMessages = 256
  /// Bytes of messages of data channels among them.
  private static let keptBytes = 1 << 20

  /// Events from now on, after those that lead to where the channel stands.
  func subscribe() -> AsyncStream<MediaChannelEvent> {
    let (events, continuation) = AsyncStream.makeStream(of: MediaChannelEvent.self)
    let id = state.withLock { state -> Int? in
      if let end = state.end {
        continuation.yield(end)
        continuation.finish()
        return nil
      }
      for event in state.standing { continuation.yield(event) }
      state.standing.removeAll { $0.isMessage }
      state.hadSubscriber = true
      state.lastID += 1
      state.subscribers[state.lastID] = continuation
      return state.lastID
    }
    if let id {
      continuation.onTermination = { [weak self] _ in
        // Ends outside of the lock: a subscriber may be let go of inside of it.
        _ = self?.state.withLock { $0.subscribers.removeValue(forKey: id) }
      }
    }
    return events
  }

  func publish(_ event: MediaChannelEvent) {
    let (subscribers, waiters) = state.withLock { state in
      state.note(event)
      let subscribers = Array(state.subscribers.values)
      guard state.end != nil else {
        // Under the lock, so that a new subscriber neither misses the event nor gets it twice.
        for subscriber in subscribers { subscriber.yield(event) }
        return (
          [AsyncStream<MediaChannelEvent>.Continuation](), [CheckedContinuation<Void, Never>]()
        )
      }
      defer {
        state.subscribers = [:]
        state.waiters = []
      }
      return (subscribers, state.waiters)
    }
    for subscriber in subscribers {
      subscriber.yield(event)
      subscriber.finish()
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits for the last event.
  func ended() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if state.end == nil { state.waiters.append(continuation) }
        return state.end != nil
      }
      if isOver { continuation.resume() }
    }
  }
}
