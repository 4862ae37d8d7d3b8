/// What a `Pacer` keeps back because too much is unanswered (`SendWindow`), and how what has waited leaves afterwards. Plain memory,
/// times in nanoseconds.
struct PacerHold {
  /// A hold that is shorter leaves no backlog to speak of.
  private static let long: Int64 = 200_000_000
  /// What waited meanwhile leaves at no more than this multiple of the rate.
  private static let factor = 1.1
  /// By what of it that grows each second: a link that takes it may take more, and what waits shouldn't keep what is new for ever.
  private static let growth = 0.1

  /// Until when packets wait.
  private(set) var until: Int64 = .min
  /// When a hold ended last: waiting begins anew with it.
  private(set) var releasedAt: Int64 = .min / 2
  private var since: Int64?
  /// What was sent before; nil once what waited has left.
  private var rateBefore: Bitrate?
  private var hasBacklog = false

  mutating func hold(until time: Int64, sending rate: Bitrate, at now: Int64) {
    until = time
    guard since == nil else { return }
    since = now
    rateBefore = rateBefore ?? rate
  }

  mutating func release(at now: Int64) {
    guard let since else { return }
    self.since = nil
    until = .min
    if now &- since > Self.long {
      releasedAt = now
      hasBacklog = true
    } else if !hasBacklog {
      rateBefore = nil
    }
  }

  /// Nothing waits any more.
  mutating func emptied() {
    guard since == nil else { return }
    hasBacklog = false
    rateBefore = nil
  }

  /// How fast packets leave at an estimate.
  func rate(_ estimate: Bitrate, factor usual: Double, at now: Int64) -> Bitrate {
    guard hasBacklog, let rateBefore else { return estimate * usual }
    let grown = 1 + Self.growth * Double(max(0, now &- releasedAt)) / 1e9
    return min(estimate, rateBefore * grown) * min(usual, Self.factor)
  }
}
