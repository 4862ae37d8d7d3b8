package import SoraMedia

/// Whether the decoder can go on with the next frame: what it has got so far, and what it misses.
package struct DecodeContinuity {
  /// What to do with the frame at the head of the buffer.
  package enum Verdict: Equatable {
    case release(afterLoss: Bool)
    case drop
    case wait
  }

  private enum State: Equatable {
    /// Nothing before the head was given up: it can be decoded once it is next.
    case unbroken
    /// Something before the head was given up: only the layers can tell whether the head is decodable.
    case gap
    /// Only a key frame can go on.
    case needsKeyFrame(afterGap: Bool)
  }

  /// How long a broken temporal layer is put up with.
  private static let layerPatience: Int64 = 2_000_000_000

  private var state = State.needsKeyFrame(afterGap: false)
  private var layers = LayerContinuity()
  /// The last sequence number of the last frame that was released or dropped.
  package private(set) var lastDone: Int64?
  /// A key frame is asked for while the wait for missing packets goes on; whichever comes first helps.
  package private(set) var asksEarly = false

  package init() {}

  /// Whether only a key frame can go on.
  package var needsKeyFrame: Bool {
    if case .needsKeyFrame = state { true } else { false }
  }

  private var hasGap: Bool {
    switch state {
    case .unbroken: false
    case .gap: true
    case .needsKeyFrame(let afterGap): afterGap
    }
  }

  /// What to do with the frame at the head. Its parameter sets are asked for once it is complete.
  package func judge(_ head: FrameAssembly, lacksParameterSets: @autoclosure () -> Bool) -> Verdict
  {
    let isNext = !hasGap && lastDone.map { head.extent.first == $0 &+ 1 } ?? false
    if needsKeyFrame {
      if head.isKnownDelta { return .drop }
      guard head.isComplete else { return .wait }
      guard lacksParameterSets() else { return .release(afterLoss: false) }
      // They may be in packets that are late.
      return isNext ? .drop : .wait
    }
    guard head.isComplete else { return .wait }
    if isNext || (!hasGap && layers.follows(head.info)) {
      if lacksParameterSets() { return .drop }
      if head.info.isKeyFrame || layers.isDecodable(head.info) { return .release(afterLoss: false) }
      return .drop
    }
    // Frames before it are missing: wait for them, unless they have been given up.
    guard hasGap else { return .wait }
    if head.info.isKeyFrame {
      return lacksParameterSets() ? .drop : .release(afterLoss: false)
    }
    return layers.isDecodableAfterLoss(head.info) ? .release(afterLoss: true) : .drop
  }

  /// Gives up what is missing before the head, where the head can be decoded without it. False where it can't.
  package mutating func skipLoss(before head: FrameAssembly) -> Bool {
    guard !needsKeyFrame, head.isComplete,
      head.info.isKeyFrame || layers.isDecodableAfterLoss(head.info)
    else { return false }
    noteGap()
    return true
  }

  /// Something before the head was given up.
  package mutating func noteGap() {
    state = needsKeyFrame ? .needsKeyFrame(afterGap: true) : .gap
  }

  /// Only a key frame can go on from here.
  package mutating func breakOff() { state = .needsKeyFrame(afterGap: hasGap) }

  /// What is missing has been waited for so long that a key frame shall be asked for as well.
  package mutating func askEarly() { asksEarly = true }

  /// The packets up to `sequence` are released, dropped, or padding.
  package mutating func pass(_ sequence: Int64) { lastDone = max(lastDone ?? sequence, sequence) }

  /// The head is handed to the decoder.
  package mutating func release(_ head: FrameAssembly, afterLoss: Bool, at now: Instant) {
    lastDone = max(head.extent.next - 1, head.extent.highest)
    layers.released(head.info, afterLoss: afterLoss, at: now)
    state = .unbroken
    if head.info.isKeyFrame || layers.brokenSince == nil { asksEarly = false }
  }

  /// The head can't be decoded, and is dropped.
  package mutating func drop(_ head: FrameAssembly, at now: Instant) {
    guard !needsKeyFrame else { return }
    guard layers.isSkippable(head.info) else {
      breakOff()
      asksEarly = false
      return
    }
    layers.skipped(head.info, at: now)
    if let since = layers.brokenSince, now.nanoseconds(since: since) > Self.layerPatience {
      asksEarly = true
    }
  }

  /// Missing packets haven't come in time. True when the head goes with them; a complete one may be decodable by its layer,
  /// as the next judgement says.
  package mutating func giveUp(_ head: FrameAssembly, at now: Instant) -> Bool {
    guard !needsKeyFrame else {
      asksEarly = false
      return true
    }
    noteGap()
    if head.isComplete { return false }
    if layers.isSkippable(head.info) {
      layers.skipped(head.info, at: now)
    } else {
      breakOff()
      asksEarly = false
    }
    return true
  }
}
