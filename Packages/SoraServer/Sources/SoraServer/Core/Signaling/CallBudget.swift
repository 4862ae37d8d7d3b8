import SoraMedia

/// How much a client may call for: others are told of what it changes, and publishers are asked for key frames of the layers it wants.
/// 256 KiB at once and 64 KiB a second, where a call counts as 2 KiB at least: 128 at once, and 32 a second.
struct CallBudget {
  private static let most = 256 * 1024
  private static let perSecond = 64 * 1024
  private static let least = 2048

  private var left = Self.most
  private var filledAt = Instant.zero

  /// - Parameter bytes: of the call.
  /// - Returns: whether it may be done.
  mutating func take(_ bytes: Int, at now: Instant) -> Bool {
    let elapsed = max(0, now.nanoseconds(since: filledAt))
    let gained = Int(min(elapsed, 10_000_000_000) / 1000 * Int64(Self.perSecond) / 1_000_000)
    // What is too little to count isn't lost.
    if gained > 0 {
      left = min(Self.most, left + gained)
      filledAt = now
    }
    let cost = max(bytes, Self.least)
    guard cost <= left else { return false }
    left -= cost
    return true
  }
}
