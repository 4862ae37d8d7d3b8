public import SoraMedia

extension AudioJitterBuffer {
  /// Samples of each channel over which a jump of the timeline is smoothed: 5 ms.
  static let mergeCount = 240
  /// Made-up samples after which only silence is made up.
  private static let concealmentLimit = 48_000

  /// Gives the next 10 ms: `samplesPerPull * channels` interleaved samples into `output`, which must have that size.
  ///
  /// Never fails: what is missing is concealed, and what never came is silence.
  @discardableResult
  public func getAudio(at now: Instant, into output: inout MutableSpan<Int16>) -> Playout {
    let wanted = Self.samplesPerPull
    precondition(output.count == wanted * channels, "one pull is 10 ms at 48 kHz")
    dropOutdated()
    var decisions = 0
    while queue.count < wanted {
      // Each decision but a restart adds samples or takes a packet; the bound is there in case one does neither.
      decisions += 1
      if decisions > 5_000 { queue.appendSilence(wanted) }
      perform(PlayoutPolicy.decide(situation(at: now)), at: now)
    }
    if phase == .playing, content == .audio { stretch(at: now) }

    let start = expected &+ Int64(generated) &- Int64(queue.count)
    queue.take(wanted, into: &output)
    account(output.span)
    return Playout(
      content: content,
      rtpTimestamp: phase == .starting && content == .silence
        ? nil : UInt32(truncatingIfNeeded: start))
  }

  private func dropOutdated() {
    guard phase != .starting else { return }
    while let first = packets.first, first.timestamp < expected {
      packets.removeFirst()
      stats.packetsDiscarded += 1
      stats.packetsLate += 1
    }
  }

  private func situation(at now: Instant) -> PlayoutPolicy.Situation {
    var next: PlayoutPolicy.Next?
    if let first = packets.first {
      let fastest = estimator.fastestTransit ?? 0
      let isGap = phase == .playing && first.timestamp > expected
      next = PlayoutPolicy.Next(
        timestamp: first.timestamp,
        isContiguous: first.sequenceNumber == lastSequenceNumber &+ 1,
        redundantCount: isGap
          ? packets.withPayload(first) { decoder.redundantSampleCount(of: $0) } : 0,
        delay: now.nanoseconds &- Self.nanoseconds(first.timestamp) &- fastest)
    }
    return PlayoutPolicy.Situation(
      phase: phase, expected: expected, generated: generated,
      isSilenceAnnounced: isSilenceAnnounced, next: next, target: target)
  }

  private func perform(_ decision: PlayoutPolicy.Decision, at now: Instant) {
    switch decision {
    case .wait:
      queue.appendSilence(Self.samplesPerPull)
      // Once something was played, a pause that the sender didn't announce is a loss.
      guard stats.jitterBufferEmittedCount > 0 else { return enter(.silence) }
      stats.concealedSamples += UInt64(Self.samplesPerPull)
      stats.silentConcealedSamples += UInt64(Self.samplesPerPull)
      enter(.concealment)
    case .comfort:
      phase = .comfort
      delays.clear()
      makeUp(.comfortNoise)
      generated += Self.samplesPerPull
      stats.comfortNoiseSamples += UInt64(Self.samplesPerPull)
    case .decode:
      decodeFirst(at: now)
    case .jump:
      guard let first = packets.first else { return }
      stretcher.extrapolate(queue, into: &continuation, count: Self.mergeCount)
      let end = queue.count
      phase = .playing
      expected = first.timestamp
      generated = 0
      delays.clear()
      guard decodeFirst(at: now) else { return }
      merge(at: end)
    case .restore(let count, let skipped):
      restore(count, skipping: skipped)
    case .concealLoss:
      settleGenerated()
      makeUp(.concealment)
      expected &+= Int64(min(Self.samplesPerPull, gapToFirst))
    case .concealUnderrun:
      makeUp(.concealment)
      generated += Self.samplesPerPull
    case .restart:
      restart(flushing: false)
    }
  }

  /// What was made up while nothing was there counts towards the gap, now that a gap is known.
  private func settleGenerated() {
    guard generated > 0 else { return }
    expected &+= Int64(generated)
    generated = 0
    delays.clear()
  }

  private var gapToFirst: Int {
    guard let first = packets.first else { return Self.samplesPerPull }
    return Int(max(0, min(first.timestamp &- expected, 48_000)))
  }

