package import SoraMedia

/// Decides when frames are shown: as early as the arrival times of recent frames allow without stutter.
///
/// For each frame, arrival time minus media time is its transit. A high percentile of the last frames' transits is when frames are shown,
/// and the smallest of them what the delay is counted from. Both are forgotten with their frames, so that drifting clocks are followed, and
/// a queue on the path that has drained isn't waited for any longer: it wasn't jitter.
package struct PlayoutTiming {
  /// Some two seconds.
  private static let memory = 64
  /// Who waits for every last frame waits with all others, too.
  private static let percentile = 0.9
  /// A transit this far from the smallest means that the source's clock jumped.
  private static let jumpNanoseconds: Int64 = 3_000_000_000

  private let clockRate: Int64
  private var minimum: Int64
  private let maximum: Int64
  /// The delay that was asked for in place of what recent frames ask for.
  private var wanted: Int64?
  /// In order of arrival, round and round.
  private var transits: [Int64] = []
  private var oldest = 0
  /// The same in rising order.
  private var ranked: [Int64] = []
  private var lastRenderTime = Instant(nanoseconds: .min)
  /// The transit with which frames are shown; follows the target smoothly. `nil` before any frame was complete.
  private var playout: Int64?
  /// The delay to begin with: the first frame tells nothing of those to come.
  private var firstDelay: Int64 = 10_000_000

  package init(clockRate: Int, minimum: Duration, maximum: Duration) {
    self.clockRate = Int64(max(1, min(clockRate, 1_000_000_000)))
    self.minimum = max(0, minimum.wholeNanoseconds)
    self.maximum = max(self.minimum, maximum.wholeNanoseconds)
    transits.reserveCapacity(Self.memory)
    ranked.reserveCapacity(Self.memory)
  }

  /// The delay in use, in nanoseconds: how much later than the fastest frames a frame is shown.
  package var delay: Int64 { bounded(playout.map { $0 &- (ranked.first ?? 0) } ?? firstDelay) }

  /// The delay that recent frames, or `setTarget`, ask for, in nanoseconds.
  package var target: Int64 { bounded(asked.map { $0 &- (ranked.first ?? 0) } ?? firstDelay) }

  /// Keeps frames back for at least so long from now on.
  package mutating func setMinimum(_ value: Duration) {
    minimum = min(maximum, max(0, value.wholeNanoseconds))
  }

  /// Holds frames back for so long from now on, whatever recent frames ask for, those that come later being shown when they come; nil goes
  /// by recent frames.
  package mutating func setTarget(_ value: Duration?) {
    wanted = value.map { max(0, $0.wholeNanoseconds) }
  }

  /// The most that a frame is held back, in nanoseconds.
  package var longest: Int64 { max(maximum, wanted ?? 0) }

  /// A frame was completed at `now`. `isTypical` is false for frames that needed a retransmission: waiting for
  /// those is the jitter buffer's decision and not a property of the path.
  package mutating func frameCompleted(timestamp: Int64, isTypical: Bool, at now: Instant) {
    let transit = now.nanoseconds &- mediaNanoseconds(timestamp)
    if let fastest = ranked.first, (transit &- fastest).magnitude > Self.jumpNanoseconds {
      forgetClock()
    }
    guard isTypical || ranked.isEmpty else { return }
    remember(transit)
    guard let last = playout, let asked else { return playout = transit &+ firstDelay }
    // Up fast, because lateness shows; down slowly, because speeding up shows too.
    let difference = asked &- last
    playout = last &+ (difference > 0 ? difference / 2 : difference / 16)
  }

  /// When the frame is shown: when it is due, but by `latest`, not before `now`, and never before the one shown last.
  package func renderTime(timestamp: Int64, latest: Instant, at now: Instant) -> Instant {
    // Nothing is known before any frame was complete.
    let due = ranked.first.map {
      Instant(nanoseconds: mediaNanoseconds(timestamp) &+ $0 &+ delay)
    }
    return max(lastRenderTime, max(now, min(due ?? now, latest)))
  }

  /// A frame is handed out to be shown then.
  package mutating func shown(at time: Instant) { lastRenderTime = time }

  /// The source began anew: its times have nothing to do with earlier ones. Keeps the delay.
  package mutating func restart() {
    forgetClock()
    lastRenderTime = Instant(nanoseconds: .min)
  }

  private mutating func forgetClock() {
    firstDelay = delay
    transits.removeAll(keepingCapacity: true)
    ranked.removeAll(keepingCapacity: true)
    oldest = 0
    playout = nil
  }

  private mutating func remember(_ transit: Int64) {
    if transits.count < Self.memory {
      transits.append(transit)
    } else {
      ranked.remove(at: rank(of: transits[oldest]))
      transits[oldest] = transit
      oldest = (oldest + 1) % Self.memory
    }
    ranked.insert(transit, at: rank(of: transit))
  }

  /// How many are smaller.
  private func rank(of transit: Int64) -> Int { ranked.count(whilePrefix: { $0 < transit }) }

  /// The transit with which frames should be shown; nil before any frame was complete.
  private var asked: Int64? {
    guard let fastest = ranked.first else { return nil }
    return wanted.map { fastest &+ $0 }
      ?? ranked[Int((Double(ranked.count - 1) * Self.percentile).rounded(.up))]
  }

  private func bounded(_ delay: Int64) -> Int64 { min(longest, max(minimum, delay)) }

  private func mediaNanoseconds(_ timestamp: Int64) -> Int64 {
    let (seconds, ticks) = timestamp.quotientAndRemainder(dividingBy: clockRate)
    return seconds &* 1_000_000_000 &+ ticks * 1_000_000_000 / clockRate
  }
}
