import SoraMedia

/// Sizes of a video's frames as an encoder at a constant bit rate makes them: 30 per second, a key frame of four frames' size where one
/// is asked for, sizes that waver by a quarter, and what a frame took too much is taken off the next ones. Plain memory.
struct EncoderModel {
  static let framesPerSecond = 30
  private static let keyFrameSize = 4.0
  private static let spread = 0.25
  /// Of the debt that key frames and chance leave, so much is paid with each frame.
  private static let repayment = 0.1

  private let random: RandomSource
  private var debt = 0.0

  init(random: RandomSource) { self.random = random }

  /// The next frame's bytes at a rate in bits per second.
  mutating func next(_ rate: Double, isKeyFrame: Bool) -> Int {
    let usual = rate / 8 / Double(Self.framesPerSecond)
    let noise = 1 + Self.spread * (2 * random.unit() - 1)
    let size =
      isKeyFrame
      ? Self.keyFrameSize * usual * noise
      : max(usual / 2, usual * noise - Self.repayment * max(-usual, debt))
    debt += size - usual
    return max(64, Int(size))
  }
}

extension RandomSource {
  /// Evenly from 0 up to, not including, 1.
  func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Exponentially distributed with mean 1, by comparisons alone (von Neumann 1951): the same bits on every machine.
  func exponential() -> Double {
    var whole = 0.0
    while whole < 60 {
      let start = unit()
      var last = start
      var runs = 1
      while true {
        let draw = unit()
        if draw > last { break }
        last = draw
        runs += 1
      }
      if runs % 2 == 1 { return whole + start }
      whole += 1
    }
    return whole
  }
}
