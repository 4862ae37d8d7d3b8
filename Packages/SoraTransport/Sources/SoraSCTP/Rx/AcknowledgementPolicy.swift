import SoraMedia

/// When a SACK leaves (RFC 9260 §6.2): at once for every second packet, for whatever isn't in order and for the I bit (RFC 7053); else after a
/// delay, or with data.
struct AcknowledgementPolicy {
  private enum State {
    case none
    case delayed(until: Instant)
    case immediate
  }

  private var state = State.none
  private let delay: Duration
  private var isFirst = true

  init(delay: Duration) {
    self.delay = delay
  }

  /// Whether a SACK has to leave now.
  var isDue: Bool {
    if case .immediate = state { return true }
    return false
  }

  /// Whether one may go with a packet that leaves anyway.
  var isPending: Bool {
    if case .none = state { return false }
    return true
  }

  var deadline: Instant? {
    if case .delayed(let until) = state { return until }
    return nil
  }

  mutating func require() { state = .immediate }

  /// A packet with data that was in order came.
  mutating func packetReceived(at now: Instant) {
    switch state {
    case .none where isFirst:
      // The peer learns its first round trip from it.
      isFirst = false
      state = .immediate
    case .none: state = .delayed(until: now + delay)
    case .delayed: state = .immediate
    case .immediate: break
    }
  }

  mutating func poll(at now: Instant) {
    if case .delayed(let until) = state, until <= now { state = .immediate }
  }

  mutating func sent() { state = .none }
}
