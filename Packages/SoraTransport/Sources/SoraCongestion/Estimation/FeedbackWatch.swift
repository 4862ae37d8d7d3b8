/// Notices that feedback stays away.
struct FeedbackWatch {
  private static let leastPatience: Int64 = 1_000_000_000
  private static let longestRoundTrip: Int64 = 10_000_000_000
  private static let interval: Int64 = 500_000_000

  private var hasSent = false
  /// Whether any feedback came: a peer that never sent any won't be missed.
  private(set) var hasFeedback = false
  /// When the first packet was sent that no feedback has followed.
  private var unansweredSince: Int64?
  private var lastTimeout: Int64 = 0

  /// A packet leaves. Whether it is the first.
  mutating func sent(at now: Int64) -> Bool {
    defer { hasSent = true }
    if unansweredSince == nil { unansweredSince = now }
    return !hasSent
  }

  mutating func received() {
    hasFeedback = true
    unansweredSince = nil
  }

  mutating func timedOut(at now: Int64) { lastTimeout = now }

  /// When feedback is overdue, on a path with this round trip; `nil` while none is waited for.
  func deadline(roundTrip: Int64) -> Int64? {
    guard hasFeedback, let unansweredSince else { return nil }
    let patience = max(Self.leastPatience, 3 &* min(roundTrip, Self.longestRoundTrip))
    return max(unansweredSince &+ patience, lastTimeout &+ Self.interval)
  }
}
