package import SoraCodecs
package import SoraMedia

/// Decides how far a video is reduced, from the time that encoding takes and the bits that it may use.
///
/// Both causes have a level of their own on one ladder, and the lower step counts. Has no clock: times are handed in.
package struct VideoAdaptation: Sendable {
  /// Below this part of what a size needs it is given up; it comes back with all of it.
  private static let starving = 0.6
  private static let starvingTime = Duration.seconds(1)
  private static let recoveryTime = Duration.seconds(3)
  /// A rate that differs by less from what the ladder was made for doesn't change it.
  private static let rateTolerance = 0.2

  package let kind: VideoCodecKind
  /// How to adapt; a change starts over from the full resolution.
  package var preference: RTCDegradationPreference {
    didSet { if preference != oldValue { source = nil } }
  }
  package private(set) var limitation = QualityLimitation()

  private struct Source: Equatable {
    var width: Int
    var height: Int
    var framesPerSecond: Double
  }

  /// For how long the rate has been too low for a step, or enough for a better one.
  private struct Spell {
    var since: Instant
    /// The most of it, so that a rate which collapses and comes back costs no more than it must, or the least: what would have had room
    /// all the time.
    var extreme: Double
  }

  private var source: Source?
  private var ladder = DegradationLadder(
    preference: .disabled, width: 1, height: 1, framesPerSecond: 30)
  private var load = EncoderLoad(.reduction)
  private var couldBeFaster = false
  private var cpuLevel = 0
  private var bandwidthLevel = 0
  private var starvation: Spell?
  private var recovery: Spell?

  package init(_ kind: VideoCodecKind, preference: RTCDegradationPreference) {
    self.kind = kind
    self.preference = preference
  }

  /// What to reduce the next frame to.
  package var step: DegradationLadder.Step { ladder.steps[level] }

  private var level: Int { max(cpuLevel, bandwidthLevel) }

  /// A frame is about to be encoded.
  ///
  /// - Parameters:
  ///   - width: of the frame as it would be encoded without a reduction.
  ///   - framesPerSecond: of the source, as measured.
  ///   - target: bits per second for it; nil where something else (the layers of a simulcast) follows the bitrate.
  ///   - isLimitedOtherwise: whether something else holds the video back for want of bits.
  package mutating func captured(
    width: Int, height: Int, framesPerSecond: Double, target: Int?,
    isLimitedOtherwise: Bool = false, at now: Instant
  ) {
    let before = step.scale
    let isNew = source == nil
    let isSame = source.map { $0.width == width && $0.height == height } ?? false
    let drift = source.map { abs($0.framesPerSecond - framesPerSecond) / $0.framesPerSecond } ?? 1
    if !isSame || drift > Self.rateTolerance {
      source = Source(width: width, height: height, framesPerSecond: framesPerSecond)
      ladder = DegradationLadder(
        preference: preference, width: width, height: height, framesPerSecond: framesPerSecond)
      // The levels mean something else on another ladder; for another size the decision is made anew.
      cpuLevel = isSame ? min(cpuLevel, ladder.steps.count - 1) : 0
      bandwidthLevel = isSame ? min(bandwidthLevel, ladder.steps.count - 1) : 0
      load.forget()
    }
    if let target, target > 0 {
      follow(target, isStart: isNew || !isSame, at: now)
    } else if target == nil {
      bandwidthLevel = 0
    }
    note(before, isLimitedOtherwise: isLimitedOtherwise, at: now)
  }

  /// Whether the video is reduced because it takes too long to encode.
  package var isReducedForTime: Bool { cpuLevel > 0 }

  /// A frame was encoded, or left out by the encoder, and took so long.
  ///
  /// - Parameter canBeFaster: whether the encoder has a faster speed. That comes first: nobody misses a frame for it.
  /// - Returns: whether the encoder is to choose a faster speed.
  @discardableResult
  package mutating func encoded(_ time: Duration, canBeFaster: Bool = false, at now: Instant)
    -> Bool
  {
    guard let source else { return false }
    let before = step.scale
    // At another speed what was measured is past.
    if couldBeFaster, !canBeFaster { load.forget() }
    couldBeFaster = canBeFaster
    var isTooSlow = false
    let rate = min(source.framesPerSecond, step.framesPerSecond ?? source.framesPerSecond)
    let verdict = load.add(time, interval: .seconds(1 / max(rate, 1)))
    if verdict == .overused, canBeFaster {
      isTooSlow = true
      load.forget()
    } else if verdict == .overused {
      if level + 1 < ladder.steps.count { reduceWork(at: now) }
    } else if cpuLevel > 0,
      load.canTakeMore(work(cpuLevel - 1) / work(level), at: now)
    {
      cpuLevel -= 1
      load.steppedUp(at: now)
    }
    note(before, isLimitedOtherwise: limitation.reason == .bandwidth, at: now)
    return isTooSlow
  }

  /// The encoder fails, or works again.
  package mutating func setFailing(_ isFailing: Bool, at now: Instant) {
    if isFailing {
      limitation.set(.other, at: now)
    } else if limitation.reason == .other {
      limitation.set(.none, at: now)
    }
  }

  // MARK: Time to encode

  /// Down by one step, and by more where one can't be enough.
  private mutating func reduceWork(at now: Instant) {
    let usage = load.usage ?? 1
    let from = level
    cpuLevel = from + 1
    while cpuLevel + 1 < ladder.steps.count, usage * work(cpuLevel) / work(from) > load.limits.high,
      cpuLevel < from + 3
    {
      cpuLevel += 1
    }
    load.steppedDown(at: now)
  }

  /// Pixels per second at a level, but for a factor that is the same for all.
  private func work(_ level: Int) -> Double {
    let step = ladder.steps[level]
    let rate = source?.framesPerSecond ?? 30
    return step.scale * step.scale * min(rate, step.framesPerSecond ?? rate)
  }

  // MARK: Bits

  private func demand(_ level: Int) -> Double {
    guard let source else { return 0 }
    let step = ladder.steps[level]
    return VideoDemand.bitsPerSecond(
      kind, width: Int(Double(source.width) * step.scale),
      height: Int(Double(source.height) * step.scale),
      framesPerSecond: min(source.framesPerSecond, step.framesPerSecond ?? source.framesPerSecond))
  }

  private mutating func follow(_ target: Int, isStart: Bool, at now: Instant) {
    let bits = Double(target)
    if bits < Self.starving * demand(bandwidthLevel) {
      recovery = nil
      let best = max(starvation?.extreme ?? bits, bits)
      let since = starvation?.since ?? now
      starvation = Spell(since: since, extreme: best)
      // At the start there is nothing to wait for.
      guard isStart || now - since >= Self.starvingTime else { return }
      while bandwidthLevel + 1 < ladder.steps.count, best < Self.starving * demand(bandwidthLevel) {
        bandwidthLevel += 1
      }
    } else if bandwidthLevel > 0, bits >= demand(bandwidthLevel - 1) {
      starvation = nil
      let least = min(recovery?.extreme ?? bits, bits)
      let since = recovery?.since ?? now
      recovery = Spell(since: since, extreme: least)
      guard now - since >= Self.recoveryTime else { return }
      while bandwidthLevel > 0, least >= demand(bandwidthLevel - 1) { bandwidthLevel -= 1 }
    } else {
      starvation = nil
      recovery = nil
      return
    }
    starvation = nil
    recovery = nil
    load.forget()
  }

  // MARK: Statistics

  private mutating func note(_ before: Double, isLimitedOtherwise: Bool, at now: Instant) {
    if step.scale != before { limitation.countResolutionChange() }
    let reason: QualityLimitationReason =
      if level == 0 {
        isLimitedOtherwise ? .bandwidth : .none
      } else {
        cpuLevel >= bandwidthLevel ? .cpu : .bandwidth
      }
    limitation.set(reason, at: now)
  }
}

extension RTCDegradationPreference {
  /// What applies where the application sets none: W3C mst-content-hint §4 by what the frames show, and balanced
  /// where that is unknown.
  package init(contentHint: VideoContentHint?) {
    switch contentHint {
    case .motion: self = .maintainFramerate
    case .detail, .text: self = .maintainResolution
    case nil: self = .balanced
    }
  }
}
