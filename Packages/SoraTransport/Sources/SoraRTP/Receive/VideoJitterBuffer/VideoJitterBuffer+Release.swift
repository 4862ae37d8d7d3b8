public import SoraMedia

// When frames leave the buffer, and what happens while one can't.

extension VideoJitterBuffer {
  /// How long missing packets are waited for before a key frame is asked for as well.
  private var keyFrameWait: Int64 { min(400_000_000, max(100_000_000, 2 * roundTrip + 50_000_000)) }

  /// How long missing packets are waited for at all.
  private var longestWait: Int64 { min(600_000_000, max(300_000_000, 4 * roundTrip + 100_000_000)) }

  /// How often a request for a key frame is repeated.
  private var keyFrameRequestInterval: Int64 { max(150_000_000, roundTrip + roundTrip / 2) }

  /// How long a broken temporal layer is put up with.
  private static let layerPatience: Int64 = 2_000_000_000

  /// The next frame in decode order, if it is time for it. Its `timestamp` is when it should be shown: never before
  /// the one of the frame before it. `nil` sets the deadlines.
  public func nextFrame(at now: Instant) -> EncodedFrame? {
    releaseDeadline = nil
    keyFrameTimer.disarm()
    while !frames.isEmpty {
      skipPadding()
      findStartOfHead(now)
      let head = frames[0]
      switch judge(head) {
      case .release where head.isWithoutPicture:
        dropFrames(1, isLoss: false)
      case .release(let afterLoss):
        let due = renderTime(of: head, now)
        let start = due - configuration.decodeLead
        if start > now {
          releaseDeadline = start
          setKeyFrameDeadline()
          return nil
        }
        if let frame = release(due, afterLoss, now) { return frame }
      case .drop:
        drop(head, now)
      case .wait:
        if waitsForKeyFrame, let key = laterKeyFrame() {
          dropFrames(key)
          continue
        }
        guard let since = blockedSince(head) else {
          setKeyFrameDeadline()
          return nil
        }
        let waited = now.nanoseconds(since: since)
        if waited >= longestWait {
          statistics.waitsGivenUp += 1
          giveUp(head, now)
          continue
        }
        guard waited >= keyFrameWait else {
          releaseDeadline = Instant(nanoseconds: since.nanoseconds &+ keyFrameWait)
          setKeyFrameDeadline()
          return nil
        }
        // Waited long enough to go on without what is missing, where something can be decoded without it.
        if !waitsForKeyFrame, head.isComplete,
          head.info.isKeyFrame || layers.isDecodableAfterLoss(head.info)
        {
          hasGap = true
          continue
        }
        if let key = laterKeyFrame() {
          dropFrames(key)
          hasGap = true
          continue
        }
        asksEarly = true
        releaseDeadline = Instant(nanoseconds: since.nanoseconds &+ longestWait)
        setKeyFrameDeadline()
        return nil
      }
    }
    setKeyFrameDeadline()
    return nil
  }

  /// Whether the sender has to make a key frame for pictures to go on.
  public var keyFrameNeeded: Bool {
    if asksEarly { return true }
    guard waitsForKeyFrame, statistics.packetsReceived > 0 else { return false }
    // One that is arriving is as good as one that is asked for.
    for frame in frames where frame.mayBeKeyFrame { return false }
    // At the very beginning the first frame may still turn out to be one.
    if lastDone == nil, frames.count < 3, frames.allSatisfy({ !$0.isStarted }) { return false }
    return true
  }

  /// Whether to ask the sender for a key frame now. Answers true once for each request: again after about one and a
  /// half round trips while the need lasts.
  public func takeKeyFrameRequest(at now: Instant) -> Bool {
    guard keyFrameNeeded else { return false }
    let fires = keyFrameTimer.fires(at: now, interval: keyFrameRequestInterval)
    setKeyFrameDeadline()
    if fires { statistics.keyFrameRequests += 1 }
    return fires
  }

  private enum Verdict {
    case release(afterLoss: Bool)
    case drop
    case wait
  }

  /// What to do with the frame at the head.
  private func judge(_ head: FrameAssembly) -> Verdict {
    let isNext = !hasGap && lastDone.map { head.firstSequence == $0 &+ 1 } ?? false
    if waitsForKeyFrame {
      if head.isKnownDelta { return .drop }
      guard head.isComplete else { return .wait }
      guard lacksParameterSets(head) else { return .release(afterLoss: false) }
      // They may be in packets that are late.
      return isNext ? .drop : .wait
    }
    guard head.isComplete else { return .wait }
    if isNext || (!hasGap && layers.follows(head.info)) {
      if lacksParameterSets(head) { return .drop }
      if head.info.isKeyFrame || layers.isDecodable(head.info) { return .release(afterLoss: false) }
      return .drop
    }
    // Frames before it are missing: wait for them, unless they have been given up.
    guard hasGap else { return .wait }
    if head.info.isKeyFrame {
      return lacksParameterSets(head) ? .drop : .release(afterLoss: false)
    }
    return layers.isDecodableAfterLoss(head.info) ? .release(afterLoss: true) : .drop
  }

