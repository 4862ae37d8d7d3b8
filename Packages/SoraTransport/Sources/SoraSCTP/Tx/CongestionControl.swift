/// How much may be on the way: slow start with HyStart++ (RFC 9406), then CUBIC (RFC 9438), by the bytes that are acknowledged. It begins
/// with ten packets (RFC 6928) and never has less than one; what happens at losses and timeouts is RFC 9260 §7.2 with CUBIC's factor.
struct CongestionControl {
  private var mtu: Int
  private(set) var window: Int
  private(set) var threshold = Int.max
  private var cubic = CubicGrowth()
  private var start = SlowStartExit()

  init(mtu: Int) {
    self.mtu = mtu
    window = 10 * mtu
  }

  mutating func setMTU(_ mtu: Int) {
    self.mtu = mtu
    window = max(window, mtu)
  }

  var isSlowStart: Bool { window < threshold }

  /// Bytes were acknowledged while the window was used, and nothing was lost.
  mutating func acknowledged(_ bytes: Int, roundTrip: Int64, at nanoseconds: Int64) {
    guard isSlowStart else {
      window += cubic.growth(
        bytes, window: window, mtu: mtu, roundTrip: roundTrip, at: nanoseconds)
      return
    }
    // RFC 9406 §4.2: a conservative slow start grows by a fourth.
    window += min(bytes, 16 * mtu) / (start.isConservative ? 4 : 1)
  }

  /// A round trip was measured; `sent` is the TSN that was sent last, `cumulative` what is acknowledged.
  mutating func measured(_ roundTrip: Int64, sent: Int64, cumulative: Int64) {
    guard isSlowStart else { return }
    if start.sample(roundTrip, sent: sent, cumulative: cumulative) { threshold = window }
  }

  /// Something was lost, for the first time since what is on the way was sent.
  mutating func lost() {
    cubic.lost(window: window, mtu: mtu)
    threshold = max(window * 7 / 10, 4 * mtu)
    window = threshold
    start = SlowStartExit()
  }

  /// Nothing came for so long that what is on the way is taken for lost.
  mutating func timedOut() {
    cubic.lost(window: window, mtu: mtu)
    threshold = max(window / 2, 4 * mtu)
    window = mtu
    start = SlowStartExit()
  }

  /// Nothing was sent for a timeout (RFC 9260 §7.2.1): what the path takes isn't known any more.
  mutating func idled() {
    window = max(min(window, 10 * mtu), window / 2)
    cubic.idled()
  }
}

/// The growth of CUBIC's window (RFC 9438 §4), in packets and seconds.
struct CubicGrowth {
  private static let scale = 0.4
  private static let beta = 0.7
  private var largest = 0.0
  private var epoch: Int64?
  private var time = 0.0
  private var estimate = 0.0
  private var rest = 0.0

  mutating func lost(window: Int, mtu: Int) {
    let packets = Double(window) / Double(mtu)
    // Fast convergence (§4.7): who lost before reaching the last maximum leaves room for others.
    largest = packets < largest ? packets * (1 + CubicGrowth.beta) / 2 : packets
    epoch = nil
    rest = 0
  }

  mutating func idled() { epoch = nil }

  /// Bytes by which the window grows when `bytes` were acknowledged.
  mutating func growth(
    _ bytes: Int, window: Int, mtu: Int, roundTrip: Int64, at nanoseconds: Int64
  ) -> Int {
    let packets = Double(window) / Double(mtu)
    let began: Int64
    if let epoch {
      began = epoch
    } else {
      began = nanoseconds
      epoch = nanoseconds
      estimate = packets
      if largest < packets { largest = packets }
      time = cubeRoot((largest - packets) / CubicGrowth.scale)
    }
    let acknowledged = Double(bytes) / Double(mtu)
    let elapsed = Double(nanoseconds - began + roundTrip) / 1e9 - time
    let target = min(
      max(CubicGrowth.scale * elapsed * elapsed * elapsed + largest, packets), packets * 1.5)
    // What Reno would have (§4.3): CUBIC isn't slower where windows are small.
    let alpha =
      estimate < largest ? 3 * (1 - CubicGrowth.beta) / (1 + CubicGrowth.beta) : 1
    estimate += alpha * acknowledged / packets
    let wanted =
      estimate > target
      ? max(0, estimate - packets) : (target - packets) / packets * acknowledged
    rest += wanted * Double(mtu)
    let whole = rest.rounded(.down)
    rest -= whole
    return Int(min(whole, Double(16 * mtu)))
  }

  /// Newton's method; no module with a cube root is imported here.
  private func cubeRoot(_ value: Double) -> Double {
    guard value > 1e-9 else { return 0 }
    var root = max(1, value / 3)
    for _ in 0..<40 { root = (2 * root + value / (root * root)) / 3 }
    return root
  }
}

/// When slow start ends before anything is lost: the round trip grows (HyStart++, RFC 9406 §4.2).
struct SlowStartExit {
  private var roundEnd: Int64 = 0
  private var lastShortest = Int64.max
  private var shortest = Int64.max
  private var samples = 0
  private var baseline = Int64.max
  private var conservativeRounds = 0
  private(set) var isConservative = false

  /// Takes a round trip. `true` when slow start is over.
  mutating func sample(_ roundTrip: Int64, sent: Int64, cumulative: Int64) -> Bool {
    if cumulative >= roundEnd {
      roundEnd = sent
      lastShortest = shortest
      shortest = .max
      samples = 0
      if isConservative {
        conservativeRounds += 1
        if conservativeRounds >= 5 { return true }
      }
    }
    shortest = min(shortest, roundTrip)
    samples += 1
    guard samples >= 8 else { return false }
    if isConservative {
      if shortest < baseline { isConservative = false }
    } else if lastShortest != .max {
      let tolerance = min(max(lastShortest / 8, 4_000_000), 16_000_000)
      if shortest >= lastShortest + tolerance {
        isConservative = true
        conservativeRounds = 0
        baseline = shortest
      }
    }
    return false
  }
}
