/// What a video may be reduced to, step by step from the whole down, for one preference, size and rate.
package struct DegradationLadder: Sendable, Equatable {
  package struct Step: Sendable, Hashable {
    /// By how much width and height shrink: 1, 3/4, 1/2, 3/8, 1/4 ...
    package var scale: Double
    /// Frames per second; nil for as many as come.
    package var framesPerSecond: Double?

    package init(scale: Double = 1, framesPerSecond: Double? = nil) {
      self.scale = scale
      self.framesPerSecond = framesPerSecond
    }
  }

  /// The first is the whole.
  package let steps: [Step]

  /// Frames don't shrink below as many pixels as 160×90 has.
  private static let minimumPixels = 160 * 90
  /// Under `maintainResolution` fewer frames aren't a video any more.
  private static let minimumRate = 5.0

  package init(
    preference: RTCDegradationPreference, width: Int, height: Int, framesPerSecond: Double
  ) {
    var steps = [Step()]
    switch preference {
    case .disabled: break
    case .maintainFramerate:
      while let smaller = Self.smaller(steps.last?.scale, steps.count, width, height) {
        steps.append(Step(scale: smaller))
      }
    case .maintainResolution:
      Self.appendRates(to: &steps, from: framesPerSecond, downTo: Self.minimumRate)
    case .balanced:
      // The rate falls to what the size deserves, then the size falls, and so on.
      var reductions = 1
      Self.appendRates(
        to: &steps, from: framesPerSecond, downTo: Self.balancedRate(width * height))
      while let smaller = Self.smaller(steps.last?.scale, reductions, width, height) {
        reductions += 1
        let rate = steps.last?.framesPerSecond
        steps.append(Step(scale: smaller, framesPerSecond: rate))
        let pixels = Double(width * height) * smaller * smaller
        Self.appendRates(
          to: &steps, from: rate ?? framesPerSecond, downTo: Self.balancedRate(Int(pixels)))
      }
    }
    self.steps = steps
  }

  /// Three quarters, then two thirds, in turn, so that every second size is half of the one before the last.
  private static func smaller(_ scale: Double?, _ reductions: Int, _ width: Int, _ height: Int)
    -> Double?
  {
    let next = (scale ?? 1) * (reductions % 2 == 1 ? 3.0 / 4 : 2.0 / 3)
    return Double(width * height) * next * next >= Double(minimumPixels) * 0.99 ? next : nil
  }

  /// Two thirds at a time.
  private static func appendRates(
    to steps: inout [Step], from start: Double, downTo minimum: Double?
  ) {
    guard let minimum, let scale = steps.last?.scale else { return }
    var rate = start
    while rate > minimum * 1.01 {
      rate = max(minimum, rate * 2 / 3)
      steps.append(Step(scale: scale, framesPerSecond: rate))
    }
  }

  /// The rate to come down to at a size before it is reduced; nil where the size goes first. libwebrtc's figures for
  /// the balanced preference (`BalancedDegradationSettings`).
  private static func balancedRate(_ pixels: Int) -> Double? {
    switch pixels {
    case ...(320 * 240): 7
    case ...(480 * 270): 10
    case ...(640 * 480): 15
    default: nil
    }
  }
}
