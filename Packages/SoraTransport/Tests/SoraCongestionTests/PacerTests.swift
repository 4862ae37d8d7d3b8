import SoraCongestion
import SoraMedia
import Testing

@Suite struct PacerTests {
  /// Takes what leaves until nothing waits, following `nextDeadline`.
  func drain(_ pacer: Pacer, from start: Instant, limit: Int = 100_000) -> [(
    token: Int, time: Instant
  )] {
    var now = start
    var left: [(Int, Instant)] = []
    for _ in 0..<limit {
      while let token = pacer.next(at: now) { left.append((token, now)) }
      guard let deadline = pacer.nextDeadline else { return left }
      now = max(deadline, now)
    }
    return left
  }

  @Test func packetsLeaveAtTwoAndAHalfTimesTheRate() {
    let pacer = Pacer(rate: .megabits(1))
    for token in 0..<250 {
      #expect(pacer.enqueue(size: 1_250, priority: .video, token: token, at: .zero))
    }
    let left = drain(pacer, from: .zero)
    #expect(left.map(\.token) == Array(0..<250))
    // 312,500 bytes at 2.5 Mbit/s are one second.
    let seconds = (left[249].time - Instant.zero).inSeconds
    #expect(abs(seconds - 1) < 0.02)
    // Nothing leaves in bursts of more than 5 ms.
    let first = left.filter { $0.time == .zero }.count
    #expect(first <= 3)
  }

  @Test func prioritiesGoInOrderAndAudioAtOnce() {
    let pacer = Pacer(rate: .kilobits(300))
    for token in 0..<20 {
      _ = pacer.enqueue(size: 1200, priority: .video, token: token, at: .zero)
    }
    _ = pacer.enqueue(size: 1200, priority: .padding, token: 300, at: .zero)
    #expect(pacer.next(at: .zero) == 0)
    while pacer.next(at: .zero) != nil {}
    _ = pacer.enqueue(size: 1200, priority: .retransmission, token: 100, at: .zero)
    _ = pacer.enqueue(size: 100, priority: .audio, token: 200, at: .zero)
    #expect(pacer.nextDeadline == .zero)
    #expect(pacer.next(at: .zero) == 200)
    #expect(pacer.next(at: .zero) == nil)
    let rest = drain(pacer, from: .zero).map(\.token)
    #expect(rest.first == 100)
    #expect(rest.last == 300)
  }

  @Test func whatIsNotWantedAnyMoreIsTakenOut() {
    let pacer = Pacer(rate: .kilobits(300))
    for token in 0..<20 {
      let now = Instant.zero + .milliseconds(token)
      _ = pacer.enqueue(size: 100 + token, priority: .video, token: token, at: now)
      _ = pacer.enqueue(size: 10, priority: .audio, token: 100 + token, at: now)
    }
    pacer.removePaced { $0 % 2 == 0 }
    #expect(pacer.queuedPackets == 30)
    #expect(pacer.queuedBytes == 200 + (0..<20).filter { $0 % 2 == 1 }.reduce(0) { $0 + 100 + $1 })
    let left = drain(pacer, from: .zero + .milliseconds(20)).map(\.token)
    #expect(left == Array(100..<120) + (0..<20).filter { $0 % 2 == 1 })
    #expect(pacer.queuedBytes == 0 && pacer.averageWait(at: .zero + .seconds(1)) == .zero)
  }

  @Test func theRateRisesBeforePacketsWaitTwoSeconds() {
    let pacer = Pacer(rate: .kilobits(100))
    for token in 0..<500 {
      _ = pacer.enqueue(size: 1000, priority: .video, token: token, at: .zero)
    }
    // 4 Mbit at 250 kbit/s would take 16 seconds.
    let last = drain(pacer, from: .zero).last
    #expect((last?.time ?? .distantFuture) < .zero + .milliseconds(2_050))
  }

  @Test func aFullQueueRefuses() {
    let pacer = Pacer(rate: .kilobits(100))
    var taken = 0
    for token in 0..<10_000
    where pacer.enqueue(size: 10, priority: .video, token: token, at: .zero) {
      taken += 1
    }
    #expect(taken == 8_192)
    #expect(pacer.queuedPackets == 8_192)
    #expect(pacer.queuedBytes == 81_920)
  }

