/// Which chunks are lost, by time: a chunk is, when one that was sent later has come and the path's reordering explains it no more. RACK
/// (RFC 8985 §6) for SCTP, whose SACKs name chunks instead of bytes, and whose duplicates (RFC 9260 §3.3.4) do what DSACK does there.
struct LossDetection {
  private var sentAt: Int64 = -1
  private var tsn: Int64 = -1
  private var roundTrip: Int64 = 0
  private var hasReordering = false
  /// How many fourths of a round trip the path reorders by, and for how many recoveries more (RFC 8985 §6.2 step 4).
  private var multiplier: Int64 = 1
  private var persistence = 0
  /// What was sent last when the multiplier grew.
  private var grownAt: Int64 = -1
  /// When what is only late now would be lost: nanoseconds.
  private(set) var deadline: Int64?

  /// Takes in what a SACK has newly acknowledged.
  mutating func acknowledged(
    _ change: OutstandingData.Change, shortest: Int64, at now: Int64
  ) {
    if change.isReordered { hasReordering = true }
    guard change.newestSentAt >= 0 else { return }
    let trip = now - change.newestSentAt
    // It may be the first copy that came, and not the one that was sent so short ago.
    if change.newestWasRetransmitted, trip < shortest { return }
    if change.newestSentAt > sentAt || (change.newestSentAt == sentAt && change.newestTSN > tsn) {
      sentAt = change.newestSentAt
      tsn = change.newestTSN
      roundTrip = trip
    }
  }

  /// The peer has both copies of what was sent again. What it tells within one round trip counts once (RFC 8985 §6.2 step 4).
  mutating func spurious(cumulative: Int64, last: Int64) {
    hasReordering = true
    guard cumulative >= grownAt else { return }
    grownAt = last
    multiplier = min(multiplier + 1, 8)
    persistence = 16
  }

  mutating func recovered() {
    guard persistence > 0 else { return }
    persistence -= 1
    if persistence == 0 { multiplier = 1 }
  }

  /// Finds what is lost. Returns whether anything is.
  mutating func detect(
    _ outstanding: inout OutstandingData, estimate: RoundTripEstimate, isRecovering: Bool,
    at now: Int64
  ) -> Bool {
    deadline = nil
    guard sentAt >= 0, !outstanding.isEmpty else { return false }
    let patience: Int64
    if !hasReordering, isRecovering || outstanding.gapCount >= 3 {
      patience = 0
    } else {
      patience = min(estimate.shortest / 4 * multiplier, estimate.smoothed)
    }
    let found = outstanding.detectLosses(
      sentBefore: sentAt, tsn: tsn, patience: roundTrip + patience, at: now)
    deadline = found.next
    return found.hasLost
  }

  mutating func stop() { deadline = nil }
}

/// Asks for an answer where the last chunks of a burst may be lost, with nothing behind them that would show it (RFC 8985 §7).
struct TailLossProbe {
  /// Nanoseconds.
  private(set) var deadline: Int64?
  /// A probe is to be sent.
  private(set) var isWanted = false
  /// The TSN that an answer to the probe acknowledges, and whether the probe was a retransmission.
  private var pending: (last: Int64, isRetransmission: Bool)?

  /// Arms it anew: two round trips after what was sent last. Not after an acknowledgement, which may have been delayed.
  mutating func arm(sentAt: Int64, estimate: RoundTripEstimate, at now: Int64) {
    guard pending == nil, estimate.hasSample else {
      deadline = nil
      return
    }
    deadline = max(
      sentAt + max(2 * estimate.smoothed, 2_000_000), now + max(estimate.smoothed / 4, 1_000_000))
  }

  mutating func stop() {
    deadline = nil
    isWanted = false
  }

  mutating func reset() {
    stop()
    pending = nil
  }

  mutating func poll(at now: Int64) -> Bool {
    guard let due = deadline, due <= now else { return false }
    deadline = nil
    isWanted = true
    return true
  }

  mutating func sent(last: Int64, isRetransmission: Bool) {
    isWanted = false
    pending = (last, isRetransmission)
  }

  /// Whether the probe was what brought a lost chunk: then something was lost, though nothing else has shown it (RFC 8985 §7.4.2).
  mutating func acknowledged(through cumulative: Int64, hasDuplicates: Bool) -> Bool {
    guard let waiting = pending, cumulative >= waiting.last else { return false }
    pending = nil
    return waiting.isRetransmission && !hasDuplicates
  }
}
