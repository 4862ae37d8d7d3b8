package import SoraMedia

/// How much faster or slower than the machine's clock a device runs, from how many samples have gone by. Numbers alone.
///
/// Counts what the call has given or got at 48 kHz, and steers its samples for each of the device's so that the count follows the
/// clock. Devices come in bursts, so one second's mean counts, and a slow controller follows it: 200 ppm move the count by 2 ms at most,
/// and no one hears the change.
package struct ClockDrift: Sendable {
  package static let sampleRate = 48_000.0
  /// Further off than this the device has stood still: the count starts anew from there.
  private static let largestError = 0.06
  private static let largestCorrection = 1e-3
  private static let window = 1.0
  /// Per second. Critically damped: the integral has a quarter of the square.
  private static let gain = 0.1

  /// The call's samples for one of the device's, less 1.
  package private(set) var correction = 0.0
  /// What the clocks differ by as far as it is known; positive where the device is too slow. In parts of one.
  package private(set) var drift = 0.0

  private var start: Instant?
  /// Seconds that the count was behind the clock at first, by the device's way to deliver.
  private var offset: Double?
  private var windowStart = Instant.zero
  private var sum = 0.0
  private var readings = 0

  package init() {}

  /// Begins a new count, with what is known of the device's clock.
  package mutating func restart() {
    start = nil
    offset = nil
    sum = 0
    readings = 0
  }

  /// Takes the count of samples of each channel since the start or `restart`.
  ///
  /// - Returns: false where the device has stood still, or has leapt: the caller begins a new count.
  package mutating func update(samples: Double, at now: Instant) -> Bool {
    guard let start else {
      self.start = now
      windowStart = now
      return true
    }
    let error = (now - start).inSeconds - samples / Self.sampleRate
    guard abs(error - (offset ?? 0)) < Self.largestError || offset == nil else { return false }
    sum += error
    readings += 1
    let elapsed = (now - windowStart).inSeconds
    guard elapsed >= Self.window else { return true }
    let mean = sum / Double(readings)
    sum = 0
    readings = 0
    windowStart = now
    guard let offset else {
      self.offset = mean
      return true
    }
    let behind = mean - offset
    drift += Self.gain * Self.gain / 4 * behind * elapsed
    drift = min(max(drift, -Self.largestCorrection), Self.largestCorrection)
    correction = min(
      max(drift + Self.gain * behind, -Self.largestCorrection), Self.largestCorrection)
    return true
  }
}
