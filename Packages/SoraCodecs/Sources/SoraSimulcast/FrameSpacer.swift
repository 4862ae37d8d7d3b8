public import SoraMedia

/// Leaves out frames so that a rate isn't exceeded and the ones that stay are spaced as evenly as they can be.
public struct FrameSpacer: Sendable {
  private var due: Int64?

  public init() {}

  /// Whether to keep the frame of this time. `isForced` keeps it in any case, and counts it.
  ///
  /// - Parameters:
  ///   - time: the frame's capture time.
  ///   - framesPerSecond: nil keeps all. Times that jitter by a quarter of an interval, or 10 ms,
  ///     lose no frame.
  ///   - isForced: keeps it in any case.
  public mutating func keeps(
    _ time: Instant, framesPerSecond: Double?, isForced: Bool = false
  ) -> Bool {
    guard let framesPerSecond, framesPerSecond.isFinite, framesPerSecond > 0 else {
      due = nil
      return true
    }
    let interval = Int64(1e9 / min(max(framesPerSecond, 0.01), 1_000))
    let now = time.nanoseconds
    // A time that jumps back starts over.
    let early = min(interval / 4, 10_000_000)
    if let due, !isForced, now &+ early < due, due &- now <= 2 &* interval { return false }
    let next = (due ?? now) &+ interval
    // Half an interval of debt at most: a source that was slow for a while doesn't get to burst.
    due = min(max(next, now &+ interval / 2), now &+ 2 &* interval)
    return true
  }
}
