public import SoraMedia

/// How much of the time between two frames encoding takes, smoothed, and what follows from it. Confined to its owner.
public struct EncoderLoad: Sendable {
  /// What the latest frames say.
  public enum Verdict: Sendable, Hashable { case overused, fine }

  /// What counts as too much.
  public struct Limits: Sendable, Hashable {
    /// Over this the encoder can't keep up when anything else happens.
    public var high: Double
    /// A step up must not be expected to lead above this.
    public var acceptable: Double
    /// Frames that tell nothing yet, because there are so few of them.
    public var unsettledFrames: Int
    /// So many frames in a row must be too slow.
    public var overusedFrames: Int

    /// Loads are shares of the time between two frames; 1 is all of it.
    public init(high: Double, acceptable: Double, unsettledFrames: Int, overusedFrames: Int) {
      self.high = high
      self.acceptable = acceptable
      self.unsettledFrames = unsettledFrames
      self.overusedFrames = overusedFrames
    }

    /// For smaller or rarer frames: libwebrtc's `high_encode_usage_threshold_percent`.
    public static let reduction = Limits(
      high: 0.85, acceptable: 0.7, unsettledFrames: 9, overusedFrames: 20)
    /// For a faster setting of the library, which comes first: nobody misses a frame for it.
    public static let speed = Limits(
      high: 0.65, acceptable: 0.45, unsettledFrames: 3, overusedFrames: 6)
  }

  private static let weight = 0.1
  private static let firstWait = Duration.seconds(5)
  private static let longestWait = Duration.seconds(120)

  /// What it judges by.
  public let limits: Limits
  /// Time to encode ÷ time between frames; nil until enough frames have been seen.
  public private(set) var usage: Double?
  private var smoothed = 0.0
  private var samples = 0
  private var overused = 0
  private var relaxedSince: Instant?
  private var wait = firstWait
  private var lastStepUp: Instant?

  /// Begins without a measurement.
  public init(_ limits: Limits) { self.limits = limits }

  /// Counts one frame.
  ///
  /// - Parameters:
  ///   - encodeTime: how long it took.
  ///   - interval: the time until the next frame is wanted.
  public mutating func add(_ encodeTime: Duration, interval: Duration) -> Verdict {
    let wanted = max(interval.inSeconds, 0.001)
    // One frame that a page fault or another program stopped for long says nothing of the next ones.
    let sample = min(encodeTime.inSeconds / wanted, 4)
    samples += 1
    smoothed += (sample - smoothed) * max(Self.weight, 1 / Double(samples))
    guard samples > limits.unsettledFrames else { return .fine }
    usage = smoothed
    overused = smoothed >= limits.high ? overused + 1 : 0
    return overused >= limits.overusedFrames ? .overused : .fine
  }

  /// Whether there has been room for `factor` times the work for long enough.
  ///
  /// - Parameters:
  ///   - factor: how much more a step up costs.
  ///   - now: the owner's time.
  public mutating func canTakeMore(_ factor: Double, at now: Instant) -> Bool {
    guard let usage, usage * factor <= limits.acceptable else {
      relaxedSince = nil
      return false
    }
    let since = relaxedSince ?? now
    relaxedSince = since
    return now - since >= wait
  }

  /// A step down was taken: what was measured is past. One that follows soon upon a step up shows that it was too
  /// early, and the next one waits twice as long.
  public mutating func steppedDown(at now: Instant) {
    if let lastStepUp {
      wait = now - lastStepUp < wait * 2 ? min(wait * 2, Self.longestWait) : Self.firstWait
    }
    lastStepUp = nil
    forget()
  }

  /// A step up was taken: what was measured is past.
  public mutating func steppedUp(at now: Instant) {
    lastStepUp = now
    forget()
  }

  /// Measures anew, because the work has changed.
  public mutating func forget() {
    usage = nil
    smoothed = 0
    samples = 0
    overused = 0
    relaxedSince = nil
  }
}