  @Test func aProbeIsSentAtItsRateAndPadded() {
    let pacer = Pacer(rate: .kilobits(300))
    let request = ProbeRequest(cluster: 7, rate: .megabits(2), minimumBytes: 3_750)
    pacer.startProbe(request, at: .zero)
    _ = pacer.enqueue(size: 1000, priority: .video, token: 1, at: .zero)
    var now = Instant.zero
    var sent: [(Int, Instant)] = []
    while let deadline = pacer.nextDeadline, sent.count < 100 {
      now = max(now, deadline)
      if pacer.next(at: now) != nil {
        #expect(pacer.probeCluster == 7)
        sent.append((1000, now))
        continue
      }
      let padding = pacer.paddingSize(at: now)
      #expect(padding > 0)
      #expect(pacer.probeCluster == 7)
      sent.append((padding, now))
      pacer.paddingSent(size: padding, at: now)
    }
    let bytes = sent.dropLast().reduce(0) { $0 + $1.0 }
    let seconds = (sent.last!.1 - Instant.zero).inSeconds
    #expect(sent.count >= 5)
    #expect(abs(Double(bytes) * 8 / seconds - 2_000_000) < 20_000)
    #expect(pacer.nextDeadline == nil)
  }

  @Test func whatIsHeldWaitsAndAudioDoesNot() {
    let pacer = Pacer(rate: .megabits(1))
    for token in 0..<3 { _ = pacer.enqueue(size: 1_000, priority: .video, token: token, at: .zero) }
    pacer.hold(until: .zero + .milliseconds(200), sending: .megabits(1), at: .zero)
    _ = pacer.enqueue(size: 100, priority: .audio, token: 10, at: .zero)
    #expect(pacer.next(at: .zero) == 10)
    #expect(pacer.next(at: .zero) == nil)
    #expect(pacer.nextDeadline == .zero + .milliseconds(200))
    #expect(pacer.averageWait(at: .zero + .milliseconds(100)) == .milliseconds(100))
    // Then one may leave, or all once there is room.
    #expect(pacer.next(at: .zero + .milliseconds(200)) == 0)
    pacer.hold(
      until: .zero + .milliseconds(400), sending: .megabits(1), at: .zero + .milliseconds(200))
    #expect(pacer.next(at: .zero + .milliseconds(200)) == nil)
    pacer.release(at: .zero + .milliseconds(250))
    #expect(pacer.next(at: .zero + .milliseconds(250)) == 1)
  }

  /// Two seconds of video that waited through an outage don't leave at once, nor at the estimate, which may be far above what is sent.
  @Test func whatHasWaitedLeavesAtTheRateBefore() {
    let pacer = Pacer(rate: .megabits(5))
    pacer.hold(until: .zero + .seconds(2), sending: .megabits(1), at: .zero)
    for token in 0..<200 {
      let time = Instant.zero + .milliseconds(10) * token
      _ = pacer.enqueue(size: 1_250, priority: .video, token: token, at: time)
    }
    let released = Instant.zero + .seconds(2)
    pacer.release(at: released)
    let left = drain(pacer, from: released)
    #expect(left.count == 200)
    // Two megabits at 1.1 Mbit/s.
    let seconds = (left[199].time - released).inSeconds
    #expect(seconds > 1.6 && seconds < 1.9, "\(seconds)")
    // Behind the backlog everything is as before.
    for token in 0..<100 {
      _ = pacer.enqueue(size: 1_250, priority: .video, token: token, at: left[199].time)
    }
    let next = drain(pacer, from: left[199].time)
    #expect((next[99].time - left[199].time).inSeconds < 0.1)
  }

  /// What comes meanwhile and is more than was sent before doesn't keep the backlog for ever: what may leave grows.
  @Test func aBacklogEndsThoughMoreIsSentThanBefore() {
    let pacer = Pacer(rate: .megabits(5))
    pacer.hold(until: .zero + .seconds(1), sending: .megabits(1), at: .zero)
    for token in 0..<150 {
      let time = Instant.zero + .milliseconds(10) * token
      if token == 100 { pacer.release(at: time) }
      _ = pacer.enqueue(size: 1_250, priority: .video, token: token, at: time)
      while token >= 100, pacer.next(at: time) != nil {}
    }
    // One and a half megabits a second, for twelve seconds more.
    var token = 150
    for millisecond in 1_500..<13_500 {
      let time = Instant.zero + .milliseconds(millisecond)
      if millisecond % 20 == 0 {
        for _ in 0..<3 {
          _ = pacer.enqueue(size: 1_250, priority: .video, token: token, at: time)
          token += 1
        }
      }
      while pacer.next(at: time) != nil {}
    }
    #expect(pacer.queuedPackets == 0)
  }
}
