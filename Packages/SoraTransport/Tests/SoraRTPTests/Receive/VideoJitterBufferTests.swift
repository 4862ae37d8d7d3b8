import SoraMedia
import SoraRTP
import Testing

@Suite struct VideoJitterBufferTests {
  @Test func framesComeOutInOrderWithTheirBytes() throws {
    let buffer = VideoJitterBuffer.vp8()
    var stream = VideoStream(firstNumber: 65_530, firstTimestamp: .max - 10_000)
    var rendered = Instant.zero
    for index in 0..<100 {
      let timestamp = stream.nextTimestamp
      let packets = stream.frame(isKeyFrame: index == 0, packets: 1 + index % 4)
      let time = index * 33
      buffer.insert(packets, at: time)
      let frames = buffer.frames(from: time, until: time + 32)
      #expect(frames.count == 1)
      let frame = try #require(frames.first)
      #expect(frame.rtpTimestamp == timestamp)
      #expect(frame.isKeyFrame == (index == 0))
      #expect(frame.timestamp > rendered)
      rendered = frame.timestamp
      let expected = vp8Frame(
        isKeyFrame: index == 0, size: (1 + index % 4) * 900,
        fill: UInt8(truncatingIfNeeded: timestamp))
      #expect(Array(frame.payload.bytes) == expected)
      if index == 0 { #expect(frame.width == 1280 && frame.height == 720) }
    }
    let statistics = buffer.statistics
    #expect(statistics.framesReceived == 100 && statistics.framesEmitted == 100)
    #expect(statistics.keyFramesReceived == 1 && statistics.framesDropped == 0)
    #expect(statistics.stashCopies == 0)
    #expect(statistics.payloadCopies == statistics.packetsReceived)
    #expect(!buffer.keyFrameNeeded)
    #expect(buffer.currentFormat?.name == "VP8")
  }

  @Test(arguments: 0..<20)
  func anyOrderWithinAWindowIsPutRight(seed: UInt64) throws {
    let random = RandomSource(seed: seed)
    let buffer = VideoJitterBuffer.vp8()
    var stream = VideoStream(firstNumber: 65_000)
    var packets: [VideoStream.Packet] = []
    for index in 0..<200 { packets += stream.frame(isKeyFrame: index == 0) }
    // Each packet is at most 12 places late; the first four open the stream in order.
    let places = packets.indices.map { index in
      (index, index < 4 ? index : index + Int(random.next() % 12))
    }
    let order = places.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.map { $0.0 }
    var stamps: [UInt32] = []
    for (step, index) in order.enumerated() {
      let time = step * 11
      buffer.insert(packets[index], at: time)
      if random.next() % 4 == 0 { buffer.insert(packets[index], at: time) }
      stamps += buffer.frames(from: time, until: time + 10).map(\.rtpTimestamp)
    }
    stamps += buffer.frames(from: 7000, until: 9000).map(\.rtpTimestamp)
    let isComplete = stamps == (0..<200).map { 9000 + $0 * 3000 }
    #expect(isComplete)
    #expect(
      buffer.statistics.packetsDiscarded.total == buffer.statistics.packetsDiscarded.duplicate
        + buffer.statistics.packetsDiscarded.late)
    #expect(buffer.statistics.keyFrameRequests == 0)
  }

  @Test func aLostPacketIsWaitedForAndRecovered() throws {
    let buffer = VideoJitterBuffer.vp8()
    buffer.setRoundTrip(.milliseconds(100))
    var stream = VideoStream()
    buffer.insert(stream.frame(isKeyFrame: true), at: 0)
    #expect(buffer.frames(from: 0, until: 32).count == 1)
    let damaged = stream.frame()
    buffer.insert([damaged[0], damaged[2]], at: 33)
    buffer.insert(stream.frame(), at: 66)
    buffer.insert(stream.frame(), at: 99)
    #expect(buffer.frames(from: 99, until: 130).isEmpty)
    #expect(!buffer.takeKeyFrameRequest(at: .zero + .milliseconds(130)))
    buffer.insert(damaged[1], isRetransmission: true, at: 140)
    #expect(buffer.frames(from: 140, until: 240).count == 3)
    #expect(buffer.statistics.stashCopies == 1)
    #expect(buffer.statistics.framesDropped == 0)
  }

  @Test func aWholeLostFrameIsWaitedForToo() throws {
    let buffer = VideoJitterBuffer.vp8()
    var stream = VideoStream()
    buffer.insert(stream.frame(isKeyFrame: true), at: 0)
    _ = buffer.frames(from: 0, until: 32)
    let lost = stream.frame(packets: 1)
    buffer.insert(stream.frame(), at: 66)
    #expect(buffer.frames(from: 66, until: 90).isEmpty)
    buffer.insert(lost[0], isRetransmission: true, at: 150)
    #expect(buffer.frames(from: 150, until: 250).count == 2)
  }

