import SoraAudio
import SoraMedia
import Testing

@Suite struct JitterBufferScenarioTests {
  private func buffer() -> AudioJitterBuffer {
    AudioJitterBuffer(decoder: SilentPayloadDecoder())
  }

  @Test func withoutJitterTheDelayIsLowAndNothingIsConcealed() {
    let buffer = buffer()
    let history = AudioScenario(seconds: 20).run(buffer)
    #expect(buffer.stats.concealedSamples == 0)
    #expect(buffer.stats.packetsDiscarded == 0)
    #expect(history[19].stats.averageDelay(since: history[9].stats) < 35)
    #expect(buffer.targetDelay <= .milliseconds(20))
  }

  @Test func adaptsToJitterOf30Milliseconds() {
    let random = RandomSource(seed: 3)
    let buffer = buffer()
    let history = AudioScenario(
      seconds: 60, delay: { _ in 50 + Double.random(in: 0...30, using: &random.wrapped) }
    ).run(buffer)
    let late = history[59].stats
    #expect(late.concealedShare(since: history[4].stats) < 0.002)
    let delay = late.averageDelay(since: history[19].stats)
    #expect(delay > 5 && delay < 40, "\(delay) ms")
  }

  /// A path that mixes packets up by more than any single one would be waited for.
  @Test func adaptsToJitterOf160MillisecondsThatMixesPacketsUp() {
    let random = RandomSource(seed: 7)
    let buffer = buffer()
    let history = AudioScenario(
      seconds: 60, delay: { _ in max(0, Double.random(in: -40...160, using: &random.wrapped)) }
    ).run(buffer)
    let late = history[59].stats
    #expect(late.concealedShare(since: history[4].stats) < 0.005)
    #expect(buffer.targetDelay > .milliseconds(150) && buffer.targetDelay < .milliseconds(185))
  }

  /// While the delay is still growing, what others have overtaken is waited for, instead of being given up and coming too late.
  @Test func atTheStartOvertakenPacketsArentGivenUp() {
    let (late, concealed) = AudioScenario.lossesAtStarts(of: buffer)
    // Of 5,000 packets and 10,000 pulls; 78 and 190 where they were given up.
    #expect(late < 70 && concealed < 180, "late \(late), concealed \(concealed)")
  }

  /// However many packets are in the way for as long as somebody wishes, they have room.
  @Test(arguments: [(960, 4_000), (480, 3_000), (120, 2_000)])
  func aWishedDelayHasRoom(_ samplesPerPacket: Int, _ milliseconds: Int) {
    let buffer = AudioJitterBuffer(
      decoder: SilentPayloadDecoder(samplesPerPacket: samplesPerPacket))
    buffer.configuration.minimumDelay = .milliseconds(milliseconds)
    var output = [Int16](repeating: 0, count: AudioJitterBuffer.samplesPerPull)
    let payload: [UInt8] = [1, 2, 3, 4]
    var (sent, missing) = (0, 0)
    for pull in 0..<1_000 {
      let now = Instant.zero + .milliseconds(10 * pull)
      while sent * samplesPerPacket <= pull * 480 {
        buffer.insert(
          sequenceNumber: UInt16(sent), timestamp: UInt32(sent * samplesPerPacket),
          payload: payload.span, at: now)
        sent += 1
      }
      var room = output.mutableSpan
      let playout = buffer.getAudio(at: now, into: &room)
      if 10 * pull > milliseconds + 50, playout.content != .audio { missing += 1 }
    }
    #expect(missing == 0)
    #expect(buffer.stats.flushes == 0 && buffer.stats.packetsDiscarded == 0)
    let delay = buffer.currentDelay ?? .zero
    #expect(delay >= .milliseconds(milliseconds - 20) && delay <= .milliseconds(milliseconds + 20))
  }

