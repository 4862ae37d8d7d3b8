package import SoraMedia

/// Media time and frame rate for rate control, made of capture times.
///
/// Rate control learns the true frame rate from these times; but a stall, a jump back or a burst must not look like one
/// frame a minute or a thousand a second to it.
package struct MediaClock {
  /// In units of 1/90,000 s; grows with each frame.
  package private(set) var ticks: Int64 = 0
  private var last: Instant?
  /// Ticks from frame to frame, averaged over about sixteen frames; 0 at first.
  private var averageStep = 0.0

  package init() {}

  /// Moves on to a frame's time and returns the ticks since the frame before.
  package mutating func advance(to timestamp: Instant, framesPerSecond: Double) -> Int64 {
    let nominal = Int64(90_000 / framesPerSecond)
    defer { last = timestamp }
    guard let last else { return nominal }
    let elapsed = timestamp.nanoseconds(since: last)
    let measured = elapsed > 0 && elapsed < 10_000_000_000 ? elapsed &* 9 / 100_000 : nominal
    let step = min(max(measured, nominal / 2), nominal * 5)
    ticks &+= step
    if averageStep == 0 { averageStep = Double(nominal) }
    averageStep += (Double(step) - averageStep) / 16
    return step
  }

  /// Frames a second as they came lately; nil before there were any.
  package var framesPerSecond: Double? { averageStep > 0 ? 90_000 / averageStep : nil }
}
