import CSoraMallocCount
import SoraMedia
import SoraRTP
import SoraTransport
import Testing

/// What negotiation says of a codec reaches its packets: H.264's packetization mode, and the dependency descriptor of AV1.
@Suite struct SessionPayloadTests {
  private func parameters(
    _ codec: String, _ formatParameters: [String: String] = [:], descriptors: Bool = false
  ) -> RTPSendParameters {
    var result = TestStreams.video()
    result.codecName = codec
    result.formatParameters = formatParameters
    if descriptors { result.extensions.dependencyDescriptor = 12 }
    return result
  }

  private func section(
    _ codec: String, _ formatParameters: [String: String] = [:]
  ) -> RTPReceiveParameters {
    var result = TestStreams.videoSection()
    result.payloads[0].codecName = codec
    result.payloads[0].formatParameters = formatParameters
    result.extensions.dependencyDescriptor = 12
    return result
  }

  private func h264(_ isKey: Bool, size: Int) -> EncodedFrame {
    let sets: [UInt8] = [0, 0, 0, 1, 0x67, 0x42, 0xC0, 0x1F, 0xFF, 0, 0, 0, 1, 0x68, 0xFF]
    let slice = [0, 0, 0, 1, isKey ? 0x65 : 0x41, 0x88, 0x84] + [UInt8](repeating: 7, count: size)
    return EncodedFrame(
      payload: EncodedBuffer((isKey ? sets : []) + slice), isKeyFrame: isKey, rtpTimestamp: 9000,
      timestamp: .zero)
  }

  /// A temporal unit of one layer; the pattern of two temporal layers.
  private func av1(_ index: Int, size: Int) -> EncodedFrame {
    let isKey = index == 0
    var bytes: [UInt8] = [0x12, 0x00] + (isKey ? [0x0A, 3, 0, 0, 0] : [])
    bytes += [0x36, UInt8(index % 2) << 5, UInt8(size & 0x7F) | 0x80, UInt8(size >> 7)]
    bytes += [UInt8](repeating: 9, count: size)
    var frame = EncodedFrame(
      payload: EncodedBuffer(bytes), isKeyFrame: isKey, rtpTimestamp: UInt32(index) * 3000,
      timestamp: .zero, width: 640, height: 360, temporalLayer: index % 2)
    frame.layers.temporalLayerCount = 2
    frame.layers.isSwitchingPoint = true
    var layer = SpatialLayerFrame(end: bytes.count, width: 640, height: 360)
    layer.references.0 = isKey ? 0 : index % 2 == 1 ? 1 : 2
    frame.layers.append(layer)
    return frame
  }

  private func header(_ packet: [UInt8]) throws -> RTPHeader {
    try packet.withUnsafeBytes { try RTPHeader(parsing: $0) }
  }

