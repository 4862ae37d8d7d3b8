/// Bounds the rate by what is lost (draft-ietf-rmcat-gcc-02 §6), without mistaking a radio link's loss for congestion.
///
/// The draft lets loss alone drive a rate that starts low and only grows below 2 % loss, so a link that always loses 2 %
/// never gets off the ground. Here there is no bound until loss exceeds 10 %; then it falls as the draft says, holds
/// between, grows below 2 %, and goes when the delay-based rate is well below it. Whether the rate makes the loss is tried
/// (`LossTrial`): as the rate falls, and where it is held, by a lower one for a second or two. What it doesn't make is discounted,
/// and the rate goes back to where it was; from time to time that is tried again.
struct LossControl {
  /// §6: below this loss the bound grows.
  private static let low = 0.02
  /// §6: above this loss the bound falls.
  private static let high = 0.10
  /// The same beside loss that is discounted.
  private static let highBeside = 0.05
  /// After so long a discount is tried again.
  private static let inherentLifetime: Int64 = 30_000_000_000
  /// How long a rate is held before a lower one is tried.
  private static let patience: Int64 = 1_500_000_000
  /// The window that begins a trial may be one that lost more than others by chance: what is lost on average counts, but for a part of
  /// what it lost itself, which may be the first of more.
  private static let averaging = 0.25
  private static let sudden = 0.75
  /// What `isEven` asks for.
  private static let much = 0.03

  /// Bits per second; `nil` while loss sets no bound.
  private(set) var bound: Double?
  /// Share of the packets of the latest full window that were lost, 0...1.
  private(set) var fraction = 0.0
  /// The same, smoothed over some windows.
  private var average = 0.0
  /// Loss that doesn't depend on the rate.
  private(set) var inherent = 0.0

  private var window = LossWindow()
  private var pattern = LossPattern()
  private var lastChange: Int64 = 0
  private var inherentSince: Int64 = 0
  private var trial: LossTrial?

  /// Whether much is lost, as chance does it.
  var isEven: Bool { average > Self.much && pattern.isEven }

  /// Counts one packet of a feedback message.
  mutating func add(sequence: Int64, isLost: Bool) {
    window.add(sequence: sequence, isLost: isLost)
  }

  /// Looks at the window after a feedback message.
  ///
  /// - Parameters:
  ///   - target: the rate that was in use.
  ///   - delayBased: what the delay allows.
  ///   - lastDecrease: when the delay lowered the rate last. What was lost before says nothing of the rate since, which
  ///     another decrease would bring far below what the link takes.
  mutating func update(
    target: Double, delayBased: Double, lastDecrease: Int64?, roundTrip: Int64, at now: Int64
  ) {
    guard let counts = window.end(at: now) else { return }
    fraction = counts.fraction
    average += Self.averaging * (fraction - average)
    pattern.add(counts)
    if inherent > 0, now &- inherentSince > Self.inherentLifetime {
      reconsider(target: target, at: now)
    }
    judge(counts, target: target, at: now)
    let relevant = max(0, (fraction - inherent) / (1 - inherent))
    // A standard deviation, so that a few packets more than usual in a small window decide nothing.
    let doubt = (relevant * (1 - relevant) / Double(counts.packets)).squareRoot()
    let elapsed = Double(min(now &- lastChange, 1_000_000_000)) / 1e9
    if relevant - doubt > (inherent > 0 ? Self.highBeside : Self.high) {
      guard now &- lastChange >= roundTrip &+ 300_000_000 else { return }
      if let lastDecrease, now &- lastDecrease < roundTrip &+ LossWindow.length { return }
      decrease(relevant, target: target, at: now)
    } else if let bound {
      if relevant < Self.low {
        // Little beside what is discounted says nothing of that.
        if let trial, trial.isJudged(at: target) { return }
        trial = nil
        self.bound = bound * (1 + 0.08 * elapsed) + 1_000 * elapsed
        lastChange = now
        if bound > 1.3 * delayBased { self.bound = nil }
      } else if relevant - doubt > Self.low, target > 0.95 * bound,
        now &- lastChange >= Self.patience
      {
        tryLess(target: target, at: now)
      }
    }
  }

  private mutating func decrease(_ loss: Double, target: Double, at now: Int64) {
    if trial == nil {
      trial = LossTrial(rate: target, loss: max(average, Self.sudden * fraction))
    }
    // §6: As_hat(i) = As_hat(i-1) * (1 - 0.5 p).
    bound = min(bound ?? target, target) * (1 - 0.5 * loss)
    lastChange = now
  }

  /// Between growing and falling the draft holds the rate, and where it lost by chance that would be for long: what a lower one does
  /// shows at once whose doing the loss is.
  private mutating func tryLess(target: Double, at now: Int64) {
    let trial = self.trial ?? LossTrial(rate: target, loss: average)
    self.trial = trial
    bound = min(target, trial.lowerRate)
    lastChange = now
  }

  /// What was found half a minute ago needn't be so any more.
  private mutating func reconsider(target: Double, at now: Int64) {
    inherentSince = now
    if average < Self.low {
      inherent = 0
    } else if trial == nil {
      tryLess(target: target, at: now)
    }
  }

  private mutating func judge(_ counts: LossWindow.Counts, target: Double, at now: Int64) {
    guard
      let verdict = trial?.add(
        counts.lost, of: counts.packets, at: target, average: average),
      let rate = trial?.rate
    else { return }
    switch verdict {
    case .undecided: return
    case .made(let share): inherent = min(inherent, share)
    case .inherent(let share):
      inherent = share
      inherentSince = now
      lastChange = now
      bound = max(bound ?? rate, rate)
    }
    trial = nil
  }

  /// A probe got through at this rate.
  mutating func raise(to rate: Double) {
    if let bound, bound < rate { self.bound = rate }
  }
}
