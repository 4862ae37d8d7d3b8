public import SoraMedia

extension AudioJitterBuffer {
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
    while samples.count < wanted {
      // Each decision but a restart adds samples or takes a packet; the bound is there in case one does neither.
      decisions += 1
      if decisions > 5_000 { samples.appendSilence(wanted) }
      perform(PlayoutPolicy.decide(situation(at: now)), at: now)
    }
    pauses.add(samples.level(ofNext: wanted))
    if position.phase == .playing, content == .audio { stretch(at: now) }

    let start = position.end &- Int64(samples.count)
    samples.take(wanted, into: &output)
    account(output.span)
    return Playout(
      content: content,
      rtpTimestamp: position.phase == .starting && content == .silence
        ? nil : UInt32(truncatingIfNeeded: start))
  }

  private func dropOutdated() {
    while let first = packets.first, position.isPast(first.timestamp) {
      packets.removeFirst()
      stats.packetsDiscarded += 1
      stats.packetsLate += 1
    }
  }

  private func situation(at now: Instant) -> PlayoutPolicy.Situation {
    var next: PlayoutPolicy.Next?
    if let first = packets.first {
      let start = now.nanoseconds &- (delays.fastestTransit ?? 0)
      let isGap = position.phase == .playing && first.timestamp > position.expected
      next = PlayoutPolicy.Next(
        timestamp: first.timestamp,
        isContiguous: first.sequenceNumber == position.lastSequenceNumber &+ 1,
        redundantCount: isGap
          ? packets.withPayload(first) { decoder.redundantSampleCount(of: $0) } : 0,
        delay: start &- Self.nanoseconds(first.timestamp),
        missingDelay: start &- Self.nanoseconds(position.expected))
    }
    return PlayoutPolicy.Situation(
      phase: position.phase, expected: position.expected, generated: position.generated,
      isSilenceAnnounced: isSilenceAnnounced, next: next, target: target,
      jitter: min(delays.targetDelay, target))
  }

  private func perform(_ decision: PlayoutPolicy.Decision, at now: Instant) {
    switch decision {
    case .wait:
      samples.appendSilence(Self.samplesPerPull)
      // Once something was played, a pause that the sender didn't announce is a loss.
      guard stats.jitterBufferEmittedCount > 0 else { return enter(.silence) }
      stats.concealedSamples += UInt64(Self.samplesPerPull)
      stats.silentConcealedSamples += UInt64(Self.samplesPerPull)
      enter(.concealment)
    case .comfort:
      pace.clear()
      makeUp(.comfortNoise)
      position.makeUpComfort(Self.samplesPerPull)
      stats.comfortNoiseSamples += UInt64(Self.samplesPerPull)
    case .decode:
      decodeFirst(at: now)
    case .jump:
      guard let first = packets.first else { return }
      samples.prepareJoin()
      let end = samples.count
      position.jump(to: first.timestamp)
      pace.clear()
      guard decodeFirst(at: now) else { return }
      samples.join(at: end)
    case .restore(let count, let skipped):
      restore(count, skipping: skipped)
    case .concealLoss:
      settleGenerated()
      makeUp(.concealment)
      position.advance(by: min(Self.samplesPerPull, gapToFirst))
    case .concealUnderrun:
      makeUp(.concealment)
      position.makeUp(Self.samplesPerPull)
    case .restart:
      restart(flushing: false)
    }
  }

  /// What was made up while nothing was there counts towards the gap, now that a gap is known.
  private func settleGenerated() {
    if position.settle() { pace.clear() }
  }

  private var gapToFirst: Int {
    guard let first = packets.first else { return Self.samplesPerPull }
    return Int(max(0, min(first.timestamp &- position.expected, 48_000)))
  }

  @discardableResult
  private func decodeFirst(at now: Instant) -> Bool {
    guard let packet = packets.first else { return false }
    let waited = now.nanoseconds &- packet.arrival &+ Self.nanoseconds(Int64(samples.count))
    let count = samples.append(5_760) { room in
      packets.withPayload(packet) { (try? decoder.decode($0, into: &room)) ?? 0 }
    }
    if count > 0 { isSilenceAnnounced = packets.withPayload(packet) { decoder.isSilence($0) } }
    packets.removeFirst()
    guard count > 0 else {
      stats.packetsMalformed += 1
      return false
    }
    position.decoded(packet.sequenceNumber, timestamp: packet.timestamp, count: count)
    stats.jitterBufferDelay += Double(max(0, waited)) / 1e9 * Double(count)
    stats.jitterBufferTargetDelay += Double(target) / 1e9 * Double(count)
    stats.jitterBufferEmittedCount += UInt64(count)
    enter(.audio)
    return true
  }

  private func restore(_ count: Int, skipping skipped: Int) {
    guard let packet = packets.first else { return }
    if skipped > 0 { samples.prepareJoin() }
    settleGenerated()
    let end = samples.count
    let restored = samples.append(count) { room in
      packets.withPayload(packet) {
        (try? decoder.decodeRedundancy(of: $0, sampleCount: count, into: &room)) ?? 0
      }
    }
    guard restored > skipped else {
      makeUp(.concealment)
      position.advance(by: min(Self.samplesPerPull, gapToFirst))
      return
    }
    if skipped > 0 { samples.join(at: end, skipping: skipped) }
    position.advance(by: restored - skipped)
    stats.fecPacketsUsed += 1
    enter(.audio)
  }

  /// Lets the decoder continue for 10 ms what it decoded last.
  private func makeUp(_ kind: Content) {
    var isQuiet = true
    _ = samples.append(Self.samplesPerPull) { room in
      var count = 0
      if kind == .comfortNoise || position.generated < Self.concealmentLimit {
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
}

// MARK: Time stretching

extension AudioJitterBuffer {
  private func stretch(at now: Instant) {
    guard let fastest = delays.fastestTransit else { return }
    let playing = Self.nanoseconds(position.expected &- Int64(samples.count))
    guard
      let (delay, isReliable) = pace.add(now.nanoseconds &- playing, fastestTransit: fastest)
    else { return }
    let phase = Self.nanoseconds(Int64(samples.count % Self.samplesPerPull))
    let isHeld = configuration.minimumDelay.wholeNanoseconds >= target
    let action = PlayoutPolicy.stretch(
      delay: delay, target: target, phase: isHeld ? nil : phase)
    // In a pause nobody hears it, so there is no need to go slowly.
    let isPause = pauses.isPause
    let rest = isPause ? 2 : 5
    switch action {
    case .none:
      if isReliable { pace.settle() }
    case .accelerate(let longest, let isFast):
      guard isReliable else { return }
      if !isPause, !isFast, pace.waitsForPause() { return }
      guard gather(2 * TimeStretcher.longest, at: now) else { return }
      // Where a period of the voice may be longer than what can be taken out, what is shorter has to fit as well as one.
      let isAny = longest >= TimeStretcher.longest
      let threshold = isAny ? pace.threshold : StretchPace.likeness
      let removed = samples.accelerate(
        longest: longest,
        threshold: isQuiet() ? StretchPace.leastLikeness : isFast ? min(threshold, 0.5) : threshold)
      guard removed > 0 || isAny else { return pace.postpone(pause: rest) }
      stats.removedSamplesForAcceleration += UInt64(removed)
      pace.stretched(by: -Self.nanoseconds(Int64(removed)), pause: isFast ? 2 : rest)
    case .expand:
      let added = samples.expand(
        threshold: isQuiet() ? StretchPace.leastLikeness : pace.threshold)
      stats.insertedSamplesForDeceleration += UInt64(added)
      pace.stretched(by: Self.nanoseconds(Int64(added)), pause: rest)
    }
  }

  /// Whether the pause goes on in what is stretched. Its noise needn't resemble itself.
  private func isQuiet() -> Bool {
    pauses.isPause && pauses.isQuiet(samples.level(ofNext: 2 * TimeStretcher.longest))
  }

  /// Decodes ahead, while packets continue one another, until `count` samples wait.
  private func gather(_ count: Int, at now: Instant) -> Bool {
    while samples.count < count, let first = packets.first, first.timestamp == position.expected {
      guard decodeFirst(at: now) else { return false }
    }
    return samples.count >= count
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
