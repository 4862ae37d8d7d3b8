/// Turns over-use into a rate: additive and multiplicative increase, multiplicative decrease
/// (draft-ietf-rmcat-gcc-02 §5.5). Rates in bits per second, times in nanoseconds.
struct RateControl {
  private enum State { case hold, increase, decrease }

  /// §5.5: beta.
  private static let decreaseFactor = 0.85
  /// §5.5: eta, per second.
  private static let increasePerSecond = 1.08

  /// Near the capacity, at the usual rate: bits per second, per second. §5.5's half a packet per response time is a fourth of it, with
  /// which two flows take minutes to share a link, and one takes half a minute to come back from a decrease that it needn't have made.
  /// Slower flows grow faster and the other way round: that brings them together though they don't notice over-use equally often.
  private static let additive = 80_000.0
  private static let usualRate = 2_000_000.0
  /// What of the rate it is at most, so that slow links aren't overshot.
  private static let additiveShare = 0.08

  private static let calm = 2e9
  private static let mostHaste = 3.0
  private static let packet = 9_600.0
  private static let scalableShare = 0.1

  private(set) var rate: Double
  var bounds: ClosedRange<Double>
  private var state = State.hold
  /// When the rate was decreased last.
  private(set) var lastDecrease: Int64?
  private var lastUpdate: Int64?
  // The average and the spread of the rate at which over-use was seen, in kbit/s: where the link's capacity is taken to be.
  private var capacity: Double?
  private var capacityDeviation = 0.4

  /// Whether it grows near the capacity as §5.5 has it, for who can't make what is sent a little smaller.
  private let isCautious: Bool

  init(rate: Double, bounds: ClosedRange<Double>, isCautious: Bool) {
    self.rate = rate
    self.bounds = bounds
    self.isCautious = isCautious
  }

  /// Takes what a probe has shown.
  ///
  /// - Parameters:
  ///   - measured: what can be sent.
  ///   - limit: what arrives at most, where the probe was slowed down.
  mutating func probed(_ measured: Double, limit: Double?) {
    // A rate that is higher grows carefully behind a limit, for who can't take it back bit by bit. Encoders that share a link come
    // apart where each keeps to what a short burst has seen.
    guard measured > rate || isCautious else { return }
    // Beyond where over-use was seen: the link has changed.
    if let upper = upperCapacity, measured > upper { capacity = nil }
    if let limit, capacity == nil { noteCapacity(limit / 1_000) }
    raise(to: measured)
  }

  /// Takes a rate that the path carries.
  mutating func raise(to measured: Double) {
    if measured > rate { rate = clamp(measured) }
  }

  /// Lowers the rate for a reason of its own (no feedback).
  mutating func lower(by factor: Double) { rate = clamp(rate * factor) }

  /// One answer to marks of L4S: lowers the rate in proportion to them, and raises it by a packet each round trip all the same, as
  /// DCTCP's window grows (RFC 8257 §3.3), so that there is a share of marks at which it stays. No more than a part of the rate: on short
  /// paths a packet a round trip is much.
  mutating func scale(by factor: Double, acknowledged: Double?, roundTrip: Int64) {
    let trip = max(Double(roundTrip) / 1e9, 0.025)
    let lowered = rate * factor
    let raised = lowered + min(Self.packet / trip, Self.scalableShare * rate)
    rate = clamp(bounded(raised, from: lowered, by: acknowledged))
  }

  /// §5.5: not beyond one and a half times what arrives, or an application with little to send would raise it for ever.
  private func bounded(_ raised: Double, from rate: Double, by acknowledged: Double?) -> Double {
    guard let acknowledged else { return raised }
    return min(raised, max(rate, 1.5 * acknowledged + 10_000))
  }

  /// Lowers the rate to what arrives.
  mutating func lower(to arriving: Double) { rate = clamp(min(rate, arriving)) }

