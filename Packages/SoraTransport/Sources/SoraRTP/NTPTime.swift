public import SoraMedia

/// Wall-clock time as RTCP carries it: seconds since 1900 in 32 bits, and a 32-bit fraction (RFC 3550 §4).
public struct NTPTime: Hashable, Comparable, Sendable {
  /// Seconds in the upper half, 2^-32 seconds in the lower half.
  public var rawValue: UInt64

  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// From nanoseconds since 1970. Wraps in 2036, as the format does.
  public init(unixNanoseconds: Int64) {
    let (quotient, remainder) = unixNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let borrow: Int64 = remainder < 0 ? 1 : 0
    let seconds = quotient - borrow + NTPTime.secondsFrom1900To1970
    let nanoseconds = UInt64(remainder + borrow * 1_000_000_000)
    // Rounded up, so that converting back and truncating gives the same nanosecond.
    let fraction = ((nanoseconds << 32) + 999_999_999) / 1_000_000_000
    rawValue = (UInt64(truncatingIfNeeded: seconds) << 32) &+ fraction
  }

  /// Nanoseconds since 1970, for times from 1970 until the format wraps in 2036.
  public var unixNanoseconds: Int64 {
    let seconds = Int64(rawValue >> 32) - NTPTime.secondsFrom1900To1970
    let nanoseconds = ((rawValue & 0xFFFF_FFFF) * 1_000_000_000) >> 32
    return seconds * 1_000_000_000 + Int64(nanoseconds)
  }

  /// The middle 32 bits, the form of LSR in report blocks: units of 2^-16 seconds.
  public var middle: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 16) }

  public static func < (a: NTPTime, b: NTPTime) -> Bool { a.rawValue < b.rawValue }

  private static let secondsFrom1900To1970: Int64 = 2_208_988_800
}

/// Ties the monotonic clock to the wall clock, so that sans-I/O code can write NTP times.
public struct WallClock: Sendable, Equatable {
  /// Nanoseconds since 1970 at `Instant.zero`.
  public var unixNanosecondsAtZero: Int64

  /// `unixNanoseconds` is what the wall clock shows at `instant`.
  public init(unixNanoseconds: Int64, at instant: Instant) {
    unixNanosecondsAtZero = unixNanoseconds &- instant.nanoseconds
  }

  /// The wall-clock time at `instant`.
  public func ntp(at instant: Instant) -> NTPTime {
    NTPTime(unixNanoseconds: unixNanosecondsAtZero &+ instant.nanoseconds)
  }

  /// The local instant at which a wall clock in step with ours shows `time`.
  public func instant(of time: NTPTime) -> Instant {
    Instant(nanoseconds: time.unixNanoseconds &- unixNanosecondsAtZero)
  }
}
