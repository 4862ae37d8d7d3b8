import SoraMedia

/// What becomes due by how long media could flow on a connection: each minute, and the end that its grant sets. Plain memory and no clock of its own.
package struct ConnectionSpan {
  package enum Event: Hashable {
    /// So many whole minutes have passed.
    case minute(Int)
    case over
  }

  private static let minute = Duration.seconds(60)
  /// nil for no end.
  private let lifetime: Duration?
  private var end: Instant?
  private var nextMinute: Instant?
  private var minutes = 0

  init(lifetime: Duration?) { self.lifetime = lifetime }

  mutating func start(at now: Instant) {
    nextMinute = now + Self.minute
    end = lifetime.map { now + $0 }
  }

  /// nil before the start.
  var nextDeadline: Instant? { earliest(nextMinute, end) }

  mutating func poll(at now: Instant) -> Event? {
    if let end, end <= now { return .over }
    guard let due = nextMinute, due <= now else { return nil }
    // Of minutes that were slept through the last one counts.
    while let due = nextMinute, due <= now {
      minutes += 1
      nextMinute = due + Self.minute
    }
    return .minute(minutes)
  }
}
