/// A generator of one owner inside the simulator: no closure, no class, so a draw costs a nanosecond
/// (SplitMix64, Steele, Lea and Flood 2014).
struct SimulationRandom {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// Evenly from 0 up to, not including, 1.
  mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// True with this chance. Draws nothing for a chance of zero, so that unused conditions cost nothing.
  mutating func chance(_ probability: Double) -> Bool {
    probability > 0 && unit() < probability
  }

  /// About normal, mean 0, deviation 1, within ±3: the sum of twelve uniform draws, without libm, so that every
  /// machine draws the same bits.
  mutating func normal() -> Double {
    var sum = -6.0
    for _ in 0..<12 { sum += unit() }
    return min(max(sum, -3), 3)
  }
}
