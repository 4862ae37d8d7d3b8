public import SoraMedia

/// Keeps audio and video of one sender in step: compares when each was captured, by the sender reports (RFC 3550 §6.4.1), with when
/// it is played, and says how long the one that is early is to be held back.
///
/// What is early is held back by its buffer's least delay, and what is late isn't hurried beyond what its own path asks for. Plain
/// memory and no clock of its own.
public struct PlayoutSynchronizer: Sendable {
  /// What one medium plays at a moment.
  public struct Playing: Sendable, Hashable {
    /// When it was captured, on the sender's wall clock.
    public var captured: NTPTime
    /// When it is played here.
    public var played: Instant
    /// What its buffer holds it back, counted from its fastest packets.
    public var delay: Duration

    public init(captured: NTPTime, played: Instant, delay: Duration) {
      self.captured = captured
      self.played = played
      self.delay = delay
    }

    /// How much later than captured, up to a constant that both media of a sender have in common.
    fileprivate var lateness: Int64 { played.nanoseconds &- captured.unixNanoseconds }
  }

  /// Nothing is held back for longer for the other's sake.
  public static let longestHold = Duration.milliseconds(400)
  /// Time between two corrections: a buffer needs some to follow one.
  private static let interval = Duration.seconds(1)
  /// A difference that nobody notices and that noise makes.
  private static let tolerance: Int64 = 5_000_000
  /// Audio is stretched by so much within a second without being heard.
  private static let longestStep: Int64 = 80_000_000
  /// A delay that is so far from the least that was asked for isn't due to it.
  private static let slack: Int64 = 20_000_000
  /// Clocks that are so far apart aren't the same: the reports say nothing.
  private static let implausible: Int64 = 10_000_000_000

  /// The least delay that the audio's buffer is to keep.
  public private(set) var audioHold = Duration.zero
  /// The least delay that the video's buffer is to keep.
  public private(set) var videoHold = Duration.zero
  /// How much later than the audio the video was played in the last second, of what was captured together; negative where it was
  /// played sooner, nil before both were played.
  public private(set) var offset: Duration?

  private var sum: Int64 = 0
  private var count: Int64 = 0
  private var nextCorrection: Instant?

  public init() {}

  /// Takes what both play at present, and corrects `audioHold` and `videoHold` once a second. Some times per second.
  public mutating func update(audio: Playing, video: Playing, at now: Instant) {
    let difference = video.lateness &- audio.lateness
    guard difference.magnitude < Self.implausible.magnitude else { return }
    sum &+= difference
    count += 1
    guard let due = nextCorrection else {
      nextCorrection = now + Self.interval
      return
    }
    guard due <= now else { return }
    nextCorrection = now + Self.interval
    let mean = sum / count
    (sum, count) = (0, 0)
    offset = .nanoseconds(mean)
    guard mean.magnitude > Self.tolerance.magnitude else { return }
    if mean > 0 {
      Self.correct(
        by: mean, early: &audioHold, earlyDelay: audio.delay, late: &videoHold,
        lateDelay: video.delay)
    } else {
      Self.correct(
        by: -mean, early: &videoHold, earlyDelay: video.delay, late: &audioHold,
        lateDelay: audio.delay)
    }
  }

  /// Moves the two together by up to `difference` nanoseconds: the late one is let go before the early one is held.
  private static func correct(
    by difference: Int64, early: inout Duration, earlyDelay: Duration, late: inout Duration,
    lateDelay: Duration
  ) {
    let step = min(difference, longestStep)
    let held = late.wholeNanoseconds
    if held > 0 {
      // Where the path asks for more than the hold, letting go of it changes nothing.
      let isInForce = lateDelay.wholeNanoseconds <= held + slack
      late = .nanoseconds(isInForce ? max(0, held - step) : 0)
      if isInForce { return }
    }
    let current = earlyDelay.wholeNanoseconds
    // It hasn't followed the last correction yet.
    guard current + slack >= early.wholeNanoseconds else { return }
    early = min(longestHold, .nanoseconds(max(current, early.wholeNanoseconds) + step))
  }
}
