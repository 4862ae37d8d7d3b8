/// Randomness that is handed in, so that sans-I/O code draws none of its own.
///
/// `SoraClock` makes one over the system's generator; tests and simulations make one from a seed.
/// An instance is confined to its owner: it isn't `Sendable`.
public final class RandomSource: RandomNumberGenerator {
  @usableFromInline let generate: () -> UInt64
  /// Whether a seed decides everything it gives.
  private let isSeeded: Bool

  /// A source that calls `generate` for every 64 bits.
  public convenience init(_ generate: @escaping () -> UInt64) {
    self.init(isSeeded: false, generate)
  }

  private init(isSeeded: Bool, _ generate: @escaping () -> UInt64) {
    self.isSeeded = isSeeded
    self.generate = generate
  }

  /// A reproducible source (SplitMix64, Steele, Lea and Flood 2014). Not for secrets.
  public convenience init(seed: UInt64) {
    var state = seed
    self.init(isSeeded: true) {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  @inlinable
  public func next() -> UInt64 { generate() }

  /// `count` random bytes.
  public func bytes(_ count: Int) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(count)
    while result.count < count {
      var word = next()
      for _ in 0..<min(8, count - result.count) {
        result.append(UInt8(truncatingIfNeeded: word))
        word >>= 8
      }
    }
    return result
  }

  /// A text of `count` characters of the `ice-char` alphabet (RFC 8839 §5.4: letters, digits, `+`, `/`).
  public func iceString(_ count: Int) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    return String(decoding: bytes(count).map { alphabet[Int($0 & 63)] }, as: UTF8.self)
  }

  /// A source for an owner of its own: seeded from this one where this one is seeded itself, so that owners don't change
  /// each other's numbers. One over a generator stays over that generator: keys are drawn from forks, and 64 bits of seed
  /// behind a generator that shows its state would give them away.
  public func fork() -> RandomSource {
    isSeeded ? RandomSource(seed: next()) : RandomSource(generate)
  }
}
