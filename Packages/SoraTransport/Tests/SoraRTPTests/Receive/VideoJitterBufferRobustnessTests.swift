import SoraMedia
import SoraRTP
import Testing

@Suite struct VideoJitterBufferRobustnessTests {
  @Test func randomPacketsNeverTrapAndStayBounded() {
    for seed in UInt64(0)..<6 {
      let random = RandomSource(seed: 100 + seed)
      let buffer = VideoJitterBuffer.vp8()
      var stream = VideoStream()
      var queue: [VideoStream.Packet] = []
      for step in 0..<8000 {
        if queue.count < 10 {
          queue += stream.frame(
            isKeyFrame: random.next() % 50 == 0, packets: 1 + Int(random.next() % 3))
        }
        var packet = queue.remove(at: Int(random.next() % UInt64(queue.count)))
        switch random.next() % 12 {
        case 0: continue
        case 1: packet.payload = mutated(packet.payload, random)
        case 2: packet.header.sequenceNumber = UInt16(truncatingIfNeeded: random.next())
        case 3: packet.header.timestamp = UInt32(truncatingIfNeeded: random.next())
        case 4: packet.header.marker.toggle()
        case 5: packet.header.sequenceNumber &+= UInt16(random.next() % 3000)
        default: break
        }
        let isRetransmission = random.next() % 8 == 0
        buffer.insert(packet, isRetransmission: isRetransmission, at: step)
        while buffer.nextFrame(at: .zero + .milliseconds(step)) != nil {}
        _ = buffer.takeKeyFrameRequest(at: .zero + .milliseconds(step))
      }
      let statistics = buffer.statistics
      #expect(statistics.framesEmitted <= statistics.framesReceived)
    }
  }

  @Test func buffersAreUsedAgainOnceTheyCameBack() {
    let buffer = VideoJitterBuffer.vp8()
    var stream = VideoStream()
    var seen: Set<ObjectIdentifier> = []
    var kept: [EncodedFrame] = []
    for index in 0..<300 {
      buffer.insert(stream.frame(isKeyFrame: index == 0), at: index * 33)
      for frame in buffer.frames(from: index * 33, until: index * 33 + 32) {
        seen.insert(ObjectIdentifier(frame.payload))
        kept.append(frame)
        if kept.count > 3 { kept.removeFirst() }
      }
    }
    #expect(seen.count <= 10)
    // What is still held was not written over.
    for frame in kept {
      #expect(
        frame.payload.bytes.dropFirst(20).allSatisfy {
          $0 == UInt8(truncatingIfNeeded: frame.rtpTimestamp)
        })
    }
  }

  @Test func theDelayFollowsTheJitter() {
    for jitter in [0, 10, 60] {
      let random = RandomSource(seed: 9)
      let buffer = VideoJitterBuffer.vp8()
      var stream = VideoStream(ticksPerFrame: 2970)
      var arrivals: [(Int, [VideoStream.Packet])] = []
      for index in 0..<600 {
        let extra = jitter == 0 ? 0 : Int(random.next() % UInt64(jitter))
        arrivals.append((index * 33 + extra, stream.frame(isKeyFrame: index == 0)))
      }
      arrivals.sort { $0.0 < $1.0 }
      var times: [Int64] = []
      for (index, arrival) in arrivals.enumerated() {
        buffer.insert(arrival.1, at: arrival.0)
        let until = index + 1 < arrivals.count ? arrivals[index + 1].0 - 1 : 30_000
        times += buffer.frames(from: arrival.0, until: until).map(\.timestamp.milliseconds)
      }
      #expect(times.count == 600)
      let target = buffer.targetDelay.inMilliseconds
      switch jitter {
      case 0: #expect(target == 0)
      case 10: #expect((8...9).contains(target))
      default: #expect((48...59).contains(target))
      }
      // Once it has settled, nearly all frames are shown in step.
      let steps = zip(times.dropFirst(100), times.dropFirst(101)).map { $1 - $0 }
      #expect(steps.filter { abs($0 - 33) > 8 }.count < steps.count / 8)
    }
  }
}
