import SoraClock
public import SoraMedia

extension Instant {
  /// Now on the machine's monotonic clock.
  public static var now: Instant { SystemClock.now }
}