  @discardableResult
  private func decodeFirst(at now: Instant) -> Bool {
    guard let packet = packets.first else { return false }
    let waited = now.nanoseconds &- packet.arrival &+ Self.nanoseconds(Int64(queue.count))
    let count = queue.append(5_760) { room in
      packets.withPayload(packet) { (try? decoder.decode($0, into: &room)) ?? 0 }
    }
    if count > 0 { isSilenceAnnounced = packets.withPayload(packet) { decoder.isSilence($0) } }
    packets.removeFirst()
    guard count > 0 else {
      stats.packetsMalformed += 1
      return false
    }
    lastSequenceNumber = packet.sequenceNumber
    expected = packet.timestamp &+ Int64(count)
    stats.jitterBufferDelay += Double(max(0, waited)) / 1e9 * Double(count)
    stats.jitterBufferTargetDelay += Double(target) / 1e9 * Double(count)
    stats.jitterBufferEmittedCount += UInt64(count)
    enter(.audio)
    return true
  }

  private func restore(_ count: Int, skipping skipped: Int) {
    guard let packet = packets.first else { return }
    if skipped > 0 { stretcher.extrapolate(queue, into: &continuation, count: Self.mergeCount) }
    settleGenerated()
    let end = queue.count
    let restored = queue.append(count) { room in
      packets.withPayload(packet) {
        (try? decoder.decodeRedundancy(of: $0, sampleCount: count, into: &room)) ?? 0
      }
    }
    guard restored > skipped else {
      makeUp(.concealment)
      expected &+= Int64(min(Self.samplesPerPull, gapToFirst))
      return
    }
    if skipped > 0 {
      queue.remove(skipped, at: end)
      merge(at: end)
    }
    expected &+= Int64(restored - skipped)
    stats.fecPacketsUsed += 1
    enter(.audio)
  }

  /// Lets the decoder continue for 10 ms what it decoded last.
  private func makeUp(_ kind: Content) {
    var isQuiet = true
    _ = queue.append(Self.samplesPerPull) { room in
      var count = 0
      if kind == .comfortNoise || generated < Self.concealmentLimit {
        count = (try? decoder.conceal(sampleCount: Self.samplesPerPull, into: &room)) ?? 0
      }
      if count != Self.samplesPerPull { room.update(repeating: 0) }
      for index in room.indices where room[index].magnitude > 2 { isQuiet = false }
      return Self.samplesPerPull
    }
    if kind == .concealment {
      stats.concealedSamples += UInt64(Self.samplesPerPull)
      if isQuiet { stats.silentConcealedSamples += UInt64(Self.samplesPerPull) }
    }
    enter(kind)
  }

  private func enter(_ kind: Content) {
    if kind == .concealment, !isConcealing { stats.concealmentEvents += 1 }
    isConcealing = kind == .concealment
    content = kind
  }

  /// Fades from what would have come behind position `end` to what came instead.
  private func merge(at end: Int) {
    let count = min(Self.mergeCount, queue.count - end)
    guard count > 0 else { return }
    queue.fadeIn(at: end, count: count, from: continuation)
  }
}

// MARK: Time stretching

extension AudioJitterBuffer {
  private func stretch(at now: Instant) {
    guard let fastest = estimator.fastestTransit else { return }
    let playing = Self.nanoseconds(expected &- Int64(queue.count))
    delays.add(now.nanoseconds &- playing &- fastest)
    pullsUntilStretch -= 1
    guard pullsUntilStretch <= 0, let delay = delays.minimum else { return }
    let phase = Self.nanoseconds(Int64(queue.count % Self.samplesPerPull))
    let isHeld = configuration.minimumDelay.wholeNanoseconds >= target
    let action = PlayoutPolicy.stretch(
      delay: delay, target: target, phase: isHeld ? nil : phase)
    // Music and noise resemble themselves less than speech does: ask for less with each failure.
    let threshold = max(0.3, 0.9 - 0.03 * Float(failedStretches))
    var change = 0
    switch action {
    case .none:
      failedStretches = 0
      return
    case .accelerate(let longest, let isFast):
      guard gather(2 * TimeStretcher.longest, at: now) else { return }
      change = -stretcher.accelerate(
        &queue, longest: longest, threshold: isFast ? min(threshold, 0.5) : threshold)
      stats.removedSamplesForAcceleration += UInt64(-change)
      pullsUntilStretch = isFast ? 2 : 5
    case .expand:
      change = stretcher.expand(&queue, threshold: threshold)
      stats.insertedSamplesForDeceleration += UInt64(change)
      pullsUntilStretch = 5
    }
    failedStretches = change == 0 ? failedStretches + 1 : 0
    delays.shift(Self.nanoseconds(Int64(change)))
  }

  /// Decodes ahead, while packets continue one another, until `count` samples wait.
  private func gather(_ count: Int, at now: Instant) -> Bool {
    while queue.count < count, let first = packets.first, first.timestamp == expected {
      guard decodeFirst(at: now) else { return false }
    }
    return queue.count >= count
  }
}

// MARK: Accounting

extension AudioJitterBuffer {
  private func account(_ output: Span<Int16>) {
    stats.totalSamplesReceived += UInt64(Self.samplesPerPull)
    stats.totalSamplesDuration += 0.01
    stats.totalAudioEnergy += AudioLevel.meanSquare(output) * 0.01
  }
}
