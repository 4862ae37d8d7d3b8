package import SoraMedia

/// How far a connection is between its making and its end, and what becomes due by that. Plain memory and no clock of its own.
package struct ConnectionLife {
  private enum Phase {
    /// Media has to flow by then.
    case connecting(mediaBy: Instant)
    case connected(since: Instant)
    /// Nothing is forwarded any more; what was said last may still be on its way, until then at most.
    case leaving(connectedAt: Instant?, until: Instant)
    case ended(connectedAt: Instant?)
  }

  package enum Event: Hashable {
    /// No media came in time.
    case mediaMissing
    /// A minute has passed, or the span is over.
    case span(ConnectionSpan.Event)
  }

  private var phase: Phase
  private var span: ConnectionSpan

  /// - Parameters:
  ///   - mediaBy: media has to flow by then.
  ///   - lifetime: for how long it may; nil for no end.
  package init(mediaBy: Instant, lifetime: Duration?) {
    phase = .connecting(mediaBy: mediaBy)
    span = ConnectionSpan(lifetime: lifetime)
  }

  package var isConnected: Bool {
    if case .connected = phase { true } else { false }
  }

  /// Whether it has left its channel.
  package var isEnded: Bool {
    switch phase {
    case .connecting, .connected: false
    case .leaving, .ended: true
    }
  }

  /// Whether it has left its channel, and its transport is still there.
  package var isLeaving: Bool {
    if case .leaving = phase { true } else { false }
  }

  /// Whether its transport is gone, too.
  package var isOver: Bool {
    if case .ended = phase { true } else { false }
  }

  /// When media could flow first; nil before.
  package var connectedAt: Instant? {
    switch phase {
    case .connecting: nil
    case .connected(let since): since
    case .leaving(let connectedAt, _), .ended(let connectedAt): connectedAt
    }
  }

  /// Media can flow.
  ///
  /// - Returns: whether it couldn't before.
  package mutating func connect(at now: Instant) -> Bool {
    guard case .connecting = phase else { return false }
    phase = .connected(since: now)
    span.start(at: now)
    return true
  }

  /// It leaves its channel; its transport is there for what was said last.
  package mutating func leave(until limit: Instant) {
    phase = .leaving(connectedAt: connectedAt, until: limit)
  }

  /// What was said last needs no longer than this.
  ///
  /// - Returns: whether it is leaving.
  package mutating func hasten(to limit: Instant) -> Bool {
    guard case .leaving(let connectedAt, let until) = phase else { return false }
    phase = .leaving(connectedAt: connectedAt, until: min(until, limit))
    return true
  }

  package mutating func end() { phase = .ended(connectedAt: connectedAt) }

  /// Whether what was said last has had its time.
  package func hasLeft(at now: Instant) -> Bool {
    if case .leaving(_, let until) = phase { until <= now } else { false }
  }

  package mutating func poll(at now: Instant) -> Event? {
    switch phase {
    case .connecting(let mediaBy): mediaBy <= now ? .mediaMissing : nil
    case .connected: span.poll(at: now).map { .span($0) }
    case .leaving, .ended: nil
    }
  }

  package var nextDeadline: Instant? {
    switch phase {
    case .connecting(let mediaBy): mediaBy
    case .connected: span.nextDeadline
    case .leaving(_, let until): until
    case .ended: nil
    }
  }
}
