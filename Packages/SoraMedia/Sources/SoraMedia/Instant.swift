/// A point on a monotonic clock whose origin is arbitrary.
///
/// Sans-I/O code never asks a clock for an instant: it is handed one with every call, so the same code runs
/// in real time and in a simulation's virtual time.
public struct Instant: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Nanoseconds since the clock's origin.
  public var nanoseconds: Int64

  @inlinable
  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The clock's origin. The first instant of a simulation.
  public static let zero = Instant(nanoseconds: 0)

  /// An instant later than any that a clock will reach.
  public static let distantFuture = Instant(nanoseconds: .max)

  /// Whole milliseconds since the clock's origin, rounded down.
  @inlinable
  public var milliseconds: Int64 { nanoseconds / 1_000_000 }

  /// Whole microseconds since the clock's origin, rounded down.
  @inlinable
  public var microseconds: Int64 { nanoseconds / 1_000 }

  /// Seconds since the clock's origin.
  @inlinable
  public var seconds: Double { Double(nanoseconds) / 1e9 }

  @inlinable
  public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

  /// The later instant; saturates at the ends of the clock.
  @inlinable
  public static func + (instant: Instant, duration: Duration) -> Instant {
    let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
    return Instant(nanoseconds: overflow ? (duration.wholeNanoseconds > 0 ? .max : .min) : sum)
  }

  @inlinable
  public static func += (instant: inout Instant, duration: Duration) {
    instant = instant + duration
  }

  @inlinable
  public static func - (instant: Instant, duration: Duration) -> Instant {
    let (difference, overflow) = instant.nanoseconds.subtractingReportingOverflow(
      duration.wholeNanoseconds)
    return Instant(
      nanoseconds: overflow ? (duration.wholeNanoseconds > 0 ? .min : .max) : difference)
  }

  /// The time from `earlier` to `later`; negative when they are the other way round.
  @inlinable
  public static func - (later: Instant, earlier: Instant) -> Duration {
    .nanoseconds(later.nanoseconds &- earlier.nanoseconds)
  }

  /// Nanoseconds from `earlier` to this instant. The spelling for hot paths, where `Duration`'s 128 bits cost.
  @inlinable
  public func nanoseconds(since earlier: Instant) -> Int64 { nanoseconds &- earlier.nanoseconds }

  public var description: String { "\(Double(microseconds) / 1_000)ms" }
}

extension Duration {
  /// The duration in whole nanoseconds, saturating beyond ±292 years.
  @inlinable
  public var wholeNanoseconds: Int64 {
    // Below nine seconds 64 bits will do, and a division of 128 takes some ten times as long.
    let short = Int64(truncatingIfNeeded: attoseconds)
    if Int128(short) == attoseconds { return short / 1_000_000_000 }
    let parts = components
    let (seconds, overflow) = parts.seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return parts.seconds > 0 ? .max : .min }
    let (sum, carry) = seconds.addingReportingOverflow(parts.attoseconds / 1_000_000_000)
    return carry ? (parts.seconds > 0 ? .max : .min) : sum
  }

  /// The duration in milliseconds.
  @inlinable
  public var inMilliseconds: Double { Double(wholeNanoseconds) / 1e6 }

  /// The duration in seconds.
  @inlinable
  public var inSeconds: Double { Double(wholeNanoseconds) / 1e9 }
}

/// The earlier of two optional deadlines; `nil` means "never".
@inlinable
public func earliest(_ a: Instant?, _ b: Instant?) -> Instant? {
  guard let a else { return b }
  guard let b else { return a }
  return min(a, b)
}
