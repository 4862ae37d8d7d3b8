package import SoraMedia

/// Media time, and frames a second as they really come, for libraries whose rate control is told a rate instead of each
/// frame's time.
package struct MediaClock {
  private var time = EncoderMediaTime()
  /// Ticks from frame to frame, averaged over about sixteen frames; 0 at first.
  private var averageStep = 0.0

  package init() {}

  /// In units of 1/90,000 s; grows with each frame.
  package var ticks: Int64 { time.ticks }

  /// Moves on to a frame's time and returns the ticks since the frame before; `framesPerSecond` is the rate that was
  /// announced.
  package mutating func advance(to timestamp: Instant, framesPerSecond: Double) -> Int64 {
    let before = time.ticks
    let nominal = time.advance(to: timestamp, framesPerSecond: framesPerSecond)
    // The first frame has none before it.
    guard time.ticks > before else { return nominal }
    let step = time.ticks - before
    if averageStep == 0 { averageStep = Double(nominal) }
    averageStep += (Double(step) - averageStep) / 16
    return step
  }

  /// Frames a second as they came lately; nil before there were any.
  package var framesPerSecond: Double? { averageStep > 0 ? 90_000 / averageStep : nil }
}