  @Test func thePacketizationModeIsTheNegotiatedOne() throws {
    for (mode, packets) in [("1", 4), ("0", 0)] {
      let bench = SessionBench()
      let stream = try #require(
        bench.session.addSendStream(parameters("H264", ["packetization-mode": mode])))
      bench.session.send(h264(true, size: 3000), on: stream, at: bench.now)
      bench.pass(.milliseconds(200))
      #expect(stream.historyStatistics.stored == UInt64(packets))
      // In single units the slice is too large for a packet: counted, and nothing wrong is sent.
      #expect(stream.statistics.framesDropped == (packets == 0 ? 1 : 0))
      bench.session.send(h264(true, size: 900), on: stream, at: bench.now)
      bench.pass(.milliseconds(200))
      // Sets and slice in one, or one by one.
      #expect(stream.historyStatistics.stored == UInt64(mode == "1" ? packets + 1 : 3))
    }
    let bench = SessionBench()
    #expect(bench.session.addSendStream(parameters("H264", ["packetization-mode": "2"])) == nil)
  }

  @Test func aLaterNegotiationChangesTheMode() throws {
    let bench = SessionBench()
    let stream = try #require(
      bench.session.addSendStream(parameters("H264", ["packetization-mode": "0"])))
    bench.session.send(h264(true, size: 3000), on: stream, at: bench.now)
    #expect(stream.statistics.framesDropped == 1)
    bench.session.update(stream, parameters("H264", ["packetization-mode": "1"]))
    bench.session.send(h264(true, size: 3000), on: stream, at: bench.now)
    #expect(stream.statistics.framesDropped == 1 && stream.statistics.framesSent == 1)
  }

  @Test func parameterSetsOfTheDescriptionReachTheJitterBuffer() throws {
    let sender = SessionBench()
    let stream = try #require(
      sender.session.addSendStream(parameters("H264", ["packetization-mode": "1"])))
    let receiver = SessionBench(seed: 4)
    // 67 42 C0 1F FF, 68 FF.
    let sets = section("H264", ["sprop-parameter-sets": "Z0LAH/8=,aP8="])
    receiver.session.setReceiveSections([sets], at: receiver.now)
    var frame = h264(true, size: 500)
    let whole = Array(frame.payload.bytes)
    frame.payload = EncodedBuffer(Array(whole.dropFirst(15)))
    sender.session.send(frame, on: stream, at: sender.now)
    sender.pass(.milliseconds(50))
    // Another negotiation that changes nothing forgets nothing.
    receiver.session.setReceiveSections([sets], at: receiver.now)
    for packet in sender.takeRTP() { receiver.receive(packet) }
    receiver.pass(.milliseconds(100))
    #expect(receiver.frames.map { Array($0.payload.bytes) } == [whole])
  }

  @Test func av1PacketsSayWhatTheyNeed() throws {
    let sender = SessionBench()
    let stream = try #require(
      sender.session.addSendStream(parameters("AV1", descriptors: true)))
    let receiver = SessionBench(seed: 4)
    receiver.session.setReceiveSections([section("AV1")], at: receiver.now)
    var structure: DependencyDescriptor.Structure?
    var numbers: [UInt16] = []
    for index in 0..<8 {
      sender.session.send(av1(index, size: 2500), on: stream, at: sender.now)
      // The pacer may take longer than the next picture.
      sender.pass(.milliseconds(200))
      let packets = sender.takeRTP()
      for packet in packets where try header(packet).payloadType == 96 {
        let header = try header(packet)
        #expect(packet.count <= 1180)
        try packet.withUnsafeBytes { bytes in
          let range = try #require(header.extensionRange(id: 12, in: bytes))
          let descriptor = try DependencyDescriptor(
            parsing: UnsafeRawBufferPointer(rebasing: bytes[range]), structure: structure)
          #expect((descriptor.structure != nil) == (index == 0 && descriptor.isFrameStart))
          structure = descriptor.structure ?? structure
          #expect(descriptor.frame.temporalLayer == index % 2)
          #expect(descriptor.isFrameEnd == header.marker)
          if descriptor.isFrameStart { numbers.append(descriptor.frameNumber) }
        }
      }
      // The third picture's middle is lost, and asked for.
      for (position, packet) in packets.enumerated() where index != 2 || position != 1 {
        receiver.receive(packet)
      }
      receiver.pass(.milliseconds(200))
      for report in receiver.takeRTCP() { sender.receiveRTCP(report) }
    }
    #expect(structure?.decodeTargetCount == 2)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 } && numbers.count == 8)
    sender.pass(.milliseconds(10))
    let repeated = try sender.takeRTP().filter { try header($0).payloadType == 97 }
    // What is sent again says the same.
    for packet in repeated {
      let header = try header(packet)
      #expect(packet.withUnsafeBytes { header.extensionRange(id: 12, in: $0) } != nil)
      receiver.receive(packet)
    }
    receiver.pass(.milliseconds(500))
    #expect(!receiver.frames.isEmpty)
    let buffer = receiver.session.receiveStreams.first?.jitterBuffer
    #expect(buffer?.statistics.unreadableDependencyDescriptors == 0)
  }

  @Test(.needsOptimizer, arguments: ["H264", "H265", "AV1"])
  func payloadsAndDescriptorsAllocateNothing(codec: String) throws {
    let format = try #require(
      RTPPayloadFormats.named(codec, parameters: ["packetization-mode": "1"]))
    let payloader = format.makePayloader(random: RandomSource(seed: 1))
    let sender = DependencyDescriptorSender(random: RandomSource(seed: 2))
    let jitterBuffer = VideoJitterBuffer()
    jitterBuffer.setFormat(format, payloadType: 96)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1500, alignment: 16)
    defer { memory.deallocate() }
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    var frames = [av1(0, size: 6000), av1(1, size: 4000), av1(2, size: 4000)]
    if codec != "AV1" {
      frames = [h264(true, size: 6000), h264(false, size: 4000), h264(false, size: 4000)]
    }
    if codec == "H265" {
      let sets: [UInt8] =
        [
          0, 0, 1, 0x40, 1, 0x0C, 1, 0x55, 0, 0, 1, 0x42, 1, 1, 1, 0x60, 0, 0, 3, 0, 0x90, 0, 0, 3,
          0,
        ]
        + [0, 3, 0, 0x5D, 0xFF, 0x55, 0, 0, 1, 0x44, 1, 0xFF, 0x55]
      for index in frames.indices {
        let head: [UInt8] = (index == 0 ? sets : []) + [0, 0, 1, index == 0 ? 0x26 : 0x02, 1, 0xFF]
        frames[index].payload = EncodedBuffer(head + [UInt8](repeating: 7, count: 4000))
      }
    }
    var number: UInt16 = 0
    var before: UInt64 = 0
    var shown = 0
    var packets = 0
    for index in 0..<600 {
      if index == 300 { before = sora_malloc_count() }
      let now = Instant.zero + .milliseconds(index * 33)
      // One key frame, then the pattern of two temporal layers.
      let frame = frames[index == 0 ? 0 : 2 - index % 2]
      _ = sender.begin(frame)
      guard payloader.begin(frame, maximumPayload: 1100) > 0 else { continue }
      while true {
        let descriptor = payloader.nextLayerPart.map { sender.descriptor(of: $0) } ?? none
        guard let part = payloader.next(into: memory) else { break }
        var header = RTPHeader(
          payloadType: 96, sequenceNumber: number, timestamp: UInt32(index) &* 2970, ssrc: 1,
          marker: part.marker)
        header.payloadCount = part.count
        number &+= 1
        packets += 1
        jitterBuffer.insert(
          header, payload: UnsafeRawBufferPointer(rebasing: memory[..<part.count]),
          dependencyDescriptor: descriptor, at: now)
      }
      while jitterBuffer.nextFrame(at: now + .milliseconds(20)) != nil { shown += 1 }
    }
    let mallocs = sora_malloc_count() - before
    print(
      "\(codec): \(packets) packets, \(shown) frames, \(mallocs) allocations in the second half")
    #expect(packets > 2_000 && shown > 590)
    guard sora_malloc_count_is_on() != 0 else { return }
    #expect(mallocs == 0)
  }
}
