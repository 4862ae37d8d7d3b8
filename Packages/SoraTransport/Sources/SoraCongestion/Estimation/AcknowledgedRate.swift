/// The rate at which packets arrive at the receiver: draft-ietf-rmcat-gcc-02 §5.5's R_hat.
///
/// Windows of arrivals are blended by a scalar Kalman filter that trusts a sample the less, the farther it is from the
/// estimate, so that one odd window doesn't move it and a real change does within a few.
struct AcknowledgedRate {
  private static let firstWindow: Int64 = 500_000_000
  private static let window: Int64 = 150_000_000
  private static let burst: Int64 = 500_000_000

  /// Bits per second; `nil` until the first window is full.
  private(set) var estimate: Double?
  private var variance = 50.0
  private var windowStart: Int64?
  private var bytes = 0
  private var lastArrival: Int64 = .min
  /// The newest windows by themselves.
  private var samples: (newest: Double, before: Double) = (0, 0)
  private var lastSample: Int64 = .min / 2

  /// Takes a packet that arrived (receiver's clock, nanoseconds).
  mutating func add(size: Int, arrived: Int64, isApplicationLimited: Bool) {
    guard let start = windowStart else {
      windowStart = arrived
      lastArrival = arrived
      return
    }
    // A pause: what it would say is about the application, not the network.
    if arrived &- lastArrival > 1_000_000_000 || arrived < start &- 1_000_000_000 {
      windowStart = arrived
      lastArrival = arrived
      bytes = 0
      return
    }
    lastArrival = max(lastArrival, arrived)
    bytes += size
    let elapsed = lastArrival &- start
    guard elapsed >= (estimate == nil ? Self.firstWindow : Self.window) else { return }
    let sample = Double(bytes) * 8e9 / Double(elapsed)
    windowStart = lastArrival
    bytes = 0
    samples = (sample, lastArrival &- lastSample < Self.burst ? samples.newest : 0)
    lastSample = lastArrival
    blend(sample, isApplicationLimited: isApplicationLimited)
  }

  private mutating func blend(_ sample: Double, isApplicationLimited: Bool) {
    guard let old = estimate else {
      estimate = sample
      return
    }
    // In kilobits. A low sample while the application has little to send weighs less.
    let scale = isApplicationLimited && sample < old ? 20.0 : 10.0
    let deviation = scale * abs(old - sample) / max(old, 25_000)
    let sampleVariance = max(deviation * deviation, 0.01)
    let predicted = variance + 5
    let weight = predicted / (predicted + sampleVariance)
    estimate = max(0, old + weight * (sample - old))
    variance = predicted * (1 - weight)
  }

  /// The rate at which a burst arrives that an application sends which paused before: the pause isn't the network's, and
  /// the estimate still has it in.
  var burstRate: Double? { estimate.map { max($0, samples.newest, samples.before) } }

  /// The rate at which packets leave a queue that never runs empty. The newest windows are the link's own, whatever was before.
  var busyRate: Double? {
    estimate.map { min($0, max(samples.newest, samples.before, 1)) }
  }

  /// A probe showed that the path carries this much.
  mutating func raise(to rate: Double) {
    guard let estimate, estimate < rate else { return }
    self.estimate = rate
  }
}
