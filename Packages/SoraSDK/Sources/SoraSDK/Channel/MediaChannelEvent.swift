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
  /// Any other message, after the SDK acted on it.
  case signaling(Signaling)
  /// The channel ended, nil when it ended as it should. The last event.
  case disconnected((any Error)?)
}

extension MediaChannelEvent {
  fileprivate var isMessage: Bool {
    switch self {
    case .notify, .push, .signaling: true
    default: false
    }
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
    var hadSubscriber = false
    var end: MediaChannelEvent?
    var waiters: [CheckedContinuation<Void, Never>] = []

    mutating func note(_ event: MediaChannelEvent) {
      switch event {
      case .connected, .streamAdded: standing.append(event)
      case .streamRemoved(let stream):
        standing.removeAll {
          if case .streamAdded(let known) = $0 { known === stream } else { false }
        }
      case .disconnected:
        end = event
        standing = []
      case .notify, .push, .signaling:
        guard !hadSubscriber else { return }
        standing.append(event)
        if standing.count(where: \.isMessage) > MediaChannelEventHub.keptMessages,
          let oldest = standing.firstIndex(where: \.isMessage)
        {
          standing.remove(at: oldest)
        }
      }
    }
  }

  private let state = Mutex(State())

  /// Messages that are kept for the first subscriber.
  private static let keptMessages = 256

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
