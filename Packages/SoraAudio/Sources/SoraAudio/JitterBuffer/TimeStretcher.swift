/// Makes speech a little shorter or longer without changing its pitch: whole pitch periods are taken out or repeated
/// where the waveform resembles itself (WSOLA, Verhelst and Roelands 1993).
struct TimeStretcher {
  /// 2.5 ms (400 Hz) and 15 ms (67 Hz).
  static let shortest = 120
  static let longest = 720
  private static let decimation = 4

  private let channels: Int
  private var coarse = [Float](repeating: 0, count: coarseCapacity)
  private static let coarseCapacity = 1_024

  init(channels: Int) { self.channels = channels }

  /// Takes one period of up to `most` samples out of what waits to be played. Needs `2 * longest` samples; returns the samples
  /// removed, 0 if the waveform doesn't resemble itself by at least `threshold` (-1...1).
  mutating func accelerate(
    _ queue: inout AudioSampleQueue, longest most: Int, threshold: Float
  ) -> Int {
    let longest = min(Self.longest, most)
    guard queue.count >= 2 * Self.longest, longest >= Self.shortest else { return 0 }
    guard
      let period = findPeriod(
        queue.samples, at: queue.position, behind: 0, ahead: 2 * Self.longest, longest: longest,
        threshold: threshold)
    else { return 0 }
    queue.removePeriod(period)
    return period
  }

  /// Repeats the period before the point of playout. Needs `shortest` samples that wait; returns the samples inserted, 0
  /// if the waveform doesn't resemble itself enough.
  mutating func expand(_ queue: inout AudioSampleQueue, threshold: Float) -> Int {
    let longest = min(Self.longest, queue.count)
    guard longest >= Self.shortest,
      let period = findPeriod(
        queue.samples, at: queue.position, behind: longest, ahead: longest, longest: longest,
        threshold: threshold),
      queue.repeatPeriod(period)
    else { return 0 }
    return period
  }

  /// The lag at which the samples from index `base` on resemble those one lag ahead (or, with `behind`, one lag before) most.
  ///
  /// Searched at 12 kHz first, over the sum of the channels, then refined at 48 kHz.
  private mutating func findPeriod(
    _ samples: Span<Int16>, at base: Int, behind: Int, ahead: Int, longest: Int, threshold: Float
  ) -> Int? {
    let step = Self.decimation
    let total = min((behind + ahead) / step, Self.coarseCapacity)
    let from = -behind
    var energy: Float = 0
    for index in 0..<total {
      var sum: Int32 = 0
      let position = base + (from + index * step) * channels
      for offset in 0..<(step * channels) { sum += Int32(samples[position + offset]) }
      let value = Float(sum) / Float(step * channels)
      coarse[index] = value
      energy += value * value
    }
    // Quieter than -60 dBov: nobody hears what is taken out or put in.
    if energy < 33 * 33 * Float(total) { return longest / 2 }

    var best = 0
    var bestScore: Float = -1
    let boundary = behind / step
    for lag in (Self.shortest / step)...(longest / step) {
      // Compare one lag of samples on both sides of the boundary, or from the boundary on.
      let first = behind > 0 ? boundary - lag : 0
      let score = Self.correlation(coarse.span, first, first + lag, count: lag)
      if score > bestScore {
        bestScore = score
        best = lag
      }
    }
    guard bestScore >= threshold else { return nil }
    return refine(samples, at: base, around: best * step, behind: behind > 0, longest: longest)
  }

  /// How much the `count` values from `first` on resemble those from `second` on, -1 to 1.
  private static func correlation(
    _ values: Span<Float>, _ first: Int, _ second: Int, count: Int
  ) -> Float {
    var product: Float = 0
    var left: Float = 0
    var right: Float = 0
    let one = values.extracting(first..<(first + count))
    let other = values.extracting(second..<(second + count))
    for index in 0..<count {
      let a = one[index]
      let b = other[index]
      product += a * b
      left += a * a
      right += b * b
    }
    let norm = (left * right).squareRoot()
    return norm > 0 ? product / norm : 0
  }

  private func refine(
    _ samples: Span<Int16>, at base: Int, around lag: Int, behind: Bool, longest: Int
  ) -> Int {
    var best = lag
    var bestScore: Float = -2
    for candidate in max(Self.shortest, lag - 4)...min(longest, lag + 4) {
      let length = candidate * channels
      let first = behind ? base - length : base
      let one = samples.extracting(first..<(first + length))
      let other = samples.extracting((first + length)..<(first + 2 * length))
      var product: Float = 0
      var left: Float = 0
      var right: Float = 0
      for index in 0..<length {
        let a = Float(one[index])
        let b = Float(other[index])
        product += a * b
        left += a * a
        right += b * b
      }
      let norm = (left * right).squareRoot()
      let score = norm > 0 ? product / norm : 0
      if score > bestScore {
        bestScore = score
        best = candidate
      }
    }
    return best
  }
}

extension TimeStretcher {
  /// Continues what waits at the end of `queue` by `count` samples, by repeating its last pitch period.
  mutating func extrapolate(_ queue: AudioSampleQueue, into output: inout [Int16], count: Int) {
    let samples = queue.samples
    let end = queue.position + queue.count * channels
    let period =
      findPeriod(
        samples, at: end - 2 * Self.longest * channels, behind: 0, ahead: 2 * Self.longest,
        longest: Self.longest, threshold: -1) ?? Self.longest
    let source = end - period * channels
    for index in 0..<(count * channels) {
      output[index] = samples[source + index % (period * channels)]
    }
  }
}