  /// One step after feedback; among flows that fill the queue it grows as they do.
  mutating func update(
    _ usage: NetworkUsage, acknowledged: Double?, roundTrip: Int64, isCompeting: Bool = false,
    at now: Int64
  ) {
    // §5.5: the state machine.
    switch usage {
    case .overuse: state = .decrease
    case .underuse: state = .hold
    case .normal: if state == .hold { state = .increase }
    }
    let elapsed = Double(min(max(now &- (lastUpdate ?? now), 0), 1_000_000_000)) / 1e9
    lastUpdate = now
    switch state {
    case .hold: break
    case .increase where isCompeting:
      // A packet more each round trip (RFC 5681 §3.1).
      let trip = max(Double(roundTrip) / 1e9, 0.05)
      rate = clamp(rate + Self.packet / (trip * trip) * elapsed)
    case .increase: increase(acknowledged, roundTrip: roundTrip, elapsed: elapsed, at: now)
    case .decrease: decrease(acknowledged, roundTrip: roundTrip, at: now)
    }
  }

  private mutating func increase(
    _ acknowledged: Double?, roundTrip: Int64, elapsed: Double, at now: Int64
  ) {
    if let acknowledged, let upper = upperCapacity, acknowledged > upper { capacity = nil }
    var increased = rate
    if capacity != nil {
      increased += max(additiveGrowth(roundTrip: roundTrip, at: now), 4_000) * elapsed
    } else {
      increased = rate * pow108(elapsed) + 1_000 * elapsed
    }
    rate = clamp(bounded(increased, from: rate, by: acknowledged))
  }

  /// Bits per second, per second.
  private func additiveGrowth(roundTrip: Int64, at now: Int64) -> Double {
    if isCautious {
      // §5.5: half a packet per response time.
      let frame = rate / 30
      let packets = max(1, (frame / Self.packet).rounded(.up))
      return frame / packets / (2 * (Double(roundTrip) / 1e9 + 0.1))
    }
    let growth = Self.additive * min(max(Self.usualRate / rate, 0.5), 2) * haste(at: now)
    return min(growth, Self.additiveShare * rate)
  }

  /// The longer ago the latest decrease is, the farther away the capacity seems to be.
  private func haste(at now: Int64) -> Double {
    guard let lastDecrease else { return 1 }
    return min(max(Double(now &- lastDecrease) / Self.calm, 1), Self.mostHaste)
  }

  private mutating func decrease(_ acknowledged: Double?, roundTrip: Int64, at now: Int64) {
    state = .hold
    let arriving = acknowledged ?? rate
    // The effect of a decrease shows after a round trip.
    let pause = min(max(roundTrip, 10_000_000), 200_000_000)
    if let lastDecrease, now &- lastDecrease < pause, arriving > rate / 2 { return }
    var target = Self.decreaseFactor * arriving
    if target > rate, let capacity { target = Self.decreaseFactor * capacity * 1_000 }
    if let capacity, arriving < capacity * 1_000 - 3_000 * deviation(capacity) {
      self.capacity = nil
    }
    noteCapacity(arriving / 1_000)
    rate = clamp(min(rate, target))
    lastDecrease = now
  }

  private mutating func noteCapacity(_ sample: Double) {
    guard let old = capacity else {
      capacity = sample
      return
    }
    let updated = 0.95 * old + 0.05 * sample
    let error = updated - sample
    capacityDeviation = 0.95 * capacityDeviation + 0.05 * error * error / max(updated, 1)
    capacityDeviation = min(max(capacityDeviation, 0.4), 2.5)
    capacity = updated
  }

  private func deviation(_ capacity: Double) -> Double {
    (capacityDeviation * capacity).squareRoot()
  }

  private var upperCapacity: Double? {
    capacity.map { ($0 + 3 * deviation($0)) * 1_000 }
  }

  private func clamp(_ value: Double) -> Double {
    min(max(value, bounds.lowerBound), bounds.upperBound)
  }

  /// 1.08 to the power of 0...1, without libm so that every machine gets the same bits: the exponential's series.
  private func pow108(_ exponent: Double) -> Double {
    let x = 0.076_961_041_136_128_4 * exponent
    return 1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4)))
  }
}