  @Test func withoutRecoveryAKeyFrameIsAskedForAndShownAtOnce() throws {
    let buffer = VideoJitterBuffer.vp8()
    buffer.setRoundTrip(.milliseconds(100))
    var stream = VideoStream()
    buffer.insert(stream.frame(isKeyFrame: true), at: 0)
    _ = buffer.frames(from: 0, until: 32)
    var requestedAt: Int?
    var requests = 0
    var frames: [EncodedFrame] = []
    for index in 1..<40 {
      let time = index * 33
      let isKeyFrame = requestedAt.map { time - $0 > 100 } ?? false
      var packets = stream.frame(isKeyFrame: isKeyFrame)
      if isKeyFrame { requestedAt = .max / 2 }
      if index == 2 { packets.remove(at: 1) }
      buffer.insert(packets, at: time)
      frames += buffer.frames(from: time, until: time + 32)
      if buffer.takeKeyFrameRequest(at: .zero + .milliseconds(time + 32)) {
        requests += 1
        if requestedAt == nil { requestedAt = time + 32 }
      }
    }
    // Lost at 66 ms; the request goes out 2 RTT + 50 ms later, the key frame comes 100 ms after that.
    let keyFrame = try #require(frames.first { $0.isKeyFrame })
    #expect(keyFrame.timestamp < .zero + .milliseconds(66 + 250 + 100 + 100))
    #expect(requests == 1)
    #expect(buffer.statistics.framesDropped > 5)
    let stamps = frames.map(\.rtpTimestamp)
    #expect(stamps == stamps.sorted())
    // Everything from the key frame on is shown.
    #expect(stamps.last == stream.nextTimestamp - 3000)
    #expect(!buffer.keyFrameNeeded)
  }

  @Test func requestsAreRepeatedWhileTheNeedLasts() {
    let buffer = VideoJitterBuffer.vp8()
    buffer.setRoundTrip(.milliseconds(40))
    var stream = VideoStream()
    var requests = 0
    for index in 0..<60 {
      buffer.insert(stream.frame(), at: index * 33)
      #expect(buffer.frames(from: index * 33, until: index * 33).isEmpty)
      if buffer.takeKeyFrameRequest(at: .zero + .milliseconds(index * 33)) { requests += 1 }
    }
    #expect((8...14).contains(requests))
    buffer.insert(stream.frame(isKeyFrame: true), at: 2000)
    #expect(buffer.frames(from: 2000, until: 2030).count == 1)
    #expect(!buffer.keyFrameNeeded)
  }

  /// A request that was due is none any more once it was taken: its deadline may not stay in the past.
  @Test func aRequestThatWasTakenIsNotDueAnyMore() throws {
    let buffer = VideoJitterBuffer.vp8()
    var stream = VideoStream()
    buffer.insert(stream.frame(), at: 0)
    buffer.insert(stream.frame(), at: 33)
    buffer.insert(stream.frame(), at: 66)
    var now = Instant.zero + .milliseconds(66)
    var requests = 0
    // Nothing comes any more: the buffer is called when it wants to be.
    for _ in 0..<20 {
      #expect(buffer.nextFrame(at: now) == nil)
      if buffer.takeKeyFrameRequest(at: now) { requests += 1 }
      let next = try #require(buffer.nextDeadline)
      #expect(next > now, "call \(requests)")
      now = max(now, next)
    }
    #expect(requests >= 19)
  }

  @Test func aRegularKeyFrameEndsTheWait() {
    let buffer = VideoJitterBuffer.vp8()
    var stream = VideoStream()
    buffer.insert(stream.frame(isKeyFrame: true), at: 0)
    _ = buffer.frames(from: 0, until: 32)
    _ = stream.frame()
    buffer.insert(stream.frame(), at: 66)
    buffer.insert(stream.frame(isKeyFrame: true), at: 99)
    buffer.insert(stream.frame(), at: 132)
    let frames = buffer.frames(from: 132, until: 500)
    #expect(frames.map(\.isKeyFrame) == [true, false])
    #expect(buffer.statistics.keyFrameRequests == 0 && !buffer.keyFrameNeeded)
  }

