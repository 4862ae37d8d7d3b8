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
  private static let window: Int64 = 500_000_000
  private static let enoughPackets = 30
  /// After so long a discount is tried again.
  private static let inherentLifetime: Int64 = 30_000_000_000
  /// How long a rate is held before a lower one is tried.
  private static let patience: Int64 = 1_500_000_000
  /// The window that begins a trial may be one that lost more than others by chance: what is lost on average counts, but for a part of
  /// what it lost itself, which may be the first of more.
  private static let averaging = 0.25
  private static let sudden = 0.75
  /// What `isEven` asks for, and the weight of a window in it.
  private static let much = 0.03
  private static let even = 0.6
  private static let spreading = 0.125
  /// How much oftener than others a packet may be lost that follows a lost one: by this factor and, as so few are counted, this share.
  private static let apart = (factor: 1.2, doubt: 0.03)

  /// Bits per second; `nil` while loss sets no bound.
  private(set) var bound: Double?
  /// Share of the packets of the latest full window that were lost, 0...1.
  private(set) var fraction = 0.0
  /// The same, smoothed over some windows.
  private var average = 0.0
  /// Share of the latest windows, some eight, that lost anything.
  private var spread = 0.0
  /// Of these windows, smoothed as they are: how many packets a window has, how many are lost, and how many of them behind a lost one.
  private var counts = (packets: 0.0, lost: 0.0, following: 0.0)
  /// Loss that doesn't depend on the rate.
  private(set) var inherent = 0.0

  /// Whether much is lost, in nearly every window, and behind a lost packet hardly more than elsewhere, as chance does it: a queue that
  /// overflows loses many at once and then none, and a short one, that overflows with every frame, the last packets of each.
  var isEven: Bool {
    guard average > Self.much, spread > Self.even else { return false }
    let expected = Self.apart.factor * counts.lost / max(counts.packets, 1) + Self.apart.doubt
    return counts.following < expected * counts.lost
  }

  // Of the packets that feedback has named since the latest window ended.
  private var lost = 0
  private var received = 0
  private var following = 0
  private var lastLost: Int64 = .min / 2
  private var windowStart: Int64?
  private var lastChange: Int64 = 0
  private var inherentSince: Int64 = 0
  private var highestReported: Int64 = -1
  private var trial: LossTrial?

  /// Counts one packet of a feedback message.
  mutating func add(sequence: Int64, isLost: Bool) {
    let isNew = sequence > highestReported
    if isNew { highestReported = sequence }
    if isLost {
      guard isNew else { return }
      lost += 1
      if sequence == lastLost + 1 { following += 1 }
      lastLost = sequence
    } else {
      received += 1
      // Reported lost before, only late; maybe in the window before, which leaves a debt.
      if !isNew { lost -= 1 }
    }
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
    guard let start = windowStart else {
      windowStart = now
      return
    }
    let lost = max(0, self.lost)
    let count = lost + received
    guard now &- start >= Self.window, count >= Self.enoughPackets else { return }
    windowStart = now
    self.lost = 0
    received = 0
    fraction = Double(lost) / Double(count)
    average += Self.averaging * (fraction - average)
    spread += Self.spreading * ((lost > 0 ? 1 : 0) - spread)
    counts.packets += Self.spreading * (Double(count) - counts.packets)
    counts.lost += Self.spreading * (Double(lost) - counts.lost)
    counts.following += Self.spreading * (Double(following) - counts.following)
    following = 0
    if inherent > 0, now &- inherentSince > Self.inherentLifetime {
      reconsider(target: target, at: now)
    }
    judge(lost, of: count, target: target, at: now)
    let relevant = max(0, (fraction - inherent) / (1 - inherent))
    // A standard deviation, so that a few packets more than usual in a small window decide nothing.
    let doubt = (relevant * (1 - relevant) / Double(count)).squareRoot()
    let elapsed = Double(min(now &- lastChange, 1_000_000_000)) / 1e9
    if relevant - doubt > (inherent > 0 ? Self.highBeside : Self.high) {
      guard now &- lastChange >= roundTrip &+ 300_000_000 else { return }
      if let lastDecrease, now &- lastDecrease < roundTrip &+ Self.window { return }
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

  private mutating func judge(_ lost: Int, of count: Int, target: Double, at now: Int64) {
    guard let verdict = trial?.add(lost, of: count, at: target, average: average),
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
