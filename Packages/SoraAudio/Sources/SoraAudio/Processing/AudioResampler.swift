#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Changes the sample rate by convolution with a windowed sinc, one phase of it for each output sample (polyphase).
///
/// Linear phase; about 90 dB of stop band, flat up to 0.9 of the lower rate's half. Confined to one thread; steady state
/// allocates nothing.
public final class AudioResampler {
  public let inputRate: Int
  public let outputRate: Int
  public let channels: Int

  /// Zero crossings of the sinc on each side.
  private static let crossings = 24
  private static let maximumPhases = 1_024

  private let phases: Int
  private let taps: Int
  /// `phases + 1` rows of `taps` weights; the last row is the first one, one sample on.
  private let weights: [Float]
  private let up: Int
  private let down: Int
  /// Interleaved input that is still needed.
  private var history: [Float]
  /// The position of the next output sample, in `1 / up` input samples from the start of `history`.
  private var position = 0

  /// Nil if a rate is outside of 4,000...384,000 Hz or `channels` outside of 1...8.
  public init?(inputRate: Int, outputRate: Int, channels: Int) {
    let rates = 4_000...384_000
    guard rates.contains(inputRate), rates.contains(outputRate), (1...8).contains(channels) else {
      return nil
    }
    self.inputRate = inputRate
    self.outputRate = outputRate
    self.channels = channels
    let divisor = Self.greatestCommonDivisor(inputRate, outputRate)
    up = outputRate / divisor
    down = inputRate / divisor
    // Rates with no common measure would need a row for each hertz: between 1,024 rows, weights are interpolated.
    phases = min(up, Self.maximumPhases)
    let scale = min(1, Double(outputRate) / Double(inputRate))
    let reach = Int((Double(Self.crossings) / scale).rounded(.up))
    taps = 2 * reach
    var weights = [Float](repeating: 0, count: (phases + 1) * taps)
    let cutoff = 0.95 * scale
    for phase in 0...phases {
      let fraction = Double(phase) / Double(phases)
      for tap in 0..<taps {
        let x = Double(tap - reach + 1) - fraction
        weights[phase * taps + tap] = Float(
          cutoff * Self.sinc(cutoff * x) * Self.kaiser(x / Double(reach)))
      }
      // Each phase passes a constant unchanged.
      let row = (phase * taps)..<((phase + 1) * taps)
      let sum = weights[row].reduce(0, +)
      for index in row { weights[index] /= sum }
    }
    self.weights = weights
    // The first output sample sits on the first input sample: half of the taps look at silence before it.
    history = [Float](repeating: 0, count: (reach - 1) * channels)
  }

  /// Samples of each channel that `process` gives at most for `inputFrames` of input.
  public func maximumOutputFrames(for inputFrames: Int) -> Int {
    ((max(0, inputFrames) + taps) * up) / down + 1
  }

  /// Samples of each channel, at the input's rate, that must follow one before it comes out.
  public var delay: Int { inputRate == outputRate ? 0 : taps / 2 }

  /// Takes in interleaved samples and appends what can be made of them to `output`.
  public func process(_ input: Span<Int16>, into output: inout [Int16]) {
    if inputRate == outputRate {
      for index in input.indices { output.append(input[index]) }
      return
    }
    let whole = input.count / channels * channels
    for index in 0..<whole { history.append(Float(input[index])) }
    emit(into: &output)
  }

  /// Gives what the end of the input still holds back, as if silence followed it, and starts over.
  public func finish(into output: inout [Int16]) {
    guard inputRate != outputRate else { return }
    history.append(contentsOf: repeatElement(0, count: taps / 2 * channels))
    emit(into: &output)
    history.removeAll(keepingCapacity: true)
    history.append(contentsOf: repeatElement(0, count: (taps / 2 - 1) * channels))
    position = 0
  }

  private func emit(into output: inout [Int16]) {
    let available = history.count / channels
    let position = interpolate(available, into: &output)
    let used = min(position / up, available)
    history.removeFirst(used * channels)
    self.position = position - used * up
  }

  /// Appends the samples that the history is long enough for; returns the position of the next.
  private func interpolate(_ available: Int, into output: inout [Int16]) -> Int {
    var position = position
    let weights = weights
    let history = history
    while position / up + taps <= available {
      let first = position / up * channels
      let phase = position % up * phases
      let row = phase / up * taps
      let blend = phases == up ? 0 : Float(phase % up) / Float(up)
      for channel in 0..<channels {
        var sum = convolve(weights.span, row, history.span, first + channel)
        if blend > 0 {
          let following = convolve(weights.span, row + taps, history.span, first + channel)
          sum += (following - sum) * blend
        }
        output.append(Int16(min(max(sum.rounded(), -32_768), 32_767)))
      }
      position += down
    }
    return position
  }

  /// The sum of `taps` samples of one channel from `start` on, weighted by the row of weights that starts at `row`.
  private func convolve(
    _ weights: Span<Float>, _ row: Int, _ history: Span<Float>, _ start: Int
  ) -> Float {
    let weights = weights.extracting(row..<(row + taps))
    let channels = channels
    let history = history.extracting(start..<(start + (taps - 1) * channels + 1))
    var sum: Float = 0
    var position = 0
    for tap in weights.indices {
      sum += weights[tap] * history[position]
      position += channels
    }
    return sum
  }

  private static func greatestCommonDivisor(_ a: Int, _ b: Int) -> Int {
    b == 0 ? a : greatestCommonDivisor(b, a % b)
  }

  static func sinc(_ x: Double) -> Double {
    x == 0 ? 1 : sin(.pi * x) / (.pi * x)
  }

  /// Kaiser's window with beta 9: side lobes 90 dB down.
  static func kaiser(_ x: Double) -> Double {
    guard abs(x) < 1 else { return 0 }
    let beta = 9.0
    return bessel(beta * (1 - x * x).squareRoot()) / bessel(beta)
  }

  /// The modified Bessel function of the first kind and order zero, by its series.
  private static func bessel(_ x: Double) -> Double {
    var sum = 1.0
    var term = 1.0
    var k = 1.0
    while term > 1e-12 * sum {
      term *= (x / 2 / k) * (x / 2 / k)
      sum += term
      k += 1
    }
    return sum
  }
}