  /// A delay that somebody wishes isn't reached by making up what is lost for longer than it was.
  @Test func aWishedDelayMakesLossesNoLonger() {
    let buffer = buffer()
    AudioScenario(seconds: 20, delay: { $0 % 20 == 19 ? nil : 50 }).run(buffer) { _, _ in
      if buffer.stats.totalSamplesReceived > 480_000 {
        buffer.configuration.minimumDelay = .milliseconds(500)
      }
    }
    #expect(buffer.targetDelay == .milliseconds(500))
    #expect(buffer.stats.concealedSamples <= 50 * 960 + 960)
  }

  /// Two in a hundred come a round trip later, as retransmissions do: 20 ms for a percent, and no more.
  @Test(arguments: [(150.0, true), (250.0, false)])
  func retransmissionsAreWaitedForWhereThatPays(_ lateness: Double, _ isWaitedFor: Bool) {
    let buffer = buffer()
    AudioScenario(seconds: 60, delay: { $0 % 50 == 49 ? 50 + lateness : 50 }).run(buffer)
    #expect((buffer.targetDelay >= .milliseconds(Int(lateness))) == isWaitedFor)
  }

  @Test func delayFallsAgainWhenJitterEnds() {
    let random = RandomSource(seed: 4)
    let buffer = buffer()
    let history = AudioScenario(
      seconds: 180,
      delay: { index in
        50 + (index < 3_000 ? Double.random(in: 0...120, using: &random.wrapped) : 0)
      }
    ).run(buffer)
    let during = history[59].stats.averageDelay(since: history[30].stats)
    let after = history[179].stats.averageDelay(since: history[170].stats)
    #expect(during > 50)
    #expect(after < 45, "\(after) ms")
    #expect(history[179].stats.removedSamplesForAcceleration > 0)
  }

  /// A queue on the path grows for three seconds and drains: a dozen seconds later it is no reason to wait any more. Jitter that comes back
  /// every few seconds is.
  @Test func aQueueThatDrainedIsForgottenAndJitterIsNot() {
    let queued = buffer()
    let history = AudioScenario(
      seconds: 40,
      delay: { 50 + ((500..<650).contains($0) ? 2 * Double($0 - 500) : Double($0 % 3)) }
    ).run(queued)
    let during = history[14].stats.averageDelay(since: history[12].stats)
    let after = history[29].stats.averageDelay(since: history[24].stats)
    #expect(during > 100, "\(during) ms")
    #expect(after < 45, "\(after) ms")
    let jittery = buffer()
    let later = AudioScenario(seconds: 40, delay: { 50 + ($0 % 200 < 10 ? 150 : 0) }).run(jittery)
    for second in 15..<40 {
      let delay = later[second].stats.averageDelay(since: later[second - 1].stats)
      #expect(delay > 100, "\(delay) ms in second \(second)")
    }
  }

  @Test func lossIsConcealedAndNoMore() {
    let random = RandomSource(seed: 5)
    let buffer = buffer()
    let history = AudioScenario(
      seconds: 60,
      delay: { _ in
        Double.random(in: 0...1, using: &random.wrapped) < 0.02
          ? nil : 50 + Double.random(in: 0...10, using: &random.wrapped)
      }
    ).run(buffer)
    let share = history[59].stats.concealedShare(since: history[4].stats)
    #expect(share > 0.012 && share < 0.03, "\(share)")
    #expect(history[59].stats.averageDelay(since: history[9].stats) < 50)
  }

  @Test(arguments: [-200.0, 200.0])
  func driftIsMadeUpFor(_ ppm: Double) {
    let buffer = buffer()
    let history = AudioScenario(seconds: 600, driftPPM: ppm).run(buffer)
    let stats = history[599].stats
    #expect(stats.concealedShare(since: history[4].stats) < 0.001)
    #expect(stats.packetsDiscarded == 0)
    // 200 ppm of ten minutes are 120 ms, or 5,760 samples.
    let early = history[4].stats
    let inserted =
      stats.insertedSamplesForDeceleration - early.insertedSamplesForDeceleration
    let removed = stats.removedSamplesForAcceleration - early.removedSamplesForAcceleration
    let change = Int(inserted) - Int(removed)
    #expect(abs(change - Int(5_712 * ppm / 200)) < 1_500, "\(change)")
    #expect(stats.averageDelay(since: history[9].stats) < 50)
  }

