/// The round trip of a path: smoothed, and the latest.
struct SmoothedRoundTrip {
  private var isKnown = false
  /// What is assumed until something is known.
  private(set) var smoothed: Int64 = 100_000_000
  /// Of the latest feedback.
  private(set) var latest: Int64 = 0

  /// The shortest of the latest seconds, of this span and the one before.
  private static let memory: Int64 = 3_000_000_000
  private var least: (now: Int64, before: Int64) = (.max, .max)
  private var spanStart: Int64 = .min / 2

  /// Round trips that differ by no more are alike, and after so long those that there are now count.
  private static let alike: Int64 = 20_000_000
  private static let settling: Int64 = 1_000_000_000
  /// Since when they have been alike, and between which bounds.
  private var level: (since: Int64, low: Int64, high: Int64) = (0, .max, .min)

  /// The shortest round trip of the latest three to six seconds: without the queue that this sender has made just now. `nil` before
  /// the first feedback.
  var recentLeast: Int64? {
    let shortest = min(least.now, least.before)
    return shortest == .max ? nil : shortest
  }

  /// `nil` before the first sample.
  var known: Int64? { isKnown ? smoothed : nil }

  mutating func add(_ sample: Int64) {
    smoothed = isKnown ? smoothed + (sample - smoothed) / 8 : sample
    isKnown = true
  }

  /// The shortest round trip of a feedback message's packets. What can't be is left out.
  mutating func addFeedback(_ shortest: Int64, at now: Int64) {
    guard shortest >= 0, shortest < 60_000_000_000 else { return }
    add(shortest)
    latest = shortest
    if now &- spanStart > Self.memory {
      least = (.max, now &- spanStart > 2 &* Self.memory ? .max : least.now)
      spanStart = now
    }
    least.now = min(least.now, shortest)
    let low = min(level.low, shortest)
    let high = max(level.high, shortest)
    level = high &- low > Self.alike ? (now, shortest, shortest) : (level.since, low, high)
  }

  /// Nothing queues: a round trip that has stayed the same, and is longer than the shortest of before, is a path that became longer.
  /// Where it is a queue after all, that grows once more is sent, and is noticed by that.
  mutating func settle(at now: Int64) {
    guard let recentLeast, now &- level.since > Self.settling, level.low > recentLeast else {
      return
    }
    least = (level.low, .max)
    spanStart = now
  }
}