  @Test func paddingFillsGaps() {
    let buffer = VideoJitterBuffer.vp8()
    var stream = VideoStream()
    buffer.insert(stream.frame(isKeyFrame: true), at: 0)
    buffer.insert([stream.padding(), stream.padding()], at: 5)
    _ = buffer.frames(from: 5, until: 30)
    let next = stream.frame()
    buffer.insert(next, at: 33)
    #expect(buffer.frames(from: 33, until: 60).count == 1)
    #expect(buffer.statistics.paddingPackets == 2)
    // Padding that is lost is told from media by the running picture id.
    _ = stream.padding()
    buffer.insert(stream.frame(), at: 66)
    #expect(buffer.frames(from: 66, until: 90).count == 1)
    // Padding that comes late is what a gap was.
    let padding = stream.padding()
    buffer.insert(stream.frame(), at: 99)
    _ = buffer.frames(from: 99, until: 120)
    buffer.insert(padding, at: 121)
    #expect(buffer.frames(from: 121, until: 130).count <= 1)
    #expect(buffer.statistics.framesEmitted == 4)
  }

  @Test func lateAndDuplicatePacketsAreCounted() {
    let buffer = VideoJitterBuffer.vp8()
    var stream = VideoStream()
    let first = stream.frame(isKeyFrame: true)
    buffer.insert(first, at: 0)
    buffer.insert(first[1], at: 1)
    _ = buffer.frames(from: 0, until: 32)
    buffer.insert(first[1], at: 33)
    #expect(buffer.statistics.packetsDiscarded.duplicate == 2)
    var unknown = first[0]
    unknown.header.payloadType = 50
    unknown.header.sequenceNumber = stream.nextNumber
    buffer.insert(unknown, at: 34)
    #expect(buffer.statistics.packetsDiscarded.unknownFormat == 1)
    unknown.header.payloadType = 96
    unknown.payload = [0x90]
    buffer.insert(unknown, at: 34)
    #expect(buffer.statistics.packetsDiscarded.malformed == 1)
  }

  @Test func aRestartedSourceIsFollowedFromItsKeyFrame() {
    let buffer = VideoJitterBuffer.vp8()
    var stream = VideoStream()
    buffer.insert(stream.frame(isKeyFrame: true), at: 0)
    _ = buffer.frames(from: 0, until: 32)
    var other = VideoStream(firstNumber: 40_000, firstTimestamp: 3_000_000_000)
    var shown = 0
    for index in 1..<20 {
      buffer.insert(other.frame(isKeyFrame: index == 10), at: index * 33)
      shown += buffer.frames(from: index * 33, until: index * 33 + 32).count
    }
    #expect(buffer.statistics.restarts == 1)
    #expect(shown == 10)
  }

  @Test func aFrameWithoutMarkerEndsWhereTheNextBegins() {
    let buffer = VideoJitterBuffer.vp8()
    var stream = VideoStream()
    var first = stream.frame(isKeyFrame: true)
    first[2].header.marker = false
    buffer.insert(first, at: 0)
    #expect(buffer.frames(from: 0, until: 20).isEmpty)
    buffer.insert(stream.frame(), at: 33)
    #expect(buffer.frames(from: 33, until: 80).count == 2)
  }
}

@Suite struct VideoJitterBufferLayerTests {
  @Test func aLostUpperLayerCostsOnlyThatLayer() {
    let buffer = VideoJitterBuffer.vp8()
    buffer.setRoundTrip(.milliseconds(20))
    var stream = VideoStream()
    stream.payloader.hasTemporalLayers = true
    let layers = [0, 1, 0, 1, 0, 1, 0, 1]
    var shown: [Int] = []
    for (index, layer) in layers.enumerated() {
      let packets = stream.frame(isKeyFrame: index == 0, packets: 1, layer: layer)
      if index != 3 { buffer.insert(packets, at: index * 33) }
      shown += buffer.frames(from: index * 33, until: index * 33 + 32).map(\.temporalLayer)
    }
    shown += buffer.frames(from: 264, until: 1000).map(\.temporalLayer)
    // Frames of the base layer go on; the upper layer has no sync point to come back at.
    #expect(shown == [0, 1, 0, 0, 0])
    #expect(buffer.statistics.keyFrameRequests == 0)
    #expect(!buffer.keyFrameNeeded)
  }

  @Test func aLostBaseLayerNeedsAKeyFrame() {
    let buffer = VideoJitterBuffer.vp8()
    var stream = VideoStream()
    stream.payloader.hasTemporalLayers = true
    for (index, layer) in [0, 1, 0, 1, 0, 1].enumerated() {
      let packets = stream.frame(isKeyFrame: index == 0, packets: 1, layer: layer)
      if index != 2 { buffer.insert(packets, at: index * 33) }
      _ = buffer.frames(from: index * 33, until: index * 33 + 32)
    }
    _ = buffer.frames(from: 198, until: 2000)
    #expect(buffer.keyFrameNeeded)
    #expect(buffer.statistics.framesEmitted == 2)
  }
}
