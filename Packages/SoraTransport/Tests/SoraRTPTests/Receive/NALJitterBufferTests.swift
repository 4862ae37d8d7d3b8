import SoraMedia
import SoraRTP
import Testing

/// H.264 and H.265 through the jitter buffer: where frames begin, which are key frames, and their parameter sets.
@Suite struct NALJitterBufferTests {
  @Test(arguments: NALCodec.allCases)
  func theFirstKeyFrameIsHandedOut(codec: NALCodec) {
    let random = RandomSource(seed: 1)
    var packetizer = NALPacketizer(codec.format)
    let buffer = VideoJitterBuffer.of(codec.format)
    let units = codec.parameterSets() + [codec.slice(isKey: true, size: 2000, random: random)]
    let packets = packetizer.frame(units)
    #expect(packets.count > 5)
    for (index, packet) in packets.enumerated() {
      buffer.insert(packet, at: index)
      // What begins may be a key frame: asking for one would be rash.
      #expect(!buffer.takeKeyFrameRequest(at: .zero + .milliseconds(index)))
    }
    let frames = buffer.frames(from: 10, until: 100)
    #expect(frames.map(\.isKeyFrame) == [true])
    #expect(frames.map { nalUnits($0.payload.bytes) } == [units])
    let delta = [codec.slice(isKey: false, size: 1000, random: random)]
    buffer.insert(packetizer.frame(delta), at: 133)
    let next = buffer.frames(from: 133, until: 300)
    #expect(next.map(\.isKeyFrame) == [false])
    #expect(next.map { nalUnits($0.payload.bytes) } == [delta])
    #expect(buffer.statistics.keyFramesReceived == 1)
  }

  @Test(arguments: NALCodec.allCases)
  func pictureThatOthersAreNeededForDoesNotStartTheStream(codec: NALCodec) {
    let random = RandomSource(seed: 2)
    var packetizer = NALPacketizer(codec.format)
    let buffer = VideoJitterBuffer.of(codec.format)
    for index in 0..<3 {
      // The delimiter shows the beginning, parameter sets alone don't make a key frame.
      let units =
        [codec.delimiter] + codec.parameterSets()
        + [codec.slice(isKey: false, size: 500, random: random)]
      buffer.insert(packetizer.frame(units), at: index * 33)
      #expect(buffer.frames(from: index * 33, until: index * 33 + 32).isEmpty)
    }
    #expect(buffer.takeKeyFrameRequest(at: .zero + .milliseconds(100)))
  }

  @Test(arguments: NALCodec.allCases)
  func intraRefreshStartsAtARecoveryPoint(codec: NALCodec) {
    let random = RandomSource(seed: 3)
    var packetizer = NALPacketizer(codec.format)
    let buffer = VideoJitterBuffer.of(codec.format)
    let units =
      codec.parameterSets() + [codec.recoveryPoint]
      + [codec.slice(isKey: false, size: 900, random: random)]
    buffer.insert(packetizer.frame(units), at: 0)
    let frames = buffer.frames(from: 0, until: 100)
    #expect(frames.map(\.isKeyFrame) == [true])
    #expect(frames.map { nalUnits($0.payload.bytes) } == [units])
  }

