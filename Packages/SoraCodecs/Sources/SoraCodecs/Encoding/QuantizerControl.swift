import SoraMedia

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Chooses each frame's quantizer so that a stream keeps its bitrate, for libraries whose own rate control can't follow a
/// call's.
///
/// A call's rate changes several times per second. A frame's bits are taken to be proportional to how hard it is to
/// predict, and inversely to its quantizer step; the factor is learnt from frame to frame, apart for key frames and the
/// others.
struct QuantizerControl {
  /// The range of quantizers; a step of six doubles the step size.
  static let range = 10...51
  /// Seconds of the target that a key frame may take.
  private static let keyFrameSeconds = 0.35
  /// Seconds in which what was sent too much is saved again.
  private static let payback = 0.35
  /// Seconds of the target that may be saved up in quiet times.
  private static let credit = 0.15

  /// Bits times quantizer step for each unit of difficulty; from moving pictures of all kinds, until there is something
  /// to learn from.
  private var keyFactor = 30.0
  private var factor = 20.0
  private var samples: [UInt8] = []
  private var hasPrevious = false
  /// Difficulty of the picture at hand: by itself, and after the previous one.
  private var intra = 1.0
  private var inter = 1.0
  private var last = 32.0
  /// Bits that were sent beyond the target; negative for those saved up.
  private(set) var debt = 0.0

  /// The next picture has nothing to do with the previous one: another size.
  mutating func restart() { hasPrevious = false }

  /// Time goes on by `seconds` since the last picture. No more is owed than what `FrameDropper` counts.
  mutating func advance(seconds: Double, bitsPerSecond: Double) {
    let left = debt - min(max(seconds, 0), 1) * bitsPerSecond
    debt = min(max(-Self.credit * bitsPerSecond, left), FrameDropper.longestDebt * bitsPerSecond)
  }

  /// The quantizer for a picture with this luma plane, up to `coarsest`.
  mutating func quantizer(
    _ luma: Plane, isKeyFrame: Bool, bitsPerSecond: Double, framesPerSecond: Double, coarsest: Int
  ) -> Int {
    measure(luma)
    let average = bitsPerSecond / framesPerSecond
    if isKeyFrame {
      let wanted = max(Self.keyFrameSeconds * bitsPerSecond - max(debt, 0) / 2, 2 * average)
      last = min(max(Self.quantizer(keyFactor * intra / wanted), 14), Double(coarsest))
      return Int(last.rounded())
    }
    // What is owed is paid back over a while; a picture can be twice the average where some is saved up.
    let saved = debt / (Self.payback * framesPerSecond)
    let wanted = min(max(average - saved, average / 4), 2 * average)
    let fitting = Self.quantizer(factor * inter / wanted)
    // Quality rises slowly, and falls as fast as it must.
    last = min(max(fitting, last - 2), last + 7)
    last = min(max(last, Double(Self.range.lowerBound)), Double(coarsest))
    return Int(last.rounded())
  }

  /// Learns from the picture that was encoded with the quantizer given last.
  mutating func encoded(bytes: Int, isKeyFrame: Bool) {
    let bits = Double(bytes) * 8
    debt += bits
    let found = bits * exp2(last.rounded() / 6) / (isKeyFrame ? intra : inter)
    if isKeyFrame {
      keyFactor += (found - keyFactor) * 0.5
    } else {
      factor += (found - factor) * 0.3
    }
    keyFactor = min(max(keyFactor, 0.1), 1_000)
    factor = min(max(factor, 0.1), 1_000)
  }

  /// The quantizer of a step size.
  private static func quantizer(_ step: Double) -> Double { 6 * log2(max(step, 1)) }

  /// Looks at every fourth sample of every fourth row: how much it differs from its neighbours, and from the picture before.
  private mutating func measure(_ luma: Plane) {
    let columns = (luma.width - 1) / 4
    let rows = (luma.height - 1) / 4
    let count = columns * rows
    if samples.count != count {
      samples = Array(repeating: 0, count: count)
      hasPrevious = false
    }
    var alone = 0
    var after = 0
    unsafe samples.withUnsafeMutableBufferPointer { known in
      guard var previous = known.baseAddress else { return }
      for y in 0..<rows {
        let (row, above) = unsafe (luma.row(4 &* y &+ 2), luma.row(4 &* y))
        for x in 0..<columns {
          let sample = unsafe Int32(row[4 &* x &+ 2])
          let horizontal = unsafe sample &- Int32(row[4 &* x])
          let vertical = unsafe sample &- Int32(above[4 &* x &+ 2])
          let spatial = Int32(horizontal.magnitude &+ vertical.magnitude) / 2
          let temporal = unsafe Int32((sample &- Int32(previous[x])).magnitude)
          alone &+= Int(spatial)
          after &+= Int(min(spatial, temporal))
          unsafe previous[x] = UInt8(truncatingIfNeeded: sample)
        }
        unsafe previous += columns
      }
    }
    // Even what doesn't change at all has headers.
    let floor = Double(count) * 0.1 + 16
    intra = Double(alone) + floor
    inter = hasPrevious ? Double(after) + floor : intra
    hasPrevious = true
  }
}
