import SoraMedia
import SoraRTP

/// The timestamps that a publisher's packets have towards one subscriber: they go on over changes of the publisher's source.
struct TimestampRewriter {
  let clockRate: Int64
  private(set) var offset: UInt32
  /// The publisher's source began anew, and nothing of it was forwarded yet.
  private var isRebased = true
  /// What the reports of both sources say of the new one's first packet.
  private var expected: UInt32?
  /// Of what is forwarded, whether it has left already or waits; nil before the first.
  private var newest: (timestamp: UInt32, at: Instant)?

  /// Whether anything was sent.
  private(set) var isStarted = false
  /// Of what was sent.
  private(set) var newestNumber: UInt16 = 0
  private(set) var newestTimestamp: UInt32 = 0

  /// Reports that say the new source is further off than this are wrong.
  private static let longestStep = Duration.seconds(1)

  /// - Parameter offset: what the first source's timestamps are moved by (RFC 3550 §5.1: random).
  init(clockRate: Int64, offset: UInt32) {
    self.clockRate = clockRate
    self.offset = offset
  }

  /// Whether packets of the publisher's present source are forwarded.
  var isAligned: Bool { !isRebased }

  /// The publisher's source changed.
  ///
  /// - Parameter expected: the subscriber's timestamp of the new source's first packet, as both sources' reports have it; nil where
  ///   they don't.
  mutating func rebase(expecting expected: UInt32? = nil) {
    isRebased = true
    self.expected = expected
  }

  /// A packet with this timestamp of the publisher's is about to be forwarded: the first of a source goes on from what was
  /// forwarded last.
  mutating func align(to timestamp: UInt32, at now: Instant) {
    if isRebased {
      isRebased = false
      if let newest {
        // The new source's clock starts anywhere: go on by the time that has passed.
        var next = newest.timestamp &+ max(1, ticks(now - newest.at))
        if let expected {
          let difference = Int32(bitPattern: expected &- next)
          if difference.magnitude <= ticks(Self.longestStep) { next = expected }
        }
        // Two frames never have one timestamp.
        if Int32(bitPattern: next &- newest.timestamp) <= 0 { next = newest.timestamp &+ 1 }
        offset = next &- timestamp
      }
    }
    let out = timestamp &+ offset
    if let newest, Int32(bitPattern: out &- newest.timestamp) <= 0 { return }
    newest = (out, now)
  }

  private func ticks(_ time: Duration) -> UInt32 {
    UInt32(clamping: max(0, time.wholeNanoseconds) / 1000 * clockRate / 1_000_000)
  }

  /// A packet was sent, with the subscriber's number and timestamp.
  mutating func sent(_ number: UInt16, _ timestamp: UInt32) {
    if !isStarted || sequenceNumber(number, isNewerThan: newestNumber) {
      newestNumber = number
      newestTimestamp = timestamp
    }
    isStarted = true
  }
}
