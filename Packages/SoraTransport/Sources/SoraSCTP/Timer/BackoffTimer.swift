import SoraMedia

/// A timer that runs twice as long each time that it runs out (RFC 9260 §6.3.3).
struct BackoffTimer {
  private(set) var deadline: Instant?
  /// How often it ran out since it was eased last: what it backs off by.
  private(set) var expirations = 0
  /// How often it ran out since it was eased or forgiven.
  private(set) var errors = 0

  var isRunning: Bool { deadline != nil }

  /// Starts it anew, for `timeout` nanoseconds times what it backed off to, `longest` at most.
  mutating func start(at now: Instant, timeout: Int64, longest: Int64) {
    let factor = Int64(1) << Int64(min(expirations, 16))
    let (product, overflow) = timeout.multipliedReportingOverflow(by: factor)
    deadline = Instant(
      nanoseconds: now.nanoseconds + min(overflow ? longest : product, max(timeout, longest)))
  }

  mutating func stop() { deadline = nil }

  /// Forgets that it ran out.
  mutating func ease() {
    expirations = 0
    errors = 0
  }

  /// Forgets the errors, and stays as slow as it is.
  mutating func forgive() { errors = 0 }

  /// Whether it has just run out; it stands then.
  mutating func expire(at now: Instant) -> Bool {
    guard let due = deadline, due <= now else { return false }
    deadline = nil
    expirations += 1
    errors += 1
    return true
  }
}