  @Test(arguments: NALCodec.allCases)
  func parameterSetsBeforeAreRememberedAndPutInFront(codec: NALCodec) {
    let random = RandomSource(seed: 4)
    var packetizer = NALPacketizer(codec.format)
    let buffer = VideoJitterBuffer.of(codec.format)
    // A frame of its own, with nothing to decode, of two sets of sets.
    buffer.insert(packetizer.frame(codec.parameterSets(0) + codec.parameterSets(1)), at: 0)
    #expect(buffer.frames(from: 0, until: 10).isEmpty)
    let slice = codec.slice(isKey: true, size: 700, random: random, parameters: 1)
    buffer.insert(packetizer.frame([slice]), at: 33)
    var frames = buffer.frames(from: 33, until: 65)
    #expect(frames.map { nalUnits($0.payload.bytes) } == [codec.parameterSets(1) + [slice]])
    #expect(frames.map(\.isKeyFrame) == [true])
    // New ones in a frame that needs others take the place of the old ones.
    let changed = codec.parameterSets(1, fill: 0x66)
    let delta = codec.slice(isKey: false, size: 100, random: random)
    buffer.insert(packetizer.frame(changed + [delta]), at: 66)
    buffer.insert(packetizer.frame([slice]), at: 99)
    frames = buffer.frames(from: 99, until: 200)
    #expect(
      frames.map { nalUnits($0.payload.bytes) } == [changed + [delta], changed + [slice]])
    #expect(frames.map(\.isKeyFrame) == [false, true])
    // A key frame that has its own keeps them.
    let own = codec.parameterSets(1, fill: 0x77) + [slice]
    buffer.insert(packetizer.frame(own), at: 132)
    #expect(buffer.frames(from: 132, until: 300).map { nalUnits($0.payload.bytes) } == [own])
    #expect(buffer.statistics.framesDropped == 0)
  }

  @Test(arguments: NALCodec.allCases)
  func parameterSetsOfTheDescriptionArePutInFront(codec: NALCodec) {
    let random = RandomSource(seed: 5)
    var packetizer = NALPacketizer(codec.format)
    let sets = codec.parameterSets()
    let format: any RTPPayloadFormat =
      codec == .h264
      ? H264PayloadFormat(parameterSets: sets) : H265PayloadFormat(parameterSets: sets)
    let buffer = VideoJitterBuffer.of(format)
    let slice = codec.slice(isKey: true, size: 1500, random: random)
    buffer.insert(packetizer.frame([slice]), at: 0)
    #expect(
      buffer.frames(from: 0, until: 50).map { nalUnits($0.payload.bytes) } == [sets + [slice]])
  }

  @Test(arguments: NALCodec.allCases)
  func unknownParameterSetsAskForAKeyFrame(codec: NALCodec) {
    let random = RandomSource(seed: 6)
    var packetizer = NALPacketizer(codec.format)
    let buffer = VideoJitterBuffer.of(codec.format)
    let slice = codec.slice(isKey: true, size: 300, random: random, parameters: 1)
    let good = codec.parameterSets(0) + [codec.slice(isKey: true, size: 300, random: random)]
    buffer.insert(packetizer.frame(good), at: 0)
    #expect(buffer.frames(from: 0, until: 30).count == 1)
    #expect(!buffer.takeKeyFrameRequest(at: .zero + .milliseconds(31)))
    // Names sets that nobody sent.
    buffer.insert(packetizer.frame([slice]), at: 33)
    #expect(buffer.frames(from: 33, until: 60).isEmpty)
    #expect(buffer.takeKeyFrameRequest(at: .zero + .milliseconds(61)))
    #expect(buffer.statistics.framesLackingParameterSets == 1)
    buffer.insert(packetizer.frame(codec.parameterSets(1) + [slice]), at: 66)
    #expect(buffer.frames(from: 66, until: 99).count == 1)
    #expect(!buffer.takeKeyFrameRequest(at: .zero + .seconds(1)))
  }

  @Test(arguments: NALCodec.allCases)
  func parameterSetsThatComeLateAreWaitedFor(codec: NALCodec) throws {
    let random = RandomSource(seed: 7)
    let slice = codec.slice(isKey: true, size: 1200, random: random)
    // Each unit in a packet of its own, as other senders do; then the packets in any order.
    let units = [codec.delimiter] + codec.parameterSets() + [codec.message(9, random: random)]
    for round in 0..<60 {
      var packetizer = NALPacketizer(codec.format)
      let buffer = VideoJitterBuffer.of(codec.format)
      var packets = units.map { packetizer.packet($0, marker: false) }
      packets += packetizer.frame([slice])
      var time = 0
      if round % 2 == 1 {
        // Not the first frame of the stream.
        let timestamp = packetizer.timestamp
        let first = codec.parameterSets() + [codec.slice(isKey: true, size: 50, random: random)]
        packetizer.number = packets[0].header.sequenceNumber &- 1
        packetizer.timestamp = timestamp &- 6000
        buffer.insert(packetizer.frame(first), at: 0)
        #expect(buffer.frames(from: 0, until: 20).count == 1)
        time = 33
      }
      var order = RandomSource(seed: UInt64(round))
      for packet in packets.shuffled(using: &order) {
        buffer.insert(packet, at: time)
      }
      let frames = buffer.frames(from: time, until: time + 90)
      // A delimiter or message that comes behind the first whole frame is no loss at the stream's beginning.
      let needed = codec.parameterSets() + [slice]
      let got = try #require(frames.first.map { nalUnits($0.payload.bytes) })
      if round % 2 == 1 {
        #expect(got == units + [slice])
      } else {
        #expect(needed.allSatisfy { got.contains($0) })
      }
      #expect(frames.count == 1 && frames[0].isKeyFrame)
    }
  }

  @Test(arguments: NALCodec.allCases, [0, 3, 10])
  func reorderingLossAndDuplicatesLeaveOnlyWholeFrames(codec: NALCodec, lossPercent: Int) {
    for seed in UInt64(0)..<3 {
      let random = RandomSource(seed: seed * 31 + UInt64(lossPercent))
      var packetizer = NALPacketizer(
        codec.format, maximumPayload: 200 + Int(random.next() % 1300))
      let buffer = VideoJitterBuffer.of(codec.format)
      var sent: [UInt32: [[UInt8]]] = [:]
      var late: [(at: Int, packet: VideoStream.Packet)] = []
      var got: [EncodedFrame] = []
      var wantsKey = true
      var missing: Set<UInt16> = []
      for index in 0..<150 {
        let now = index * 33
        let isKey = wantsKey
        wantsKey = false
        var units: [[UInt8]] = isKey ? codec.parameterSets() : []
        for slice in 0..<1 + Int(random.next() % 3) {
          units.append(
            codec.slice(
              isKey: isKey, size: Int(random.next() % 2500), random: random, isFirst: slice == 0))
        }
        sent[packetizer.timestamp] = units
        for packet in packetizer.frame(units) {
          if random.next() % 100 < UInt64(lossPercent) {
            // Most of them are sent again, a round trip later.
            missing.insert(packet.header.sequenceNumber)
            if random.next() % 20 != 0 { late.append((now + 60, packet)) }
            continue
          }
          late.append((now + Int(random.next() % 12), packet))
          if random.next() % 20 == 0 { late.append((now + Int(random.next() % 40), packet)) }
        }
        for millisecond in now..<now + 33 {
          for item in late where item.at == millisecond {
            buffer.insert(
              item.packet, isRetransmission: missing.contains(item.packet.header.sequenceNumber),
              at: millisecond)
          }
          late.removeAll { $0.at <= millisecond }
          let time = Instant.zero + .milliseconds(millisecond)
          while let frame = buffer.nextFrame(at: time) { got.append(frame) }
          if buffer.takeKeyFrameRequest(at: time) { wantsKey = true }
        }
      }
      got += buffer.frames(from: 150 * 33, until: 150 * 33 + 700)
      // Every frame is as it was sent, in order, and nothing that needs others follows a gap.
      var previous: UInt32?
      for frame in got {
        #expect(sent[frame.rtpTimestamp].map { nalUnits(frame.payload.bytes) == $0 } == true)
        if let previous, !frame.isKeyFrame {
          #expect(frame.rtpTimestamp &- previous == 3000)
        }
        previous = frame.rtpTimestamp
      }
      #expect(lossPercent > 0 ? got.count > 60 : got.count == 150)
      #expect(got.first?.isKeyFrame == true)
    }
  }

  @Test(arguments: NALCodec.allCases)
  func hostilePacketsNeverTrapAndStayBounded(codec: NALCodec) {
    for seed in UInt64(0)..<4 {
      let random = RandomSource(seed: 900 + seed)
      let buffer = VideoJitterBuffer.of(codec.format)
      var packetizer = NALPacketizer(codec.format)
      var queue: [VideoStream.Packet] = []
      for step in 0..<3000 {
        if queue.count < 10 {
          let isKey = random.next() % 10 == 0
          queue += packetizer.frame(
            (isKey ? codec.parameterSets(Int(random.next() & 1)) : [])
              + [
                codec.slice(
                  isKey: isKey, size: Int(random.next() % 1500), random: random,
                  parameters: Int(random.next() & 1))
              ])
        }
        var packet = queue.remove(at: Int(random.next() % UInt64(queue.count)))
        switch random.next() % 10 {
        case 0: continue
        case 1, 2: packet.payload = mutated(packet.payload, random)
        case 3: packet.header.sequenceNumber = UInt16(truncatingIfNeeded: random.next())
        case 4: packet.header.timestamp = UInt32(truncatingIfNeeded: random.next())
        case 5: packet.header.marker.toggle()
        default: break
        }
        buffer.insert(packet, isRetransmission: random.next() % 8 == 0, at: step)
        while buffer.nextFrame(at: .zero + .milliseconds(step)) != nil {}
        _ = buffer.takeKeyFrameRequest(at: .zero + .milliseconds(step))
      }
      #expect(buffer.statistics.framesEmitted <= buffer.statistics.framesReceived)
    }
  }
}
