package import SoraMedia

/// When a key frame is asked for: at once, and again while the need lasts.
package struct KeyFrameRequestTimer {
  private var last: Instant?
  /// When it is time to ask again; nil while nobody waits for a request's outcome.
  package private(set) var deadline: Instant?

  package init() {}

  /// Whether to ask now. Answers true once in `interval` nanoseconds.
  package mutating func fires(at now: Instant, interval: Int64) -> Bool {
    if let last, now.nanoseconds(since: last) < interval { return false }
    last = now
    return true
  }

  /// A key frame is still needed. The first request needs no deadline, because the owner asks after every round.
  package mutating func arm(interval: Int64) {
    guard let last else { return }
    deadline = Instant(nanoseconds: last.nanoseconds &+ interval)
  }

  package mutating func disarm() { deadline = nil }

  /// The next need is a new one, and is asked for at once.
  package mutating func forgetRequest() { last = nil }
}
