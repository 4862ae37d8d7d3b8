/// What to play next, decided from numbers alone: no samples, no decoder, no clock.
///
/// Timestamps and counts are samples at 48 kHz, delays are nanoseconds.
struct PlayoutPolicy {
  enum Phase: Sendable, Equatable {
    /// Nothing was played yet, or everything was dropped: wait for the first packets to gather.
    case starting
    case playing
    /// The sender transmits nothing on purpose.
    case comfort
  }

  /// The oldest packet that waits.
  struct Next {
    var timestamp: Int64
    /// Whether it follows the packet decoded last by sequence number, so that nothing was lost between them.
    var isContiguous: Bool
    /// Samples before it that it can restore.
    var redundantCount: Int
    /// The playout delay that would result from playing it now.
    var delay: Int64
  }

  struct Situation {
    var phase: Phase
    /// The timestamp that follows what was decoded (or given up) last.
    var expected: Int64
    /// Samples made up since then.
    var generated: Int
    /// Whether the packet decoded last announced silence.
    var isSilenceAnnounced: Bool
    var next: Next?
    var target: Int64
  }

  enum Decision: Equatable {
    /// Silence that hides no loss.
    case wait
    /// Comfort noise that hides no loss.
    case comfort
    /// Decode the oldest packet; it continues what was played.
    case decode
    /// Go on at the oldest packet, which doesn't continue what was played.
    case jump
    /// Restore the samples before the oldest packet from it.
    case restore(Int)
    /// Make up samples for lost ones: the timeline goes on.
    case concealLoss
    /// Make up samples for ones that may still come: the timeline stands, and the delay grows.
    case concealUnderrun
    /// The stream went on elsewhere: gather packets again.
    case restart
  }

  /// The longest gap that is concealed to its end: one second.
  static let longestGap: Int64 = 48_000

  static func decide(_ situation: Situation) -> Decision {
    guard let next = situation.next else {
      switch situation.phase {
      case .starting: return .wait
      case .comfort: return .comfort
      case .playing: return situation.isSilenceAnnounced ? .comfort : .concealUnderrun
      }
    }
    let gap = next.timestamp - situation.expected
    switch situation.phase {
    case .starting:
      return next.delay >= situation.target ? .jump : .wait
    case .comfort:
      return gap <= 0 || next.delay >= situation.target ? .jump : .comfort
    case .playing:
      if gap <= 0 { return situation.generated > 0 ? .jump : .decode }
      let remaining = gap - Int64(situation.generated)
      if remaining <= 0 { return .jump }
      // All packets came, yet time passed between them: the sender paused.
      if next.isContiguous { return next.delay >= situation.target ? .jump : .comfort }
      if remaining > longestGap { return .restart }
      if next.redundantCount > 0, remaining == Int64(next.redundantCount) {
        return .restore(next.redundantCount)
      }
      return .concealLoss
    }
  }

  enum Stretch: Equatable {
    case none
    case accelerate(isFast: Bool)
    case expand
  }

  /// Whether to play faster or slower. The band between is wider than the longest pitch period, so that one step never
  /// calls for its opposite.
  static func stretch(delay: Int64, target: Int64) -> Stretch {
    if delay > target + 100_000_000 { return .accelerate(isFast: true) }
    if delay > target + 15_000_000 { return .accelerate(isFast: false) }
    if delay < target - 5_000_000 { return .expand }
    return .none
  }
}
