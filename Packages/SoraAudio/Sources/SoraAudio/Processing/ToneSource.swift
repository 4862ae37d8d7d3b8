#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The audio of the test pattern: 40 ms of 1 kHz at each frame whose index is a multiple of the frame rate, over a quiet
/// 220 Hz bed. A pure function of the sample's index, so that lip sync can be measured and a gap can be found.
public struct ToneSource: Sendable {
  public let sampleRate: Int
  public let channels: Int
  /// Frames per second of the video that the beeps belong to.
  public let framesPerSecond: Double
  /// The index of the sample that `read` gives next, of each channel; 0 goes with frame 0.
  public var position: Int64 = 0

  /// Half of full scale, and 34 dB below it.
  private static let beepAmplitude = 16_384.0
  private static let bedAmplitude = 655.0

  /// `sampleRate` and `framesPerSecond` are clamped to what makes sense: 1 kHz must be below half of the rate.
  public init(sampleRate: Int = 48_000, channels: Int = 1, framesPerSecond: Double = 30) {
    self.sampleRate = min(max(sampleRate, 8_000), 192_000)
    self.channels = min(max(channels, 1), 2)
    self.framesPerSecond = framesPerSecond.isFinite ? min(max(framesPerSecond, 1), 240) : 30
  }

  /// Samples of each channel that a beep lasts: 40 ms.
  public var beepLength: Int { sampleRate / 25 }

  /// The index of the first sample of beep `number`, counted from 0.
  ///
  /// With 30 frames per second there is one beep per second. With 29.97, frames 0, 30, 60... beep: one every 1.001 s.
  public func beepStart(_ number: Int64) -> Int64 {
    Int64((Double(number) * period).rounded())
  }

  /// Sample `index`, the same for all channels.
  public func sample(_ index: Int64) -> Int16 {
    guard index >= 0 else { return 0 }
    let rate = Int64(sampleRate)
    // Both frequencies are whole numbers of hertz: the phase of a whole second is none.
    var value = Self.bedAmplitude * sine(220 * (index % rate))
    var start = beepStart(Int64(Double(index) / period))
    if index >= beepStart(Int64(Double(index) / period) + 1) {
      start = beepStart(Int64(Double(index) / period) + 1)
    }
    let offset = index - start
    if offset >= 0, offset < Int64(beepLength) {
      value += Self.beepAmplitude * sine(1_000 * offset)
    }
    return Int16(value.rounded())
  }

  /// Fills `output` (interleaved) from `position` on.
  public mutating func read(into output: inout MutableSpan<Int16>) {
    for index in 0..<(output.count / channels) {
      let value = sample(position)
      position += 1
      for channel in 0..<channels { output[index * channels + channel] = value }
    }
  }

  /// Samples between beeps: as many frames as the rounded frame rate says.
  private var period: Double {
    framesPerSecond.rounded() * Double(sampleRate) / framesPerSecond
  }

  private func sine(_ cycles: Int64) -> Double {
    let rate = Int64(sampleRate)
    return sin(2 * .pi * Double(cycles % rate) / Double(rate))
  }
}
