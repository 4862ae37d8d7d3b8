package import SoraMedia

/// The speeds among which a library's is chosen while it runs.
package struct EncoderSpeeds: Sendable, Hashable {
  /// Time that a frame takes at each, as multiples of one of them, fastest first. Where contents differ, what a step to a
  /// slower one costs at most: it is taken back where it was too much.
  package var costs: [Double]
  /// What `VideoEncoderSettings.speed` calls the fastest; the others count on from there.
  package var fastest: Int
  /// What to start with.
  package var usual: Int

  package init(costs: [Double], fastest: Int, usual: Int) {
    precondition(costs.indices.contains(usual - fastest), "the usual speed is one of them")
    self.costs = costs
    self.fastest = fastest
    self.usual = usual
  }
}

/// An encoder whose speed follows the time that its frames take.
package protocol SpeedControlledEncoder: VideoEncoder {
  /// What frames are timed with. Without a clock, at first, the speed stays as it is.
  var clock: (@Sendable () -> Instant)? { get set }
  /// Whether it has a faster speed than the present one.
  var canBeFaster: Bool { get }
  /// Whether it may choose a slower speed where there is time. Not while something else is held back for want of time.
  var maySlowDown: Bool { get set }
  /// Goes on at a faster speed from the next frame on, with a key frame; without effect where there is none.
  func beFaster(at now: Instant)
}

/// Chooses a library's speed by the time that its frames take. Has no clock: times are handed in.
///
/// A change costs a key frame with most libraries. So a faster speed comes soon, as many steps at a time as it takes, and a
/// slower one only after there has been room for it for seconds; one that had to be taken back, later and later.
struct EncoderSpeedControl {
  /// As `SpeedControlledEncoder.maySlowDown`.
  var maySlowDown = true
  let speeds: EncoderSpeeds
  private var level: Int
  private var load = EncoderLoad(.speed)

  init(_ speeds: EncoderSpeeds) {
    self.speeds = speeds
    level = speeds.usual - speeds.fastest
  }

  /// As `VideoEncoderSettings.speed` counts.
  var speed: Int { speeds.fastest + level }

  var canBeFaster: Bool { level > 0 }

  /// The same for frames of another size: what was found too slow for one isn't tried with the next.
  func following(_ speeds: EncoderSpeeds) -> EncoderSpeedControl {
    var next = EncoderSpeedControl(speeds)
    next.level = min(next.level, max(0, speed - speeds.fastest))
    next.maySlowDown = maySlowDown
    return next
  }

  /// A frame was encoded, or left out by the library, and took so long; whether the speed is another now.
  mutating func encoded(_ time: Duration, interval: Duration, at now: Instant) -> Bool {
    if load.add(time, interval: interval) == .overused { return beFaster(at: now) }
    guard maySlowDown, level + 1 < speeds.costs.count,
      load.canTakeMore(speeds.costs[level + 1] / speeds.costs[level], at: now)
    else { return false }
    // Every step costs a key frame, and those before the last would be for a moment only.
    let needed = (load.usage ?? 1) / speeds.costs[level]
    level += 1
    while level + 1 < speeds.costs.count,
      needed * speeds.costs[level + 1] <= load.limits.acceptable
    {
      level += 1
    }
    load.steppedUp(at: now)
    return true
  }

  /// Down to what the time allows, one step at least; whether there was one.
  mutating func beFaster(at now: Instant) -> Bool {
    guard canBeFaster else { return false }
    let needed = (load.usage ?? 1) / speeds.costs[level]
    level -= 1
    while level > 0, needed * speeds.costs[level] > load.limits.acceptable * 1.2 { level -= 1 }
    load.steppedDown(at: now)
    return true
  }
}
