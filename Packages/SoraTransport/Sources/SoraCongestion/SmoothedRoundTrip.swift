/// The round trip of a path: smoothed, and the latest.
struct SmoothedRoundTrip {
  private var isKnown = false
  /// What is assumed until something is known.
  private(set) var smoothed: Int64 = 100_000_000
  /// Of the latest feedback.
  private(set) var latest: Int64 = 0

  /// `nil` before the first sample.
  var known: Int64? { isKnown ? smoothed : nil }

  mutating func add(_ sample: Int64) {
    smoothed = isKnown ? smoothed + (sample - smoothed) / 8 : sample
    isKnown = true
  }

  /// The shortest round trip of a feedback message's packets. What can't be is left out.
  mutating func addFeedback(_ shortest: Int64) {
    guard shortest >= 0, shortest < 60_000_000_000 else { return }
    add(shortest)
    latest = shortest
  }
}
