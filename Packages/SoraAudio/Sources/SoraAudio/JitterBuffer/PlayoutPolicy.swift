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
    /// The same of what was expected instead of it.
    var missingDelay: Int64
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
    /// What of the target is due to packets that come late, and not to somebody's wish.
    var jitter: Int64
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
    /// Restore the samples before the oldest packet from it, but for the first of them, which were made up before it came.
    case restore(Int, skipping: Int)
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
      let redundant = Int64(next.redundantCount)
      if redundant > 0, remaining <= redundant, gap >= redundant {
        return .restore(next.redundantCount, skipping: Int(redundant - remaining))
      }
      // What is missing may still come, and the delay has yet to grow: it isn't given up for what came before it.
      if next.missingDelay < situation.jitter - patience, situation.generated < longestWait {
        return .concealUnderrun
      }
      return .concealLoss
    }
  }

  enum Stretch: Equatable {
    case none
    /// By so many samples at most.
    case accelerate(by: Int, isFast: Bool)
    case expand
  }

  /// The length of one pull, in nanoseconds.
  static let pull: Int64 = 10_000_000
  /// How far below the target the delay is where what is missing is waited for: farther than it is kept by stretching.
  private static let patience: Int64 = 10_000_000
  /// Samples that are made up at most for one that may still come while others are there: 100 ms.
  private static let longestWait = 4_800
  /// What clocks and threads are late by.
  private static let slack: Int64 = 1_000_000

  /// Whether to play faster or slower.
  ///
  /// - Parameters:
  ///   - delay: of what is played now.
  ///   - target: what a packet takes that is needed at the end of a pull.
  ///   - phase: how far into a pull the next packet begins; nil where the target is somebody's wish, to be kept to.
  static func stretch(delay: Int64, target: Int64, phase: Int64?) -> Stretch {
    let least = phase.map { target - pull + $0 - 2 * slack } ?? target - 5_000_000
    if delay < least { return .expand }
    let excess = excess(delay, target, phase)
    guard excess > 0 else { return .none }
    return .accelerate(
      by: Int(min(excess, 1_000_000_000) * 3 / 62_500), isFast: delay > target + 100_000_000)
  }

  /// By how much the delay may fall without a packet's being needed before it is there. To begin sooner is free down to the beginning of
  /// a pull; beyond that the packet is needed a whole pull sooner.
  private static func excess(_ delay: Int64, _ target: Int64, _ phase: Int64?) -> Int64 {
    guard let phase else { return delay > target + 5_000_000 ? delay - target + 2_500_000 : 0 }
    let room = delay - phase - (target - pull) - slack
    return room < 0 ? 0 : phase + room / pull * pull
  }
}
