/// Makes speech a little shorter or longer without changing its pitch: whole pitch periods are taken out or repeated
/// where the waveform resembles itself (WSOLA, Verhelst and Roelands 1993).
struct TimeStretcher {
  /// 2.5 ms (400 Hz) and 15 ms (67 Hz).
  static let shortest = 120
  static let longest = 720
  private static let decimation = 4

  private let channels: Int
  private let coarse: UnsafeMutablePointer<Float>
  private static let coarseCapacity = 1_024

  init(channels: Int) {
    self.channels = channels
    coarse = .allocate(capacity: Self.coarseCapacity)
    coarse.initialize(repeating: 0, count: Self.coarseCapacity)
  }

  func deallocate() { coarse.deallocate() }

  /// Takes one period out of what waits to be played. Needs `2 * longest` samples; returns the samples removed, 0 if
  /// the waveform doesn't resemble itself by at least `threshold` (-1...1).
  func accelerate(_ queue: inout AudioSampleQueue, threshold: Float) -> Int {
    guard queue.count >= 2 * Self.longest else { return 0 }
    guard
      let period = findPeriod(
        queue.base, behind: 0, ahead: 2 * Self.longest, longest: Self.longest,
        threshold: threshold)
    else { return 0 }
    // The first period fades out while the second fades in, in the place of both.
    crossFade(queue.base, with: queue.base + period * channels, count: period)
    queue.remove(period, at: period)
    return period
  }

  /// Repeats the period before the point of playout. Needs `shortest` samples that wait; returns the samples inserted, 0
  /// if the waveform doesn't resemble itself enough.
  func expand(_ queue: inout AudioSampleQueue, threshold: Float) -> Int {
    let longest = min(Self.longest, queue.count)
    guard longest >= Self.shortest,
      let period = findPeriod(
        queue.base, behind: longest, ahead: longest, longest: longest, threshold: threshold),
      queue.insertGap(period)
    else { return 0 }
    // The gap is filled with what would have come next, fading into the period before it, so that what really comes
    // next follows smoothly.
    let base = queue.base
    for index in 0..<(period * channels) {
      let weight = Int32(index / channels) * 256 / Int32(period)
      let natural = Int32(base[period * channels + index])
      let repeated = Int32(base[index - period * channels])
      base[index] = Int16(truncatingIfNeeded: (natural * (256 - weight) + repeated * weight) >> 8)
    }
    return period
  }

  /// Fades what lies at `target` out and `source` in, over `count` samples of each channel.
  func crossFade(
    _ target: UnsafeMutablePointer<Int16>, with source: UnsafePointer<Int16>, count: Int
  ) {
    guard count > 0 else { return }
    for index in 0..<(count * channels) {
      let weight = Int32(index / channels) * 256 / Int32(count)
      let value = Int32(target[index]) * (256 - weight) + Int32(source[index]) * weight
      target[index] = Int16(truncatingIfNeeded: value >> 8)
    }
  }

  /// The lag at which the samples from `base` on resemble those one lag ahead (or, with `behind`, one lag before) most.
  ///
  /// Searched at 12 kHz first, over the sum of the channels, then refined at 48 kHz.
  func findPeriod(
    _ base: UnsafeMutablePointer<Int16>, behind: Int, ahead: Int, longest: Int, threshold: Float
  ) -> Int? {
    let step = Self.decimation
    let total = min((behind + ahead) / step, Self.coarseCapacity)
    let from = -behind
    var energy: Float = 0
    for index in 0..<total {
      var sum: Int32 = 0
      let position = (from + index * step) * channels
      for offset in 0..<(step * channels) { sum += Int32(base[position + offset]) }
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
      let score = correlation(coarse + first, coarse + first + lag, lag)
      if score > bestScore {
        bestScore = score
        best = lag
      }
    }
    guard bestScore >= threshold else { return nil }
    return refine(base, around: best * step, behind: behind > 0, longest: longest)
  }

  private func correlation(_ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ count: Int)
    -> Float
  {
    var product: Float = 0
    var left: Float = 0
    var right: Float = 0
    for index in 0..<count {
      product += a[index] * b[index]
      left += a[index] * a[index]
      right += b[index] * b[index]
    }
    let norm = (left * right).squareRoot()
    return norm > 0 ? product / norm : 0
  }

  private func refine(
    _ base: UnsafeMutablePointer<Int16>, around lag: Int, behind: Bool, longest: Int
  ) -> Int {
    var best = lag
    var bestScore: Float = -2
    for candidate in max(Self.shortest, lag - 4)...min(longest, lag + 4) {
      let first = behind ? base - candidate * channels : base
      let second = first + candidate * channels
      var product: Float = 0
      var left: Float = 0
      var right: Float = 0
      for index in 0..<(candidate * channels) {
        let a = Float(first[index])
        let b = Float(second[index])
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
  func extrapolate(
    _ queue: AudioSampleQueue, into output: UnsafeMutablePointer<Int16>, count: Int
  ) {
    let end = queue.base + queue.count * channels
    let period =
      findPeriod(
        end - 2 * Self.longest * channels, behind: 0, ahead: 2 * Self.longest,
        longest: Self.longest, threshold: -1) ?? Self.longest
    let source = end - period * channels
    for index in 0..<(count * channels) { output[index] = source[index % (period * channels)] }
  }
}
