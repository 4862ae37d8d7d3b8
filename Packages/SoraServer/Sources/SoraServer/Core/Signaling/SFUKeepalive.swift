package import SoraMedia

/// Pings a client over signaling, and notices when it answers no more. Plain memory and no clock of its own.
package struct SFUKeepalive {
  package enum Event: Hashable {
    /// A ping is due, with a request for statistics or without.
    case ping(statistics: Bool)
    case lost
  }

  /// When `poll` wants to be called next; nil before `start`.
  package private(set) var nextDeadline: Instant?
  private let interval: Duration
  private let timeout: Duration
  private let pingsPerStatistics: Int
  private var pings = 0
  private var lastPong = Instant.zero

  /// - Parameters:
  ///   - interval: time between two pings.
  ///   - timeout: silence after which the client is lost.
  ///   - pingsPerStatistics: each so manieth ping asks for statistics; 0 for none.
  package init(interval: Duration, timeout: Duration, pingsPerStatistics: Int) {
    self.interval = interval
    self.timeout = timeout
    self.pingsPerStatistics = pingsPerStatistics
  }

  package mutating func start(at now: Instant) {
    lastPong = now
    nextDeadline = now + interval
  }

  package mutating func receivedPong(at now: Instant) { lastPong = now }

  package mutating func poll(at now: Instant) -> Event? {
    guard let due = nextDeadline, due <= now else { return nil }
    guard now - lastPong < timeout else { return .lost }
    nextDeadline = now + interval
    pings += 1
    return .ping(statistics: pingsPerStatistics > 0 && pings % pingsPerStatistics == 0)
  }
}
