/// Tells whether the application sends much less than it may, so that arrivals say little about the link.
struct ApplicationLimit {
  /// Sending below this share of the estimate counts as limited.
  private static let share = 0.65
  private static let window: Int64 = 500_000_000

  private(set) var isLimited = false
  /// When the present limited time began.
  private(set) var since: Int64?
  private var lastLimited: Int64?
  /// Bytes that could have been sent and weren't, at most what fits in the window.
  private var unused = 0.0
  private var lastUpdate: Int64?

  mutating func sent(_ bytes: Int, estimate: Bitrate, at now: Int64) {
    advance(estimate, at: now)
    unused = max(unused - Double(bytes), -limit(estimate))
    judge(estimate, at: now)
  }

  mutating func advance(_ estimate: Bitrate, at now: Int64) {
    let elapsed = max(0, now &- (lastUpdate ?? now))
    lastUpdate = now
    unused = min(
      unused + Self.share * estimate.bytes(inNanoseconds: min(elapsed, Self.window)),
      limit(estimate))
    judge(estimate, at: now)
  }

  private func limit(_ estimate: Bitrate) -> Double {
    Self.share * estimate.bytes(inNanoseconds: Self.window)
  }

  /// Whether it was limited within the latest second.
  func wasLimited(at now: Int64) -> Bool {
    isLimited || lastLimited.map { now &- $0 < 1_000_000_000 } ?? false
  }

  private mutating func judge(_ estimate: Bitrate, at now: Int64) {
    if isLimited { lastLimited = now }
    let level = unused / max(limit(estimate), 1)
    if isLimited {
      if level < 0.3 {
        isLimited = false
        since = nil
      }
    } else if level > 0.8 {
      isLimited = true
      since = now
    }
  }
}