  @Test func aBurstAfterAStallIsPlayedAndThenCaughtUp() {
    let buffer = buffer()
    let history = AudioScenario(
      seconds: 40,
      // Packets sent between 10.0 s and 10.3 s all arrive at 10.35 s.
      delay: { index in
        let sent = Double(index * 20)
        return sent >= 10_000 && sent < 10_300 ? 10_350 - sent : 50
      }
    ).run(buffer)
    let stats = history[39].stats
    #expect(stats.concealedSamples > 0)
    #expect(stats.concealedSamples < 48_000 / 2)
    #expect(stats.concealmentEvents <= 3)
    #expect(stats.concealedShare(since: history[12].stats) == 0)
    #expect(history[39].stats.averageDelay(since: history[30].stats) < 150)
    #expect(stats.removedSamplesForAcceleration > 4_800)
  }

  @Test func reorderedPacketsArePutInOrder() {
    let buffer = buffer()
    let history = AudioScenario(seconds: 30, delay: { $0 % 10 == 3 ? 75 : 50 }).run(buffer)
    #expect(history[29].stats.concealedShare(since: history[4].stats) == 0)
    #expect(history[29].stats.packetsLate == history[4].stats.packetsLate)
  }

  @Test func numbersAndTimestampsWrap() {
    let buffer = buffer()
    var times: [UInt32] = []
    AudioScenario(
      seconds: 20, firstSequenceNumber: 65_500, firstTimestamp: UInt32.max - 200_000
    ).run(buffer) { _, playout in
      if let time = playout.rtpTimestamp { times.append(time) }
    }
    #expect(buffer.stats.concealedSamples == 0)
    #expect(buffer.stats.packetsDiscarded == 0)
    #expect(buffer.stats.flushes == 0)
    let steps = zip(times, times.dropFirst()).filter { $1 &- $0 == 480 }.count
    #expect(steps > times.count * 9 / 10)
  }

  @Test func latePacketsAreCountedAndDropped() {
    let buffer = buffer()
    AudioScenario(seconds: 20, delay: { $0 % 50 == 49 ? 900 : 50 }).run(buffer)
    #expect(buffer.stats.packetsLate >= 17)
    #expect(buffer.stats.packetsDiscarded == buffer.stats.packetsLate)
    #expect(buffer.stats.jitterBufferDelay / 48_000 / 20 < 0.05)
  }

  @Test func discontinuousTransmissionIsNoLoss() {
    let buffer = buffer()
    // One second of audio, then silence with a header every 400 ms.
    let history = AudioScenario(
      seconds: 40,
      isSent: { $0 % 100 < 50 || $0 % 100 == 50 || $0 % 20 == 10 },
      payload: { Array(repeating: 0, count: $0 % 100 < 50 ? 40 : 1) }
    ).run(buffer)
    #expect(history[39].stats.concealedSamples == 0)
    #expect(history[39].stats.comfortNoiseSamples > 48_000 * 15)
    #expect(history[39].stats.packetsDiscarded == 0)
    #expect(history[39].stats.averageDelay(since: history[9].stats) < 60)
  }

