import SoraMedia
import SoraRTP

/// The timestamps that a publisher's packets have towards one subscriber: they go on over changes of the publisher's source.
struct TimestampRewriter {
  private let clockRate: Int64
  private var offset: UInt32
  /// The publisher's source began anew, and nothing of it was sent yet.
  private var isRebased = true
  private var lastSentAt = Instant.zero

  /// Whether anything was sent.
  private(set) var isStarted = false
  /// Of what was sent.
  private(set) var newestNumber: UInt16 = 0
  private(set) var newestTimestamp: UInt32 = 0

  /// - Parameter offset: what the first source's timestamps are moved by (RFC 3550 §5.1: random).
  init(clockRate: Int64, offset: UInt32) {
    self.clockRate = clockRate
    self.offset = offset
  }

  /// The subscriber's timestamp for one of the publisher's.
  func rewrite(_ timestamp: UInt32) -> UInt32 { timestamp &+ offset }

  /// Whether packets of the publisher's present source were sent.
  var isAligned: Bool { isStarted && !isRebased }

  /// The publisher's source changed.
  mutating func rebase() { isRebased = true }

  /// A packet with this timestamp is about to be sent: the first of a source goes on from what was sent last.
  mutating func align(to timestamp: UInt32, at now: Instant) {
    guard isRebased else { return }
    isRebased = false
    guard isStarted else { return }
    // The new source's clock starts anywhere: go on by the time that has passed.
    let ticks = now.nanoseconds(since: lastSentAt) / 1000 * clockRate / 1_000_000
    offset = newestTimestamp &+ UInt32(truncatingIfNeeded: max(1, ticks)) &- timestamp
  }

  /// A packet was sent, with the subscriber's number and timestamp.
  mutating func sent(_ number: UInt16, _ timestamp: UInt32, at now: Instant) {
    if !isStarted || sequenceNumber(number, isNewerThan: newestNumber) {
      newestNumber = number
      newestTimestamp = timestamp
    }
    isStarted = true
    lastSentAt = now
  }
}
