import SoraMedia

/// The smoothed round trip and the timeout that follows from it (RFC 9260 §6.3). In nanoseconds: it is asked for each packet.
package struct RoundTripEstimate: Sendable {
  private let bounds: ClosedRange<Int64>
  /// 0 until it was measured.
  package private(set) var smoothed: Int64 = 0
  private var variation: Int64 = 0
  /// The shortest of about the last 10 seconds; 0 until it was measured.
  package private(set) var shortest: Int64 = 0
  private var shortestSince: Int64 = 0
  package private(set) var timeout: Int64

  package init(initial: Duration, minimum: Duration, maximum: Duration) {
    let low = max(1_000_000, minimum.wholeNanoseconds)
    bounds = low...max(low, maximum.wholeNanoseconds)
    timeout = min(max(initial.wholeNanoseconds, bounds.lowerBound), bounds.upperBound)
  }

  package var hasSample: Bool { smoothed > 0 }

  /// The longest timeout.
  package var longest: Int64 { bounds.upperBound }

  /// Takes a round trip of a chunk that was sent once (Karn's rule).
  package mutating func add(_ sample: Int64, at nanoseconds: Int64) {
    guard sample >= 0, sample < 3_600_000_000_000 else { return }
    let sample = max(1000, sample)
    if smoothed == 0 {
      smoothed = sample
      variation = sample / 2
    } else {
      variation += (abs(smoothed - sample) - variation) / 4
      smoothed += (sample - smoothed) / 8
    }
    if shortest == 0 || sample <= shortest || nanoseconds - shortestSince > 10_000_000_000 {
      shortest = sample
      shortestSince = nanoseconds
    }
    // The clock's grain, so that no variation is no timeout without slack.
    timeout = min(
      max(smoothed + max(4 * variation, 1_000_000), bounds.lowerBound), bounds.upperBound)
  }
}
