import SoraMedia
package import SoraRTP

/// Decides, frame by frame, what of a published video one subscriber is sent: temporal layers that its link has no room for are
/// left out, and where even the lowest is too much, all until a key frame.
///
/// Plain memory and no clock of its own.
package struct FrameGate {
  /// What became of a frame.
  package struct Decision: Hashable {
    package var timestamp: UInt32 = 0
    package var forwards = false
    package var isKeyFrame = false
    /// Frames that were left out before it: what picture ids are to be moved by.
    package var leftOut: UInt16 = 0
    /// Whether later frames can't be shown without it, or without one that came after it.
    var isNeeded = false
    var isKnown = false
  }

  package enum Wait {
    /// The link had no room for a frame.
    case full
    /// The subscriber lost a frame for good.
    case loss
  }

  package struct Statistics: Hashable {
    /// Frames left out because their layer was not wanted.
    package var layerFrames: UInt64 = 0
    /// Frames left out because the link was full, and those that needed them or frames that were lost.
    package var congestedFrames: UInt64 = 0
  }

  /// What may wait before a frame is left out: of a higher layer, of the lowest, with which all is left out until a key frame,
  /// and a key frame itself. A key frame alone may take a narrow link half a second.
  package static let longestLayerBacklog = Duration.milliseconds(200)
  private static let longestBacklog = Duration.milliseconds(600)
  package static let longestKeyFrameBacklog = Duration.milliseconds(1000)
  /// Frames that are known.
  package static let memory = 128

  /// The highest layer that is wanted; set by the allocation.
  package var target = UInt8.max
  package private(set) var statistics = Statistics()
  /// Why everything is left out until a key frame comes; nil where it isn't.
  package private(set) var wait: Wait?
  /// The highest layer that is forwarded.
  private var layer = UInt8.max
  private var leftOut: UInt16 = 0
  /// What may wait before a frame of the lowest layer is left out. Right behind a key frame nil: it makes much wait at once, and is of no
  /// use without what follows.
  private var patience: Duration? = longestBacklog
  private var decisions: [Decision] = []
  private var newest = 0
  /// How it stood when it was reopened.
  private var reopened: Reopened?

  private struct Reopened {
    var decisions: [Decision]
    var layer: UInt8
    var leavesOutAll: Bool
  }

  package init() {}

  /// The publisher begins anew: with a key frame, whatever was before.
  package mutating func reset() {
    wait = nil
    layer = target
    for index in decisions.indices { decisions[index].isKnown = false }
  }

  /// Whether the newest frame is the one with this timestamp.
  package func isNewest(_ timestamp: UInt32) -> Bool {
    guard !decisions.isEmpty else { return false }
    return decisions[newest].isKnown && decisions[newest].timestamp == timestamp
  }

  /// What becomes of a frame that comes when later ones were decided of already.
  package func lateDecision(_ timestamp: UInt32, _ info: RTPPayloadInfo?) -> Decision {
    if let known = decision(timestamp) { return known }
    var late = Decision(timestamp: timestamp)
    late.forwards = wait == nil && info?.temporalLayer ?? 0 <= layer
    // Its ids are moved by what was left out before it.
    var back = 0
    while back < decisions.count {
      let earlier = decisions[(newest + Self.memory - back) % Self.memory]
      guard earlier.isKnown else { break }
      late.leftOut = earlier.leftOut
      if Int32(bitPattern: earlier.timestamp &- timestamp) < 0 { break }
      if !earlier.forwards { late.leftOut &-= 1 }
      back += 1
    }
    return late
  }

  /// What was decided of the frame with this timestamp; nil where nothing was.
  package func decision(_ timestamp: UInt32) -> Decision? {
    if isNewest(timestamp) { return decisions[newest] }
    for decision in decisions where decision.isKnown && decision.timestamp == timestamp {
      return decision
    }
    return nil
  }

  /// Whether nothing before a frame matters behind it, by its first packet.
  package static func isKeyFrame(_ info: RTPPayloadInfo) -> Bool {
    info.isKeyFrame || info.parts.isKeyFrame || info.parts.contains(.sequenceParameters)
  }

  /// Has frames from one on that was let in decided of anew, which are given to `decide` in their order. What was left out stays so, and
  /// while a key frame is waited for all before one is. `close` ends it.
  ///
  /// - Parameters:
  ///   - timestamp: of a frame that is known.
  ///   - leavingOutAll: whether none is let in.
  package mutating func reopen(from timestamp: UInt32, leavingOutAll: Bool = false) {
    let first = decisions.indices.first {
      decisions[$0].isKnown && decisions[$0].timestamp == timestamp
    }
    guard let first else { return }
    reopened = Reopened(decisions: decisions, layer: layer, leavesOutAll: leavingOutAll)
    leftOut = decisions[first].leftOut
    let end = (newest + 1) % Self.memory
    newest = (first + Self.memory - 1) % Self.memory
    layer = .max
    var later = first
    repeat {
      decisions[later].isKnown = false
      // What waits before a key frame makes only that late.
      if decisions[later].isKeyFrame, decisions[later].forwards, !leavingOutAll { wait = .full }
      later = (later + 1) % Self.memory
    } while later != end
  }

  /// Whether frames are decided of anew.
  package var isReopened: Bool { reopened != nil }

  /// All that was to be decided of anew has been.
  package mutating func close() {
    guard let before = reopened else { return }
    reopened = nil
    layer = min(layer, before.layer)
  }

  /// Decides of a frame at its first packet.
  ///
  /// - Parameters:
  ///   - info: what that packet says of its frame.
  ///   - backlog: how long what waits for the link takes already.
  package mutating func decide(
    _ timestamp: UInt32, _ info: RTPPayloadInfo, backlog: Duration
  ) -> Decision {
    let isKeyFrame = Self.isKeyFrame(info)
    let forwards = !staysOut(timestamp) && passes(info, isKeyFrame: isKeyFrame, backlog)
    if !forwards { leftOut &+= 1 }
    if decisions.isEmpty { decisions = Array(repeating: Decision(), count: Self.memory) }
    // Nothing refers over a key frame.
    if forwards, isKeyFrame { for index in decisions.indices { decisions[index].isNeeded = false } }
    newest = (newest + 1) % Self.memory
    decisions[newest] = Decision(
      timestamp: timestamp, forwards: forwards, isKeyFrame: isKeyFrame, leftOut: leftOut,
      isNeeded: forwards && info.temporalLayer == 0, isKnown: true)
    return decisions[newest]
  }

  /// A frame is lost for good: where those of the lowest layer refer to it, all is left out until a key frame.
  package mutating func lose(_ timestamp: UInt32) {
    if wait == nil, decision(timestamp)?.isNeeded == true { wait = .loss }
  }

  /// Whether a frame that is decided of anew is left out, as it was the first time or is now with all.
  private mutating func staysOut(_ timestamp: UInt32) -> Bool {
    guard let reopened else { return false }
    if reopened.decisions.contains(where: {
      $0.isKnown && $0.timestamp == timestamp && !$0.forwards
    }) {
      return true
    }
    if reopened.leavesOutAll { statistics.congestedFrames &+= 1 }
    return reopened.leavesOutAll
  }

  private mutating func passes(
    _ info: RTPPayloadInfo, isKeyFrame: Bool, _ backlog: Duration
  ) -> Bool {
    if isKeyFrame {
      guard backlog <= Self.longestKeyFrameBacklog else { return leaveOutUntilKeyFrame() }
      wait = nil
      layer = target
      patience = nil
      return true
    }
    guard wait == nil else {
      statistics.congestedFrames &+= 1
      return false
    }
    layer = min(layer, target)
    if info.temporalLayer > layer, info.temporalLayer <= target, info.isLayerSync {
      layer = info.temporalLayer
    }
    guard info.temporalLayer <= layer else {
      statistics.layerFrames &+= 1
      return false
    }
    let longest = info.temporalLayer > 0 ? Self.longestLayerBacklog : longestBase(backlog)
    guard backlog <= longest else {
      guard info.temporalLayer > 0 else { return leaveOutUntilKeyFrame() }
      // Whatever refers to it is of its layer or a higher one.
      layer = info.temporalLayer - 1
      statistics.congestedFrames &+= 1
      return false
    }
    // Frames behind a switching point refer to nothing before it above its layer. So it is, in every structure that is in
    // use, with frames of the base layer in formats that don't tell.
    if info.isSwitchingPoint || info.temporalLayer == 0 && info.baseLayerIndex == nil {
      layer = target
    }
    return true
  }

  /// What may wait before a frame of the lowest layer.
  private mutating func longestBase(_ backlog: Duration) -> Duration {
    let longest = patience ?? max(backlog, Self.longestKeyFrameBacklog)
    patience = backlog <= Self.longestBacklog ? Self.longestBacklog : longest
    return longest
  }

  private mutating func leaveOutUntilKeyFrame() -> Bool {
    wait = .full
    statistics.congestedFrames &+= 1
    return false
  }
}
