public import SoraMedia

/// What of an estimate goes to packets sent again, and how much of it may.
///
/// Packets that a queue lost would otherwise be sent again on top of the estimate, into the same queue. Up to half of the
/// estimate goes to them; what goes is to be taken off the encoders' rate, so that the sum keeps to the estimate. Plain memory.
public struct RetransmissionBudget: Sendable {
  private static let memory = Duration.milliseconds(500)
  /// Bytes that may always be sent again in that time: a few packets, where the estimate is low.
  private static let leastBytes = 4_800.0

  private var sentAgain = RecentBytes(memory: Self.memory)

  public init() {}

  /// Whether another packet may be sent again.
  public mutating func allows(_ estimate: Bitrate, at now: Instant) -> Bool {
    let share = estimate.bytes(inNanoseconds: Self.memory.wholeNanoseconds) / 2
    return sentAgain.count(at: now) < max(Self.leastBytes, share)
  }

  /// A packet of `size` bytes is sent again.
  public mutating func spend(_ size: Int, at now: Instant) { sentAgain.add(size, at: now) }

  /// What goes to packets sent again at the moment.
  public mutating func spent(at now: Instant) -> Bitrate { sentAgain.rate(at: now) }

  /// What is left of the estimate for packets that are new: half of it at least.
  public mutating func rest(of estimate: Bitrate, at now: Instant) -> Bitrate {
    max(estimate - spent(at: now), estimate * 0.5)
  }
}
