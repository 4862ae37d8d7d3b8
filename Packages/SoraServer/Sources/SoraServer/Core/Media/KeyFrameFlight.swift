import SoraMedia
import SoraRTP

/// Where the newest key frame is that a subscriber is sent: until it can have all of it, it may ask for what is on its way.
struct KeyFrameFlight {
  /// Its newest number; nil where there is none.
  private var last: UInt16?
  /// When that left.
  private var left: Instant?

  /// What a request takes that was under way when the key frame came, if no round trip is known or that was measured without a queue.
  private static let leastTrip = Duration.milliseconds(200)

  /// A packet of a key frame is to be sent.
  mutating func isJudged(_ number: UInt16) {
    last = number
    left = nil
  }

  /// A packet has left.
  mutating func isSent(_ number: UInt16, at now: Instant) {
    guard let last, left == nil, !sequenceNumber(last, isNewerThan: number) else { return }
    left = now
  }

  /// What waits from a number on won't be sent.
  mutating func isWithdrawn(from number: UInt16) {
    if let last, !sequenceNumber(number, isNewerThan: last) { self.last = nil }
  }

  /// Whether it waits still, or has left so lately that what is asked for may be what it mends.
  func isUnderway(roundTrip: Duration?, at now: Instant) -> Bool {
    guard last != nil else { return false }
    guard let left else { return true }
    return now - left < max(roundTrip ?? .zero, Self.leastTrip)
  }
}
