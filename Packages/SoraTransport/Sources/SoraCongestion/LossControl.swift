/// Bounds the rate by what is lost (draft-ietf-rmcat-gcc-02 §6), without mistaking a radio link's loss for congestion.
///
/// The draft lets loss alone drive a rate that starts low and only grows below 2 % loss, so a link that always loses 2 %
/// never gets off the ground. Here there is no bound until loss exceeds 10 %; then it falls as the draft says, holds
/// between, grows below 2 %, and goes when the delay-based rate is well below it. Loss that stays the same after the
/// rate has fallen by a quarter isn't made by the rate: it is discounted for a while.
struct LossControl {
  /// §6: below this loss the bound grows.
  private static let low = 0.02
  /// §6: above this loss the bound falls.
  private static let high = 0.10
  private static let window: Int64 = 500_000_000
  private static let enoughPackets = 30
  private static let inherentLifetime: Int64 = 30_000_000_000
  private static let largestInherent = 0.3

  /// Bits per second; `nil` while loss sets no bound.
  private(set) var bound: Double?
  /// Share of the packets of the latest full window that were lost, 0...1.
  private(set) var fraction = 0.0
  /// Loss that doesn't depend on the rate.
  private(set) var inherent = 0.0

  private var lost = 0
  private var received = 0
  private var windowStart: Int64?
  private var lastChange: Int64 = 0
  private var inherentSince: Int64 = 0
  private var highestReported: Int64 = -1
  // Where the present decrease began.
  private var episodeRate: Double?
  private var episodeLoss = 0.0

  /// Counts one packet of a feedback message.
  mutating func add(sequence: Int64, isLost: Bool) {
    let isNew = sequence > highestReported
    if isNew { highestReported = sequence }
    if isLost {
      if isNew { lost += 1 }
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
    let count = max(0, lost) + received
    guard now &- start >= Self.window, count >= Self.enoughPackets else { return }
    fraction = Double(max(0, lost)) / Double(count)
    windowStart = now
    lost = 0
    received = 0
    if inherent > 0, now &- inherentSince > Self.inherentLifetime { inherent = 0 }
    let relevant = max(0, (fraction - inherent) / (1 - inherent))
    // A standard deviation, so that a few packets more than usual in a small window decide nothing.
    let doubt = (relevant * (1 - relevant) / Double(count)).squareRoot()
    let elapsed = Double(min(now &- lastChange, 1_000_000_000)) / 1e9
    if relevant - doubt > Self.high {
      guard now &- lastChange >= roundTrip &+ 300_000_000 else { return }
      if let lastDecrease, now &- lastDecrease < roundTrip &+ Self.window { return }
      decrease(relevant, target: target, at: now)
    } else if let bound {
      if relevant < Self.low {
        episodeRate = nil
        self.bound = bound * (1 + 0.08 * elapsed) + 1_000 * elapsed
        lastChange = now
        if bound > 1.3 * delayBased { self.bound = nil }
      } else {
        judge(target: target, at: now)
      }
    }
  }

  private mutating func decrease(_ loss: Double, target: Double, at now: Int64) {
    if episodeRate == nil {
      episodeRate = target
      episodeLoss = fraction
    }
    judge(target: target, at: now)
    guard inherentSince != now else { return }
    // §6: As_hat(i) = As_hat(i-1) * (1 - 0.5 p).
    bound = min(bound ?? target, target) * (1 - 0.5 * loss)
    lastChange = now
  }

  /// Whether loss has stayed while the rate fell.
  private mutating func judge(target: Double, at now: Int64) {
    guard let rate = episodeRate, target < 0.75 * rate else { return }
    if fraction > 0.7 * episodeLoss, fraction <= Self.largestInherent {
      inherent = min(fraction, Self.largestInherent)
      inherentSince = now
      lastChange = now
    }
    episodeRate = nil
  }

  /// A probe got through at this rate.
  mutating func raise(to rate: Double) {
    if let bound, bound < rate { self.bound = rate }
  }
}
