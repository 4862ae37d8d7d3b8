public import SoraMedia

/// Bytes of the recent past, those of earlier weighing less: how much of something passes at the moment. Plain memory.
public struct RecentBytes: Sendable {
  /// How fast what passed is forgotten, nanoseconds.
  public let memory: Int64
  private var bytes = 0.0
  /// The time that `bytes` stand for, nanoseconds: forgotten as they are, it comes to `memory`.
  private var span = 0.0
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

  /// The rate since the first bytes came, where that is less than `memory` ago: what is new has no past to be measured with.
  public mutating func rateSinceFirst(at now: Instant) -> Bitrate {
    let count = count(at: now)
    // Of a moment nothing can be said: one packet would look like a flood.
    return Bitrate(bitsPerSecond: Int(count * 8e9 / max(span, Double(memory) / 8)))
  }

  private mutating func forget(until now: Instant) {
    let memory = Double(memory)
    let last = updated ?? now.nanoseconds
    let elapsed = Double(max(0, now.nanoseconds &- last))
    guard elapsed > 0 else { return updated = last }
    bytes *= memory / (memory + elapsed)
    span = (span + elapsed) * memory / (memory + elapsed)
    updated = max(last, now.nanoseconds)
  }
}
