/// What the delay says about the bottleneck's queue (draft-ietf-rmcat-gcc-02 §5.4).
public enum NetworkUsage: Sendable, Hashable {
  /// The queue empties: less is sent than the link carries.
  case underuse
  case normal
  /// The queue grows: more is sent than the link carries.
  case overuse
}

/// Watches the trend of the one-way delay and calls over-use.
///
/// Where the draft (§5.3) estimates the delay gradient with a Kalman filter, this fits a line through the smoothed,
/// accumulated delay of the latest groups, as later implementations do: it needs no model of the noise.
struct DelayDetector {
  private static let window = 20
  private static let smoothing = 0.9
  /// Scales slopes to the range of the draft's threshold.
  private static let gain = 4.0
  private static let countLimit = 60
  /// §5.4: how long the trend has to stay above the threshold.
  private static let overuseTime = 10.0

  private(set) var usage = NetworkUsage.normal
  /// §5.4: del_var_th, milliseconds.
  private var threshold = 12.5

  private var times: [Double]
  private var delays: [Double]
  private var next = 0
  private var filled = 0
  private var groups = 0
  private var origin: Int64?
  private var accumulated = 0.0
  private var smoothed = 0.0
  private var previousTrend = 0.0
  private var timeOver = -1.0
  private var countOver = 0
  private var lastThresholdUpdate: Double?

  init() {
    times = Array(repeating: 0, count: Self.window)
    delays = Array(repeating: 0, count: Self.window)
  }

  /// Forgets the past after a pause or a clock's jump.
  mutating func reset() {
    next = 0
    filled = 0
    groups = 0
    origin = nil
    accumulated = 0
    smoothed = 0
    previousTrend = 0
    timeOver = -1
    countOver = 0
    usage = .normal
  }

  mutating func update(_ difference: InterArrival.Difference, arrived: Int64) {
    if origin == nil { origin = arrived }
    let time = Double(arrived &- (origin ?? arrived)) / 1e6
    accumulated += Double(difference.arrivalDelta &- difference.sendDelta) / 1e6
    smoothed = Self.smoothing * smoothed + (1 - Self.smoothing) * accumulated
    times[next] = time
    delays[next] = smoothed
    next = (next + 1) % Self.window
    filled = min(filled + 1, Self.window)
    groups = min(groups + 1, 1_000)
    let trend = filled == Self.window ? slope() : previousTrend
    detect(trend, sendDelta: Double(difference.sendDelta) / 1e6, at: time)
  }

  /// The least-squares slope of delay over time; both in milliseconds.
  private func slope() -> Double {
    var sumTime = 0.0
    var sumDelay = 0.0
    for index in 0..<Self.window {
      sumTime += times[index]
      sumDelay += delays[index]
    }
    let meanTime = sumTime / Double(Self.window)
    let meanDelay = sumDelay / Double(Self.window)
    var numerator = 0.0
    var denominator = 0.0
    for index in 0..<Self.window {
      let distance = times[index] - meanTime
      numerator += distance * (delays[index] - meanDelay)
      denominator += distance * distance
    }
    return denominator > 0 ? numerator / denominator : previousTrend
  }

  private mutating func detect(_ trend: Double, sendDelta: Double, at time: Double) {
    guard groups >= 2 else { return }
    let scaled = Double(min(groups, Self.countLimit)) * trend * Self.gain
    if scaled > threshold {
      timeOver = timeOver < 0 ? sendDelta / 2 : timeOver + sendDelta
      countOver += 1
      // §5.4: not while the trend already falls.
      if timeOver > Self.overuseTime, countOver > 1, trend >= previousTrend {
        timeOver = 0
        countOver = 0
        usage = .overuse
      }
    } else {
      timeOver = -1
      countOver = 0
      usage = scaled < -threshold ? .underuse : .normal
    }
    previousTrend = trend
    adaptThreshold(abs(scaled), at: time)
  }

  /// §5.4: the threshold follows the trend, slowly upwards so that other flows can't starve this one, and doesn't follow
  /// sudden peaks.
  private mutating func adaptThreshold(_ magnitude: Double, at time: Double) {
    let elapsed = min(max(time - (lastThresholdUpdate ?? time), 0), 100)
    lastThresholdUpdate = time
    guard magnitude <= threshold + 15 else { return }
    let speed = magnitude < threshold ? 0.039 : 0.0087
    threshold += speed * (magnitude - threshold) * elapsed
    threshold = min(max(threshold, 6), 600)
  }
}
