public import SoraMedia

/// Bytes of the recent past, those of earlier weighing less: how much of something passes at the moment. Plain memory.
public struct RecentBytes: Sendable {
  /// How fast what passed is forgotten, nanoseconds.
  public let memory: Int64
  private var bytes = 0.0
  private var updated: Int64?

  public init(memory: Duration) { self.memory = max(1, memory.wholeNanoseconds) }

  public mutating func add(_ count: Int, at now: Instant) {
    forget(until: now)
    bytes += Double(count)
  }

  /// What counts at `now`.
  public mutating func count(at now: Instant) -> Double {
    forget(until: now)
    return bytes
  }

  public mutating func rate(at now: Instant) -> Bitrate {
    Bitrate(bitsPerSecond: Int(count(at: now) * 8e9 / Double(memory)))
  }

  private mutating func forget(until now: Instant) {
    let memory = Double(memory)
    let last = updated ?? now.nanoseconds
    bytes *= memory / (memory + Double(max(0, now.nanoseconds &- last)))
    updated = max(last, now.nanoseconds)
  }
}
