public import SoraMedia

/// What of an estimate goes to packets sent again, and how much of it may.
///
/// Packets that a queue lost would otherwise be sent again on top of the estimate, into the same queue. Up to half of the
/// estimate goes to them; what goes is to be taken off the encoders' rate, so that the sum keeps to the estimate. Plain memory.
public struct RetransmissionBudget: Sendable {
  /// How fast what was sent is forgotten.
  private static let memory: Int64 = 500_000_000
  /// Bytes that may always be sent again in that time: a few packets, where the estimate is low.
  private static let leastBytes = 4_800.0

  /// Bytes sent again, those of earlier weighing less.
  private var bytes = 0.0
  private var updated: Int64?

  public init() {}

  /// Whether another packet may be sent again.
  public mutating func allows(_ estimate: Bitrate, at now: Instant) -> Bool {
    forget(until: now)
    return bytes < max(Self.leastBytes, estimate.bytes(inNanoseconds: Self.memory) / 2)
  }

  /// A packet of `size` bytes is sent again.
  public mutating func spend(_ size: Int, at now: Instant) {
    forget(until: now)
    bytes += Double(size)
  }

  /// What is left of the estimate for packets that are new: half of it at least.
  public mutating func rest(of estimate: Bitrate, at now: Instant) -> Bitrate {
    forget(until: now)
    let spent = Bitrate(bitsPerSecond: Int(bytes * 8e9 / Double(Self.memory)))
    return max(estimate - spent, estimate * 0.5)
  }

  private mutating func forget(until now: Instant) {
    let memory = Double(Self.memory)
    let last = updated ?? now.nanoseconds
    bytes *= memory / (memory + Double(max(0, now.nanoseconds &- last)))
    updated = max(last, now.nanoseconds)
  }
}
