/// Continues what was heard where packets are missing, for codecs that can't themselves: the last period of the voice again and again,
/// softer and softer, and then silence. The shape is that of ITU-T G.711 appendix I: whole for 10 ms, gone after 60.
struct WaveformConcealment {
  private let sampleRate: Int
  /// The pitch periods that are looked for: those of 66 to 200 Hz, as in the appendix.
  private let periods: ClosedRange<Int>
  /// What was heard last, its newest sample at the end.
  private var history: [Int16]
  /// Samples that were made up since something was heard.
  private var madeUp = 0
  private var period = 0

  /// - Parameter sampleRate: Hz.
  init(sampleRate: Int) {
    self.sampleRate = sampleRate
    periods = (sampleRate / 200)...(sampleRate * 3 / 200)
    history = [Int16](repeating: 0, count: 2 * periods.upperBound + sampleRate / 50)
  }

  /// Something came: after what was made up, it is faded in over 4 ms from what would have followed.
  mutating func heard(_ samples: inout [Int16]) {
    if madeUp > 0 {
      let length = min(sampleRate / 250, samples.count)
      var before: [Int16] = []
      `continue`(for: length, into: &before)
      for index in 0..<length {
        let share = Double(index + 1) / Double(length + 1)
        let mixed = Double(samples[index]) * share + Double(before[index]) * (1 - share)
        samples[index] = Int16(clamping: Int(mixed.rounded()))
      }
      madeUp = 0
    }
    remember(samples)
  }

  /// Appends `count` samples that follow what was heard.
  mutating func `continue`(for count: Int, into samples: inout [Int16]) {
    if madeUp == 0 { period = pitch() }
    let whole = sampleRate / 100
    let end = sampleRate * 6 / 100
    for _ in 0..<count {
      let gain =
        madeUp < whole ? 1 : max(0, 1 - Double(madeUp - whole) / Double(end - whole))
      // The history stays as it was heard while samples are made up.
      let source = history[history.count - period + madeUp % period]
      samples.append(Int16(clamping: Int((Double(source) * gain).rounded())))
      madeUp += 1
    }
  }

  private mutating func remember(_ samples: [Int16]) {
    let newest = samples.suffix(history.count)
    history.removeFirst(newest.count)
    history.append(contentsOf: newest)
  }

  /// The distance at which the newest 20 ms resemble what was before them most (normalized cross-correlation).
  private func pitch() -> Int {
    let length = sampleRate / 50
    let start = history.count - length
    var best = (score: -Double.infinity, period: periods.upperBound)
    for candidate in periods {
      var product = 0.0
      var energy = 1.0
      for index in start..<history.count {
        let earlier = Double(history[index - candidate])
        product += Double(history[index]) * earlier
        energy += earlier * earlier
      }
      let score = product / energy.squareRoot()
      if score > best.score { best = (score, candidate) }
    }
    return best.period
  }
}
