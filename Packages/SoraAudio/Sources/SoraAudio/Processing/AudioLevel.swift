#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// How loud samples are.
public enum AudioLevel {
  /// The mean of the squares, relative to full scale: 0 (silence) to 1.
  public static func meanSquare(_ samples: Span<Int16>) -> Double {
    guard !samples.isEmpty else { return 0 }
    var sum: Int64 = 0
    for index in samples.indices { sum &+= Int64(samples[index]) &* Int64(samples[index]) }
    return Double(sum) / Double(samples.count) / (32_768 * 32_768)
  }

  /// The level in -dBov, as the RTP header extension carries it (RFC 6464 §3): 0 is full scale, 127 is silence.
  public static func decibelsBelowOverload(_ samples: Span<Int16>) -> UInt8 {
    decibelsBelowOverload(meanSquare: meanSquare(samples))
  }

  /// The same from a mean square relative to full scale.
  public static func decibelsBelowOverload(meanSquare: Double) -> UInt8 {
    guard meanSquare > 0 else { return 127 }
    return UInt8(min(max((-10 * log10(meanSquare)).rounded(), 0), 127))
  }
}
