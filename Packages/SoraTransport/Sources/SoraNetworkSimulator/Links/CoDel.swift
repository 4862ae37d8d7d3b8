import SoraMedia

/// Active queue management that keeps the time in a queue short: RFC 8289.
public struct CoDel: Sendable, Equatable {
  /// Waiting time that is accepted for good (§4.4).
  public var target: Duration
  /// How long the waiting time must stay above the target before the first datagram is dropped: about the longest round trip.
  public var interval: Duration
  /// Whether datagrams that are ECN-capable are marked in place of being dropped (RFC 3168 §5), as Linux's fq_codel does.
  public var marks: Bool

  public init(
    target: Duration = .milliseconds(5), interval: Duration = .milliseconds(100),
    marks: Bool = false
  ) {
    self.target = target
    self.interval = interval
    self.marks = marks
  }
}

/// The controller of one queue, asked about each datagram when its turn to be sent has come (RFC 8289 §5).
struct CoDelState {
  private var firstAboveTime: Int64 = 0
  private var dropNext: Int64 = 0
  private var count: Int64 = 0
  private var lastCount: Int64 = 0
  private var isDropping = false
  /// The datagram behind the one whose drop began the dropping state always goes.
  private var passesNext = false
  /// A drop was made within the dropping state: the next one's time is still to be set.
  private var hasDropped = false

  /// Whether to drop the datagram at the head.
  ///
  /// - Parameters:
  ///   - waited: nanoseconds that it was in the queue.
  ///   - backlog: bytes behind it.
  mutating func drops(_ waited: Int64, backlog: Int, _ settings: CoDel, at now: Int64) -> Bool {
    let isLong = staysLong(waited, backlog: backlog, settings, at: now)
    if passesNext {
      passesNext = false
      return false
    }
    let interval = settings.interval.wholeNanoseconds
    guard isDropping else {
      guard isLong else { return false }
      isDropping = true
      passesNext = true
      // §5.4: a queue that was bad a moment ago goes on at about the rate that helped.
      let delta = count - lastCount
      count = delta > 1 && now - dropNext < 16 * interval ? delta : 1
      dropNext = law(now, interval)
      lastCount = count
      return true
    }
    guard isLong else {
      isDropping = false
      hasDropped = false
      return false
    }
    if hasDropped {
      hasDropped = false
      dropNext = law(dropNext, interval)
    }
    guard now >= dropNext else { return false }
    count += 1
    hasDropped = true
    return true
  }

  /// The queue has run empty.
  mutating func emptied() {
    firstAboveTime = 0
    isDropping = false
    passesNext = false
    hasDropped = false
  }

  /// §5.2: whether the waiting time has been above the target for an interval, with more than a datagram behind.
  private mutating func staysLong(
    _ waited: Int64, backlog: Int, _ settings: CoDel, at now: Int64
  ) -> Bool {
    if waited < settings.target.wholeNanoseconds || backlog <= 1500 {
      firstAboveTime = 0
      return false
    }
    if firstAboveTime == 0 {
      firstAboveTime = now + settings.interval.wholeNanoseconds
      return false
    }
    return now >= firstAboveTime
  }

  /// §5.3: drops come closer with the square root of their number.
  private func law(_ time: Int64, _ interval: Int64) -> Int64 {
    time + Int64(Double(interval) / Double(max(count, 1)).squareRoot())
  }
}
