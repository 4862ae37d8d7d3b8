#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Resamples by a ratio that is near to 1 and may change with every call, for two clocks that differ a little.
///
/// A windowed sinc of 32 samples between 256 phases of which weights are interpolated; a ratio of exactly 1 passes samples unchanged,
/// 16 samples later. Confined to one thread; steady state allocates nothing.
public struct VariableRateResampler {
  public let channels: Int

  private static let taps = 32
  private static let phases = 256
  /// `phases + 1` rows of `taps` weights.
  private static let weights: [Float] = {
    var weights = [Float](repeating: 0, count: (Self.phases + 1) * Self.taps)
    for phase in 0...Self.phases {
      let fraction = Double(phase) / Double(Self.phases)
      let start = phase * Self.taps
      var sum: Float = 0
      for tap in 0..<Self.taps {
        let x = Double(tap - Self.taps / 2 + 1) - fraction
        let weight = Float(
          AudioResampler.sinc(x) * AudioResampler.kaiser(x / Double(Self.taps / 2)))
        weights[start + tap] = weight
        sum += weight
      }
      for tap in 0..<Self.taps { weights[start + tap] /= sum }
    }
    return weights
  }()

  private var row = [Float](repeating: 0, count: taps)
  /// Interleaved input that is still needed.
  private var history: [Float]
  /// The place of the next output sample after the first one that its taps begin with, in input samples.
  private var position = 0.0

  /// - Parameter channels: 1 to 8; others are clamped.
  public init(channels: Int) {
    self.channels = min(max(channels, 1), 8)
    history = [Float](repeating: 0, count: (Self.taps / 2 - 1) * self.channels)
  }

  /// Samples of each channel between one that comes in and the same that goes out.
  public static var delay: Int { taps / 2 }

  /// Takes in interleaved samples and appends what can be made of them to `output`.
  ///
  /// - Parameters:
  ///   - input: whole samples of all channels; what is left over is left out.
  ///   - step: input samples for one output sample; clamped to 0.5 to 2.
  ///   - output: grows by what comes out.
  public mutating func process(_ input: Span<Int16>, step: Double, into output: inout [Int16]) {
    let step = step.isFinite ? min(max(step, 0.5), 2) : 1
    let whole = input.count / channels * channels
    for index in 0..<whole { history.append(Float(input[index])) }
    let available = history.count / channels
    while Int(position) + Self.taps <= available {
      let first = Int(position)
      blend(position - Double(first))
      for channel in 0..<channels { output.append(sample(first * channels + channel)) }
      position += step
    }
    let used = min(Int(position), available)
    history.removeFirst(used * channels)
    position -= Double(used)
  }

  /// Fills `row` with the weights for a fraction of a sample.
  private mutating func blend(_ fraction: Double) {
    let place = fraction * Double(Self.phases)
    let phase = min(Int(place), Self.phases - 1)
    let share = Float(place - Double(phase))
    let start = phase * Self.taps
    let table = Self.weights
    let weights = table.span
    var row = row.mutableSpan
    for tap in row.indices {
      let weight = weights[start + tap]
      row[tap] = weight + (weights[start + Self.taps + tap] - weight) * share
    }
  }

  private func sample(_ start: Int) -> Int16 {
    let row = row.span
    let history = history.span
    var sum: Float = 0
    var position = start
    for tap in row.indices {
      sum += row[tap] * history[position]
      position += channels
    }
    return Int16(min(max(sum.rounded(), -32_768), 32_767))
  }
}
