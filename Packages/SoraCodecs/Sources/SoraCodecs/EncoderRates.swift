package import SoraMedia

// What all encoders do alike with rates, layers and time.

extension VideoEncoderSettings {
  /// Takes over what `VideoEncoder.setRates` was given, clamped; returns whether anything is different now.
  package mutating func takeRates(targetBitsPerSecond: Int, framesPerSecond: Double) -> Bool {
    let rate = framesPerSecond.isFinite ? min(max(framesPerSecond, 1), 240) : 30
    let target = max(0, targetBitsPerSecond)
    guard target != self.targetBitsPerSecond || rate != self.framesPerSecond else { return false }
    self.targetBitsPerSecond = target
    self.framesPerSecond = rate
    return true
  }

  /// Throws `CodecError.invalidSetting` for the first value that no codec could take, and for layers other than these.
  package func validate(modes: [ScalabilityMode]) throws(CodecError) {
    try validate()
    guard modes.contains(scalabilityMode) else {
      throw .invalidSetting(
        name: "scalabilityMode", value: scalabilityMode.description,
        allowed: modes.map(\.description).joined(separator: ", "))
    }
  }
}

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
