package import SoraMedia

/// Media time in units of 90 kHz, as a library's rate control is told of it.
///
/// Rate control learns the true frame rate from these times, so they follow the capture times; but a stall, a jump back or
/// a burst must not look like one frame a minute or a thousand a second to it.
package struct EncoderMediaTime: Sendable {
  /// Of the current frame; 0 for the first.
  package private(set) var ticks: Int64 = 0
  private var last: Instant?

  package init() {}

  /// Moves on to a frame's capture time, and returns the frame's nominal duration.
  package mutating func advance(to timestamp: Instant, framesPerSecond: Double) -> Int64 {
    let nominal = Int64(90_000 / framesPerSecond)
    defer { last = timestamp }
    guard let last else { return nominal }
    let elapsed = timestamp.nanoseconds(since: last)
    let passed = elapsed > 0 && elapsed < 10_000_000_000 ? elapsed &* 9 / 100_000 : nominal
    ticks &+= min(max(passed, nominal / 2), nominal * 5)
    return nominal
  }
}
