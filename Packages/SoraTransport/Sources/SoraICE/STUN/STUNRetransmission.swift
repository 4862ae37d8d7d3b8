import SoraMedia

/// When a request to a STUN or TURN server is sent again, and when it is given up (RFC 8489 §6.2).
public struct STUNRetransmission: Sendable, Hashable {
  /// The first wait: RTO. Browsers begin with as much; RFC 8489 §6.2.1 has 500 ms for hosts that know nothing of the path.
  public var initialTimeout: Duration = .milliseconds(250)
  /// The longest wait between two transmissions; waits double up to it.
  public var maximumTimeout: Duration = .seconds(2)
  /// Rc: how often a request is sent. With the defaults it is given up after 9.75 s.
  public var transmissions = 7
  /// Ti: how long an answer is waited for on a reliable transport (§6.2.2), where nothing is sent twice.
  public var reliableTimeout: Duration = .seconds(10)

  public init() {}
}

/// A request that waits for its response.
struct STUNPendingRequest {
  let id: STUNTransactionID
  let bytes: [UInt8]
  let firstSent: Instant
  private(set) var lastSent: Instant
  private(set) var transmissions = 1
  private var timeout: Duration
  /// When to send again, or to give up.
  private(set) var deadline: Instant

  init(
    id: STUNTransactionID, bytes: [UInt8], isReliable: Bool, _ rule: STUNRetransmission,
    at now: Instant
  ) {
    self.id = id
    self.bytes = bytes
    firstSent = now
    lastSent = now
    timeout = isReliable ? rule.reliableTimeout : rule.initialTimeout
    deadline = now + timeout
    if isReliable { transmissions = max(1, rule.transmissions) }
  }

  enum Due { case nothing, sendAgain, giveUp }

  /// Says what `now` asks for, and notes that it is done.
  mutating func advance(to now: Instant, _ rule: STUNRetransmission) -> Due {
    guard deadline <= now else { return .nothing }
    guard transmissions < rule.transmissions else { return .giveUp }
    transmissions += 1
    timeout = min(timeout * 2, rule.maximumTimeout)
    lastSent = now
    deadline = now + timeout
    return .sendAgain
  }

  /// Has it sent again at once.
  mutating func hasten(at now: Instant) { deadline = now }
}
