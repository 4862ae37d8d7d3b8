package import SoraMedia

/// Decides when frames are shown: as early as the arrival times of recent frames allow without stutter.
///
/// For each frame, arrival time minus media time is its relative transit. The smallest one of the last seconds is
/// the baseline (a window, so that drifting clocks are followed); how much later frames come than the baseline is
/// collected in a histogram that forgets, and a high percentile of it is the playout delay.
package struct PlayoutTiming {
  private static let binNanoseconds: Int64 = 5_000_000
  private static let binCount = 120
  private static let percentile = 0.95
  /// Weight that old frames keep with each new one: a memory of about 100 frames.
  private static let forgetting = 0.99
  private static let windowNanoseconds: Int64 = 4_000_000_000
  /// A transit this far from the baseline means that the source's clock jumped.
  private static let jumpNanoseconds: Int64 = 3_000_000_000

  private let clockRate: Int64
  private var minimum: Int64
  private let maximum: Int64
  private var histogram = [Double](repeating: 0, count: PlayoutTiming.binCount)
  private var weight = 0.0
  private var windowStart: Int64?
  private var currentMinimum = Int64.max
  private var previousMinimum = Int64.max
  private var lastRenderTime = Instant(nanoseconds: .min)
  /// The delay in use, in nanoseconds; follows the target smoothly.
  package private(set) var delay: Int64
  /// The delay that the histogram asks for, in nanoseconds.
  package private(set) var target: Int64

  package init(clockRate: Int, minimum: Duration, maximum: Duration) {
    self.clockRate = Int64(max(1, min(clockRate, 1_000_000_000)))
    self.minimum = max(0, minimum.wholeNanoseconds)
    self.maximum = max(self.minimum, maximum.wholeNanoseconds)
    delay = min(self.maximum, max(self.minimum, 10_000_000))
    target = delay
  }

  /// Keeps frames back for at least so long from now on.
  package mutating func setMinimum(_ value: Duration) {
    minimum = min(maximum, max(0, value.wholeNanoseconds))
    target = max(target, minimum)
  }

  /// A frame was completed at `now`. `isTypical` is false for frames that needed a retransmission: waiting for
  /// those is the jitter buffer's decision and not a property of the path.
  package mutating func frameCompleted(timestamp: Int64, isTypical: Bool, at now: Instant) {
    let transit = now.nanoseconds &- mediaNanoseconds(timestamp)
    if let baseline, (transit &- baseline).magnitude > PlayoutTiming.jumpNanoseconds {
      forgetClock()
    }
    if let start = windowStart {
      if now.nanoseconds &- start > PlayoutTiming.windowNanoseconds {
        previousMinimum = currentMinimum
        currentMinimum = .max
        windowStart = now.nanoseconds
      }
    } else {
      windowStart = now.nanoseconds
    }
    guard isTypical || baseline == nil else { return }
    currentMinimum = min(currentMinimum, transit)
    guard let baseline else { return }
    record(max(0, transit &- baseline))
  }

  /// When the frame is shown: when it is due, but by `latest`, not before `now`, and never before the one shown last.
  package func renderTime(timestamp: Int64, latest: Instant, at now: Instant) -> Instant {
    // Nothing is known before any frame was complete.
    let due = baseline.map { Instant(nanoseconds: mediaNanoseconds(timestamp) &+ $0 &+ delay) }
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
    windowStart = nil
    currentMinimum = .max
    previousMinimum = .max
  }

  private var baseline: Int64? {
    let smallest = min(currentMinimum, previousMinimum)
    return smallest == .max ? nil : smallest
  }

  private func mediaNanoseconds(_ timestamp: Int64) -> Int64 {
    let (seconds, ticks) = timestamp.quotientAndRemainder(dividingBy: clockRate)
    return seconds &* 1_000_000_000 &+ ticks * 1_000_000_000 / clockRate
  }

  private mutating func record(_ lateness: Int64) {
    let bin = Int(min(Int64(PlayoutTiming.binCount - 1), lateness / PlayoutTiming.binNanoseconds))
    for index in histogram.indices { histogram[index] *= PlayoutTiming.forgetting }
    histogram[bin] += 1
    weight = weight * PlayoutTiming.forgetting + 1

    var sum = 0.0
    var found = PlayoutTiming.binCount - 1
    for index in histogram.indices {
      sum += histogram[index]
      if sum >= weight * PlayoutTiming.percentile {
        found = index
        break
      }
    }
    target = min(maximum, max(minimum, Int64(found + 1) * PlayoutTiming.binNanoseconds))
    // Up fast, because lateness shows; down slowly, because speeding up shows too.
    let difference = target - delay
    delay += difference > 0 ? difference / 2 : difference / 32
    delay = min(maximum, max(minimum, delay))
  }
}
