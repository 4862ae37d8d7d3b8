/// How far an RTP clock goes in a time (RFC 3550 §5.1), rounded towards zero.
///
/// - Parameters:
///   - nanoseconds: the time; may be negative.
///   - clockRate: ticks per second, 1,000,000,000 at most.
public func rtpTicks(in nanoseconds: Int64, at clockRate: Int64) -> Int64 {
  // Seconds and the rest by themselves: the product of a long time would overflow.
  let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
  return seconds &* clockRate &+ rest &* clockRate / 1_000_000_000
}