  private func lacksParameterSets(_ head: FrameAssembly) -> Bool {
    guard head.info.isKeyFrame, !head.parts.isEmpty, let buffer = head.buffer else { return false }
    return depayloader(of: head)?.lacksParameterSets(buffer) ?? false
  }

  private func drop(_ head: FrameAssembly, _ now: Instant) {
    if lacksParameterSets(head) { statistics.framesLackingParameterSets += 1 }
    if !waitsForKeyFrame {
      if layers.isSkippable(head.info) {
        layers.skipped(head.info, at: now)
        if let since = layers.brokenSince,
          now.nanoseconds(since: since) > VideoJitterBuffer.layerPatience
        {
          asksEarly = true
        }
      } else {
        waitsForKeyFrame = true
        asksEarly = false
      }
    }
    dropHead()
  }

  /// Missing packets haven't come in time.
  private func giveUp(_ head: FrameAssembly, _ now: Instant) {
    if waitsForKeyFrame {
      asksEarly = false
      dropHead()
      return
    }
    hasGap = true
    // A complete frame may be decodable by its layer: the next judgement says so.
    if head.isComplete { return }
    if layers.isSkippable(head.info) {
      layers.skipped(head.info, at: now)
    } else {
      waitsForKeyFrame = true
      asksEarly = false
    }
    dropHead()
  }

  private func release(_ due: Instant, _ afterLoss: Bool, _ now: Instant) -> EncodedFrame? {
    let head = frames.removeFirst()
    forgetStashed(head)
    lastDone = max(head.nextSequence - 1, head.highest)
    layers.released(head.info, afterLoss: afterLoss, at: now)
    hasGap = false
    waitsForKeyFrame = false
    if head.info.isKeyFrame || layers.brokenSince == nil { asksEarly = false }
    if head.info.isKeyFrame { keyFrameTimer.forgetRequest() }
    rotation = head.rotation ?? rotation
    currentFormat = format(payloadType: head.payloadType)
    lastRenderTime = due
    statistics.framesEmitted += 1
    statistics.jitterBufferDelay += .nanoseconds(now.nanoseconds(since: head.firstArrival))
    guard let buffer = head.buffer else { return nil }
    let payload = depayloader(of: head)?.complete(buffer, parts: head.parts) ?? buffer
    return EncodedFrame(
      payload: payload, isKeyFrame: head.info.isKeyFrame, rtpTimestamp: head.rtpTimestamp,
      timestamp: due, width: head.info.width, height: head.info.height, rotation: rotation,
      temporalLayer: Int(head.info.temporalLayer))
  }

  private func renderTime(of frame: FrameAssembly, _ now: Instant) -> Instant {
    let wanted = timing.renderTime(timestamp: frame.timestamp) ?? now
    let latest = frame.firstArrival + configuration.maximumDelay
    return max(lastRenderTime, max(now, min(wanted, latest)))
  }

  /// Since when the head waits for packets that should have been here: something later has arrived. `nil` while
  /// its packets may simply be on their way.
  private func blockedSince(_ head: FrameAssembly) -> Instant? {
    if head.isComplete { return head.firstArrival }
    if !head.isStarted { return head.gapSince ?? head.firstArrival }
    if let since = head.gapSince { return since }
    return frames.count > 1 ? frames[1].firstArrival : nil
  }

  /// The index of the first complete key frame behind the head.
  private func laterKeyFrame() -> Int? {
    for index in frames.indices.dropFirst() {
      if frames[index].isComplete && frames[index].info.isKeyFrame { return index }
    }
    return nil
  }

  /// Packets without content between frames count as done.
  private func skipPadding() {
    guard var last = lastDone else { return }
    while isEmpty(last &+ 1) { last += 1 }
    lastDone = last
  }

  /// A request for a key frame is repeated while the need lasts.
  private func setKeyFrameDeadline() {
    if keyFrameNeeded { keyFrameTimer.arm(interval: keyFrameRequestInterval) }
  }

  func dropHead() { dropFrames(1) }

  /// Drops the first `count` frames with their stashed packets; what is known of their parameter sets stays. Frames without
  /// a picture are no loss.
  func dropFrames(_ count: Int, isLoss: Bool = true) {
    guard count > 0, count <= frames.count else { return }
    for index in 0..<count {
      let frame = frames[index]
      forgetStashed(frame)
      lastDone = max(lastDone ?? frame.highest, frame.highest)
      if isLoss { statistics.framesDropped += 1 }
      if frame.parts.contains(.parameterSets), let buffer = frame.buffer {
        _ = depayloader(of: frame)?.complete(buffer, parts: .parameterSets)
      }
    }
    frames.removeFirst(count)
  }

  /// Gives back the slots of packets of a frame that goes.
  private func forgetStashed(_ frame: FrameAssembly) {
    guard stash.count > 0 else { return }
    var sequence = frame.lowest
    while sequence <= frame.highest {
      stash.remove(sequence)
      sequence += 1
    }
  }
}