  @Test func aJumpOfTheSendersClockStartsOver() {
    for jump: Int64 in [-4_000_000, 4_000_000, 1 << 31] {
      let buffer = buffer()
      let output = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 480)
      defer { output.deallocate() }
      var concealedAtEnd: UInt64 = 0
      for pull in 0..<1_500 {
        let now = Instant(nanoseconds: Int64(pull) * 10_000_000)
        if pull % 2 == 0 {
          let timestamp = Int64(pull) * 480 + (pull >= 500 ? jump : 0)
          [UInt8](repeating: 0, count: 40).withUnsafeBytes {
            buffer.insert(
              sequenceNumber: UInt16(pull / 2),
              timestamp: UInt32(truncatingIfNeeded: timestamp + 10_000_000), payload: $0, at: now)
          }
        }
        buffer.getAudio(at: now, into: output)
        if pull == 700 { concealedAtEnd = buffer.stats.concealedSamples }
      }
      #expect(buffer.stats.concealedSamples == concealedAtEnd, "jump \(jump)")
      #expect(buffer.stats.concealedSamples < 96_000, "jump \(jump)")
    }
  }

  @Test func aDeviceThatPullsInBurstsIsServed() {
    let buffer = buffer()
    let output = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 480)
    defer { output.deallocate() }
    var settled = AudioJitterBufferStats()
    for step in 0..<3_000 {
      let now = Instant(nanoseconds: Int64(step) * 20_000_000)
      [UInt8](repeating: 0, count: 40).withUnsafeBytes {
        buffer.insert(
          sequenceNumber: UInt16(step), timestamp: UInt32(step * 960), payload: $0, at: now)
      }
      // Four blocks every 40 ms.
      if step % 2 == 1 { for _ in 0..<4 { buffer.getAudio(at: now, into: output) } }
      if step == 250 { settled = buffer.stats }
    }
    #expect(buffer.stats.concealedShare(since: settled) < 0.001)
    #expect(buffer.stats.averageDelay(since: settled) < 80)
  }

  @Test func memoryIsBounded() {
    let buffer = AudioJitterBuffer(
      decoder: SilentPayloadDecoder(), configuration: .init(maximumPackets: 50))
    for index in 0..<10_000 {
      [UInt8](repeating: 0, count: 100).withUnsafeBytes {
        buffer.insert(
          sequenceNumber: UInt16(truncatingIfNeeded: index), timestamp: UInt32(index * 960),
          payload: $0, at: Instant(nanoseconds: Int64(index) * 1_000_000))
      }
      #expect(buffer.packetCount <= 50)
    }
    #expect(buffer.stats.flushes > 100)
    #expect(buffer.stats.packetsDiscarded + UInt64(buffer.packetCount) == 10_000)
  }

  @Test func theSameInputGivesTheSameOutput() {
    func run() -> AudioJitterBufferStats {
      let random = RandomSource(seed: 11)
      let buffer = buffer()
      AudioScenario(
        seconds: 30,
        delay: { _ in
          Double.random(in: 0...1, using: &random.wrapped) < 0.05
            ? nil : Double.random(in: 20...120, using: &random.wrapped)
        }
      ).run(buffer)
      return buffer.stats
    }
    #expect(run() == run())
  }

  @Test func hostilePacketsNeverTrap() throws {
    let random = RandomSource(seed: 12)
    let buffer = AudioJitterBuffer(decoder: try OpusDecoder(channels: 2))
    let output = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 960)
    defer { output.deallocate() }
    var now: Int64 = 0
    for round in 0..<20_000 {
      now += Int64(random.next() % 20_000_000)
      if round % 997 == 0 { now = Int64(bitPattern: random.next()) >> 1 }
      let wild = random.next() % 4 == 0
      random.bytes(Int(random.next() % 90)).withUnsafeBytes {
        buffer.insert(
          sequenceNumber: wild ? UInt16(truncatingIfNeeded: random.next()) : UInt16(round & 0xFFFF),
          timestamp: wild
            ? UInt32(truncatingIfNeeded: random.next())
            : UInt32(truncatingIfNeeded: round * 960),
          payload: $0, at: Instant(nanoseconds: now))
      }
      buffer.getAudio(at: Instant(nanoseconds: now), into: output)
    }
    #expect(buffer.stats.totalSamplesReceived == 20_000 * 480)
  }
}

extension RandomSource {
  /// The source as a value that the standard library's random functions take.
  var wrapped: RandomSource {
    get { self }
    set {}
  }
}
