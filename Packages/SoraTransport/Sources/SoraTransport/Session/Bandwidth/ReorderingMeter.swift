import SoraCongestion
import SoraMedia

/// Measures by how much packets overtake each other on the way, from what transport-wide feedback says of their arrival.
///
/// A receiver that misses a packet which was only overtaken asks for it at once. Where that happens more often than loss, a
/// sender does well to wait until feedback tells which of the two it was.
struct ReorderingMeter {
  /// Delays beyond this are treated as loss, nanoseconds.
  private static let longest: Int64 = 100_000_000
  /// How long feedback about a packet takes at most from most peers, beyond the packet's own arrival, nanoseconds.
  private static let feedbackInterval: Int64 = 90_000_000
  /// What one message weighs against those before it.
  private static let memory = 0.9

  /// How late overtaken packets come, behind the first that overtook them, nanoseconds.
  private var lateness = 0.0
  /// Packets overtaken and packets lost, those of earlier messages weighing less.
  private var overtaken = 0.0
  private var lost = 0.0
  /// The highest number that a message before this one named, and when the last packet of it arrived.
  private var highest = Int64.min
  private var latestArrival = Int64.min

  /// Takes what one feedback message says, in the order of sequence numbers.
  mutating func note(_ results: [PacketFeedback]) {
    overtaken *= Self.memory
    lost *= Self.memory
    lateness *= 0.98
    var earliestLater = Int64.max
    let (known, knownArrival) = (highest, latestArrival)
    for result in results.reversed() {
      highest = max(highest, result.sequence)
      guard let arrival = result.arrivalTime?.nanoseconds else {
        // Behind the last that arrived it may simply be under way.
        if earliestLater != .max, result.sequence > known { lost += 1 }
        continue
      }
      latestArrival = max(latestArrival, arrival)
      if result.sequence <= known {
        // The message before took it for lost; packets behind it had arrived by then.
        overtaken += 1
        lost = max(0, lost - Self.memory)
        noteLateness(arrival &- knownArrival)
      } else if arrival > earliestLater {
        overtaken += 1
        noteLateness(arrival &- earliestLater)
      }
      earliestLater = min(earliestLater, arrival)
    }
  }

  private mutating func noteLateness(_ nanoseconds: Int64) {
    lateness = max(lateness, Double(min(nanoseconds, Self.longest)))
  }

  /// How long to wait with a retransmission, so that feedback can tell whether the packet has come after all; zero where
  /// what is missing is mostly lost.
  var patience: Duration {
    guard overtaken > 2, overtaken > 2 * lost else { return .zero }
    return .nanoseconds(Int64(lateness) + Self.feedbackInterval)
  }
}
