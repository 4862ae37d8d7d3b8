public import SoraMedia

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The machine's clocks. Only the edges of the project read them: sockets, devices, the API and the tools.
public enum SystemClock {
  /// Now on `CLOCK_MONOTONIC`.
  public static var now: Instant { read(CLOCK_MONOTONIC) }

  /// Milliseconds since 1970-01-01T00:00:00Z on `CLOCK_REALTIME`.
  public static var realtimeMilliseconds: Int64 { read(CLOCK_REALTIME).milliseconds }

  /// Nanoseconds since 1970-01-01T00:00:00Z on `CLOCK_REALTIME`.
  public static var realtimeNanoseconds: Int64 { read(CLOCK_REALTIME).nanoseconds }

  private static func read(_ clock: clockid_t) -> Instant {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
  }
}

extension RandomSource {
  /// A source over the system's cryptographically secure generator.
  public static func system() -> RandomSource {
    var generator = SystemRandomNumberGenerator()
    return RandomSource { generator.next() }
  }
}
