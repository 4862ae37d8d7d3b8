import SoraMedia
import SoraRTP
import Testing

/// An hour of video over a lossy path: retransmissions and the jitter buffer together.
@Suite struct LossyCallTests {
  private struct Event {
    var time: Int64
    var order: UInt64
    var kind: Kind
    enum Kind {
      case packet(VideoStream.Packet, isRetransmission: Bool)
      case nack([UInt16])
      case keyFrameRequest
    }
  }

  /// A queue by time, then by order of insertion.
  private struct Events {
    private var heap: [Event] = []
    private var count: UInt64 = 0

    var first: Int64? { heap.first?.time }

    mutating func push(_ time: Int64, _ kind: Event.Kind) {
      count += 1
      heap.append(Event(time: time, order: count, kind: kind))
      var child = heap.count - 1
      while child > 0, before(child, (child - 1) / 2) {
        heap.swapAt(child, (child - 1) / 2)
        child = (child - 1) / 2
      }
    }

    mutating func pop() -> Event {
      heap.swapAt(0, heap.count - 1)
      let event = heap.removeLast()
      var parent = 0
      while true {
        var smallest = parent
        for child in [2 * parent + 1, 2 * parent + 2]
        where child < heap.count && before(child, smallest) { smallest = child }
        if smallest == parent { return event }
        heap.swapAt(parent, smallest)
        parent = smallest
      }
    }

    private func before(_ a: Int, _ b: Int) -> Bool {
      (heap[a].time, heap[a].order) < (heap[b].time, heap[b].order)
    }
  }

  @Test(arguments: [UInt64(1), 2])
  func anHourAtTwoPercentLossHasNoFreezeOverHalfASecond(seed: UInt64) {
    let random = RandomSource(seed: seed)
    let buffer = VideoJitterBuffer.vp8()
    var nack = NackGenerator()
    buffer.setRoundTrip(.milliseconds(110))
    nack.setRoundTrip(.milliseconds(110))
    var stream = VideoStream(ticksPerFrame: 3000)
    var history: [VideoStream.Packet?] = Array(repeating: nil, count: 1024)
    var events = Events()
    func isLost() -> Bool { random.next() % 100 < 2 }
    func delay() -> Int64 { 50_000_000 + Int64(random.next() % 10_000_000) }

    let frameInterval: Int64 = 33_333_333
    let end: Int64 = 3_600_000_000_000
    var nextFrame: Int64 = 0
    var wantsKeyFrame = true
    var lastShown: Int64?
    var longestFreeze: Int64 = 0
    var requests: [UInt16] = []
    var sent = 0
    var now: Int64 = 0
    while now < end {
      let wake =
        [
          nextFrame, events.first ?? .max, buffer.nextDeadline?.nanoseconds ?? .max,
          nack.nextDeadline?.nanoseconds ?? .max,
        ].min() ?? end
      now = max(now, wake)
      if nextFrame <= now {
        for packet in stream.frame(isKeyFrame: wantsKeyFrame, packets: wantsKeyFrame ? 12 : 3) {
          history[Int(packet.header.sequenceNumber) & 1023] = packet
          if !isLost() { events.push(now + delay(), .packet(packet, isRetransmission: false)) }
        }
        wantsKeyFrame = false
        sent += 1
        nextFrame += frameInterval
      }
      while let time = events.first, time <= now {
        switch events.pop().kind {
        case .packet(let packet, let isRetransmission):
          let instant = Instant(nanoseconds: now)
          nack.received(
            sequenceNumber: packet.header.sequenceNumber, isRetransmission: isRetransmission,
            at: instant)
          withBytes(packet.payload) {
            buffer.insert(
              packet.header, payload: $0, isRetransmission: isRetransmission, at: instant)
          }
        case .nack(let numbers):
          for number in numbers {
            guard let packet = history[Int(number) & 1023],
              packet.header.sequenceNumber == number, !isLost()
            else { continue }
            events.push(now + delay(), .packet(packet, isRetransmission: true))
          }
        case .keyFrameRequest: wantsKeyFrame = true
        }
      }
      let instant = Instant(nanoseconds: now)
      while let frame = buffer.nextFrame(at: instant) {
        if let lastShown {
          longestFreeze = max(longestFreeze, frame.timestamp.nanoseconds - lastShown)
        }
        lastShown = frame.timestamp.nanoseconds
      }
      if buffer.takeKeyFrameRequest(at: instant), !isLost() {
        events.push(now + delay(), .keyFrameRequest)
      }
      if let oldest = buffer.oldestUsefulSequenceNumber { nack.discard(before: oldest) }
      requests.removeAll(keepingCapacity: true)
      nack.collect(into: &requests, at: instant)
      if !requests.isEmpty, !isLost() { events.push(now + delay(), .nack(requests)) }
    }
    let statistics = buffer.statistics
    #expect(longestFreeze < 500_000_000)
    #expect(sent > 107_000)
    #expect(Int(statistics.framesEmitted) > sent * 999 / 1000)
    // Jitter of 10 ms needs little delay; waiting for retransmissions doesn't count into it.
    #expect(buffer.targetDelay <= .milliseconds(25))
  }
}
