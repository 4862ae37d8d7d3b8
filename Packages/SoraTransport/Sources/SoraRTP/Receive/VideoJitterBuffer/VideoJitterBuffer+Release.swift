public import SoraMedia

// When frames leave the buffer, and what happens while one can't.

extension VideoJitterBuffer {
  /// The next frame in decode order, if it is time for it. Its `timestamp` is when it should be shown: never before
  /// the one of the frame before it. `nil` sets the deadlines.
  public func nextFrame(at now: Instant) -> EncodedFrame? {
    releaseDeadline = nil
    keyFrameTimer.disarm()
    while !frames.isEmpty {
      skipPadding()
      findStartOfHead(now)
      let head = frames[0]
      switch continuity.judge(head, lacksParameterSets: lacksParameterSets(head)) {
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
        if continuity.needsKeyFrame, let key = laterKeyFrame() {
          dropFrames(key)
          continue
        }
        guard let since = blockedSince(head) else {
          setKeyFrameDeadline()
          return nil
        }
        let waited = now.nanoseconds(since: since)
        if waited >= wait.longest {
          statistics.waitsGivenUp += 1
          if continuity.giveUp(head, at: now) { dropHead() }
          continue
        }
        guard waited >= wait.untilKeyFrameRequest else {
          releaseDeadline = Instant(nanoseconds: since.nanoseconds &+ wait.untilKeyFrameRequest)
          setKeyFrameDeadline()
          return nil
        }
        // Waited long enough to go on without what is missing, where something can be decoded without it.
        if continuity.skipLoss(before: head) { continue }
        if let key = laterKeyFrame() {
          dropFrames(key)
          continuity.noteGap()
          continue
        }
        continuity.askEarly()
        releaseDeadline = Instant(nanoseconds: since.nanoseconds &+ wait.longest)
        setKeyFrameDeadline()
        return nil
      }
    }
    setKeyFrameDeadline()
    return nil
  }

  /// Whether the sender has to make a key frame for pictures to go on.
  public var keyFrameNeeded: Bool {
    if continuity.asksEarly { return true }
    guard continuity.needsKeyFrame, statistics.packetsReceived > 0 else { return false }
    // One that is arriving is as good as one that is asked for.
    for frame in frames where frame.mayBeKeyFrame { return false }
    // At the very beginning the first frame may still turn out to be one.
    if continuity.lastDone == nil, frames.count < 3, frames.allSatisfy({ !$0.extent.isStarted }) {
      return false
    }
    return true
  }

  /// Whether to ask the sender for a key frame now. Answers true once for each request: again after about one and a
  /// half round trips while the need lasts.
  public func takeKeyFrameRequest(at now: Instant) -> Bool {
    guard keyFrameNeeded else { return false }
    let fires = keyFrameTimer.fires(at: now, interval: wait.keyFrameRequestInterval)
    setKeyFrameDeadline()
    if fires { statistics.keyFrameRequests += 1 }
    return fires
  }

  private func depayloader(of frame: FrameAssembly) -> (any RTPDepayloader)? {
    formats.depayloader(payloadType: frame.payloadType)
  }

  private func lacksParameterSets(_ head: FrameAssembly) -> Bool {
    guard head.info.isKeyFrame, !head.parts.isEmpty, let buffer = head.buffer else { return false }
    return depayloader(of: head)?.lacksParameterSets(buffer) ?? false
  }

  private func drop(_ head: FrameAssembly, _ now: Instant) {
    if lacksParameterSets(head) { statistics.framesLackingParameterSets += 1 }
    continuity.drop(head, at: now)
    dropHead()
  }

  private func release(_ due: Instant, _ afterLoss: Bool, _ now: Instant) -> EncodedFrame? {
    let head = frames.removeFirst()
    forgetStashed(head)
    continuity.release(head, afterLoss: afterLoss, at: now)
    if head.info.isKeyFrame { keyFrameTimer.forgetRequest() }
    rotation = head.rotation ?? rotation
    formats.use(payloadType: head.payloadType)
    timing.shown(at: due)
    statistics.framesEmitted += 1
    statistics.jitterBufferDelay += .nanoseconds(now.nanoseconds(since: head.firstArrival))
    statistics.jitterBufferTargetDelay += targetDelay
    guard let buffer = head.buffer else { return nil }
    let payload = depayloader(of: head)?.complete(buffer, parts: head.parts) ?? buffer
    return EncodedFrame(
      payload: payload, isKeyFrame: head.info.isKeyFrame, rtpTimestamp: head.rtpTimestamp,
      timestamp: due, width: head.info.width, height: head.info.height, rotation: rotation,
      temporalLayer: Int(head.info.temporalLayer))
  }

  private func renderTime(of frame: FrameAssembly, _ now: Instant) -> Instant {
    timing.renderTime(
      timestamp: frame.timestamp,
      latest: isCrowded ? now : frame.firstArrival + .nanoseconds(timing.longest), at: now)
  }

  /// Whether holding back more would cost the oldest frames.
  private var isCrowded: Bool {
    guard let first = frames.first, let last = frames.last else { return false }
    return frames.count > configuration.maximumFrames / 4 * 3
      || last.extent.highest - first.extent.lowest > Int64(ArrivalWindow.size) / 4 * 3
  }

  /// Since when the head waits for packets that should have been here: something later has arrived. `nil` while
  /// its packets may simply be on their way.
  private func blockedSince(_ head: FrameAssembly) -> Instant? {
    if head.isComplete { return head.firstArrival }
    if !head.extent.isStarted { return head.gapSince ?? head.firstArrival }
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
    while let last = continuity.lastDone, isEmpty(last &+ 1) { continuity.pass(last &+ 1) }
  }

  /// A request for a key frame is repeated while the need lasts.
  private func setKeyFrameDeadline() {
    if keyFrameNeeded { keyFrameTimer.arm(interval: wait.keyFrameRequestInterval) }
  }

  func dropHead() { dropFrames(1) }

  /// Drops the first `count` frames with their stashed packets; what is known of their parameter sets stays. Frames without
  /// a picture are no loss.
  func dropFrames(_ count: Int, isLoss: Bool = true) {
    guard count > 0, count <= frames.count else { return }
    for index in 0..<count {
      let frame = frames[index]
      forgetStashed(frame)
      continuity.pass(frame.extent.highest)
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
    var sequence = frame.extent.lowest
    while sequence <= frame.extent.highest {
      stash.remove(sequence)
      sequence += 1
    }
  }
}
