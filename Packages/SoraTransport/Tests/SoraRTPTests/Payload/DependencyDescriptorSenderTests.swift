import SoraMedia
import SoraRTP
import Testing

/// A layered AV1 stream with real references, in packets with dependency descriptors.
private struct LayeredStream {
  var payloader: any RTPPayloader = AV1Payloader()
  let sender = DependencyDescriptorSender(random: RandomSource(seed: 5))
  let spatial: Int
  let temporal: Int
  var number: UInt16 = 65_000
  var timestamp: UInt32 = 3_000
  /// For who wants to shuffle packets.
  var order = RandomSource(seed: 9)
  private var position = 0

  init(spatial: Int, temporal: Int) {
    self.spatial = spatial
    self.temporal = temporal
  }

  struct Packet {
    var header: RTPHeader
    var payload: [UInt8]
    var descriptor: [UInt8]
    var temporalLayer: Int
  }

  /// The pattern of W3C webrtc-svc's L modes.
  mutating func frame(isKeyFrame: Bool = false, size: Int = 300) -> [Packet] {
    let period = 1 << (temporal - 1)
    position = isKeyFrame ? 0 : (position + 1) % period
    let layer = position == 0 ? 0 : temporal - 1 - position.trailingZeroBitCount
    var bytes: [UInt8] = [0x12, 0x00]
    var layers = EncodedFrameLayers()
    layers.temporalLayerCount = temporal
    layers.spatialLayerCount = spatial
    layers.isSwitchingPoint = true
    for index in 0..<spatial {
      let content = [UInt8](repeating: UInt8(index + 1), count: size)
      if isKeyFrame, index == 0 { bytes += [0x0A, 3, 0, 0, 0] }
      bytes += [0x36, UInt8(layer << 5 | index << 3), UInt8(size & 0x7F) | 0x80, UInt8(size >> 7)]
      bytes += content
      var part = SpatialLayerFrame(
        spatialLayer: index, end: bytes.count, width: 320 << index, height: 180 << index,
        isInterLayerPredicted: index > 0, isInterLayerReference: index + 1 < spatial)
      if !isKeyFrame {
        let back = position == 0 ? period : temporal == 3 && position == 3 ? 1 : position
        part.references.0 = UInt8(back)
      }
      layers.append(part)
    }
    let frame = EncodedFrame(
      payload: EncodedBuffer(bytes), isKeyFrame: isKeyFrame, rtpTimestamp: timestamp,
      timestamp: .zero, temporalLayer: layer, layers: layers)
    #expect(sender.begin(frame) > 0)
    #expect(payloader.begin(frame, maximumPayload: 120) > 0)
    var packets: [Packet] = []
    var buffer = [UInt8](repeating: 0, count: 120)
    while let part = payloader.nextLayerPart {
      let descriptor = Array(sender.descriptor(of: part))
      guard let written = buffer.withUnsafeMutableBytes({ payloader.next(into: $0) }) else { break }
      var header = RTPHeader(
        payloadType: 96, sequenceNumber: number, timestamp: timestamp, ssrc: 1,
        marker: written.marker)
      header.payloadCount = written.count
      number &+= 1
      packets.append(
        Packet(
          header: header, payload: Array(buffer[..<written.count]), descriptor: descriptor,
          temporalLayer: layer))
    }
    #expect(packets.last?.header.marker == true)
    timestamp &+= 3_000
    return packets
  }
}

extension VideoJitterBuffer {
  fileprivate func insert(_ packet: LayeredStream.Packet, at milliseconds: Int) {
    withBytes(packet.payload) { payload in
      withBytes(packet.descriptor) { descriptor in
        insert(
          packet.header, payload: payload, dependencyDescriptor: descriptor,
          at: .zero + .milliseconds(milliseconds))
      }
    }
  }
}

@Suite struct DependencyDescriptorSenderTests {
  private func read(
    _ packets: [LayeredStream.Packet], _ structure: inout DependencyDescriptor.Structure?
  ) throws -> [DependencyDescriptor] {
    try packets.map { packet in
      let read = try withBytes(packet.descriptor) {
        try DependencyDescriptor(parsing: $0, structure: structure)
      }
      structure = read.structure ?? structure
      return read
    }
  }

  @Test(arguments: [(1, 1), (1, 2), (1, 3), (2, 1), (2, 3), (3, 3)])
  func usualPatternsAreSaidByTemplatesAlone(spatial: Int, temporal: Int) throws {
    var stream = LayeredStream(spatial: spatial, temporal: temporal)
    var structure: DependencyDescriptor.Structure?
    var number: UInt16?
    for index in 0..<40 {
      let packets = stream.frame(isKeyFrame: index % 16 == 0)
      let all = try read(packets, &structure)
      for (position, descriptor) in all.enumerated() {
        #expect((descriptor.structure != nil) == (index % 16 == 0 && position == 0))
        // In steady state three bytes say all.
        if index % 16 >= 4, descriptor.structure == nil {
          #expect(packets[position].descriptor.count == 3)
        }
        if descriptor.isFrameStart {
          if let number { #expect(descriptor.frameNumber == number &+ 1) }
          number = descriptor.frameNumber
        }
        #expect(descriptor.frameNumber == number)
        #expect(descriptor.frame.temporalLayer == packets[position].temporalLayer)
      }
      #expect(all.filter(\.isFrameStart).map(\.frame.spatialLayer) == Array(0..<spatial))
      #expect(all.filter(\.isFrameEnd).count == spatial)
    }
    let resolutions = try #require(structure?.resolutions)
    #expect(resolutions.map(\.width) == (0..<spatial).map { 320 << $0 })
    #expect(structure?.decodeTargetCount == spatial * temporal)
  }

  @Test func theTwoAndThreeTemporalLayersAreThoseOfTheSpecification() throws {
    var stream = LayeredStream(spatial: 1, temporal: 3)
    var structure: DependencyDescriptor.Structure?
    _ = try read(stream.frame(isKeyFrame: true), &structure)
    let templates = try #require(structure?.templates)
    // AV1 RTP §A.10's L1T3: S S S, then - D S behind the base, and - - D behind each.
    #expect(templates.map(\.temporalLayer) == [0, 0, 1, 2, 2])
    #expect(templates.map(\.frameDifferences) == [[], [4], [2], [1], [1]])
    #expect(templates.map(\.chainDifferences) == [[0], [4], [2], [1], [3]])
    #expect(templates[1].indications == [.switch, .switch, .switch])
    #expect(templates[2].indications == [.notPresent, .discardable, .switch])
    #expect(templates[3].indications == [.notPresent, .notPresent, .discardable])
  }

  @Test func chainsAndReferencesAreRight() throws {
    // Whatever the pattern, what a frame needs has the number that the descriptors gave it.
    var stream = LayeredStream(spatial: 2, temporal: 3)
    var structure: DependencyDescriptor.Structure?
    var frames: [UInt16: DependencyDescriptor] = [:]
    var lastBase: [UInt16?] = [nil, nil]
    for index in 0..<24 {
      for descriptor in try read(stream.frame(isKeyFrame: index == 0), &structure)
      where descriptor.isFrameStart {
        let frame = descriptor.frame
        for difference in frame.frameDifferences {
          let other = frames[descriptor.frameNumber &- UInt16(difference)]?.frame
          #expect((other?.temporalLayer ?? 9) <= frame.temporalLayer)
          #expect((other?.spatialLayer ?? 9) <= frame.spatialLayer)
        }
        for chain in 0..<2 {
          if let last = lastBase[chain] {
            #expect(Int(descriptor.frameNumber &- last) == frame.chainDifferences[chain])
          }
          if frame.temporalLayer == 0, frame.spatialLayer <= chain {
            lastBase[chain] = descriptor.frameNumber
          }
        }
        frames[descriptor.frameNumber] = descriptor
      }
    }
    #expect(frames.count == 48)
  }

  @Test func lostPicturesOfHigherLayersLeaveTheOthersDecodable() {
    // Of four pictures the second is lost for good; the others need nothing of it.
    for withDescriptors in [true, false] {
      var stream = LayeredStream(spatial: 1, temporal: 3)
      let buffer = VideoJitterBuffer.of(RTPPayloadFormats.av1)
      var shown = 0
      var requests = 0
      for index in 0..<60 {
        var packets = stream.frame(isKeyFrame: index == 0)
        if index % 8 == 5 { continue }
        if !withDescriptors {
          for position in packets.indices { packets[position].descriptor = [] }
        }
        for packet in packets { buffer.insert(packet, at: index * 33) }
        shown += buffer.frames(from: index * 33, until: index * 33 + 32).count
        if buffer.takeKeyFrameRequest(at: .zero + .milliseconds(index * 33)) { requests += 1 }
      }
      shown += buffer.frames(from: 60 * 33, until: 60 * 33 + 800).count
      #expect(withDescriptors ? shown == 53 : shown < 20)
      #expect(withDescriptors ? buffer.statistics.framesDropped == 0 : requests > 0)
    }
  }

  @Test func whatNeedsALostPictureIsLeftOut() {
    // The middle layer's picture is lost: the last of the pattern needs it, the next pattern doesn't.
    var stream = LayeredStream(spatial: 1, temporal: 3)
    let buffer = VideoJitterBuffer.of(RTPPayloadFormats.av1)
    var shown: [UInt32] = []
    for index in 0..<24 {
      let packets = stream.frame(isKeyFrame: index == 0)
      if index == 6 { continue }
      for packet in packets { buffer.insert(packet, at: index * 33) }
      shown += buffer.frames(from: index * 33, until: index * 33 + 32).map(\.rtpTimestamp)
    }
    shown += buffer.frames(from: 24 * 33, until: 24 * 33 + 800).map(\.rtpTimestamp)
    let missing = Set((0..<24).map { UInt32(3_000 * ($0 + 1)) }).subtracting(shown)
    #expect(missing.sorted() == [21_000, 24_000])
    // A base layer's picture is missed by all that follow.
    for index in 24..<40 {
      let packets = stream.frame()
      if index == 28 { continue }
      for packet in packets { buffer.insert(packet, at: index * 33) }
      for frame in buffer.frames(from: index * 33, until: index * 33 + 32) {
        #expect(frame.rtpTimestamp < 3_000 * 29)
      }
    }
    #expect(buffer.keyFrameNeeded)
  }

  @Test func aFrameWithoutLayersIsDescribedAsOne() throws {
    let sender = DependencyDescriptorSender(random: RandomSource(seed: 1))
    var frame = EncodedFrame(
      payload: EncodedBuffer([1, 2, 3]), isKeyFrame: false, rtpTimestamp: 0, timestamp: .zero,
      width: 640, height: 360)
    // Nothing can be said before the first key frame.
    #expect(sender.begin(frame) == 0)
    let part = RTPLayerPart(layer: 0, isFirst: true, isLast: true)
    #expect(sender.descriptor(of: part).isEmpty)
    frame.isKeyFrame = true
    #expect(sender.begin(frame) > 3)
    let key = try DependencyDescriptor(parsing: sender.descriptor(of: part), structure: nil)
    #expect(key.structure?.resolutions == [.init(width: 640, height: 360)])
    #expect(key.frame.frameDifferences == [] && key.isFrameStart && key.isFrameEnd)
    frame.isKeyFrame = false
    #expect(sender.begin(frame) == 3)
    let delta = try DependencyDescriptor(
      parsing: sender.descriptor(of: part), structure: key.structure)
    #expect(delta.frame.frameDifferences == [1] && delta.frameNumber == key.frameNumber &+ 1)
  }

  @Test(arguments: [(2, 1), (2, 2), (3, 3)], ["AV1", "VP9"])
  func picturesOfSeveralSizesArriveWhole(layers: (Int, Int), codec: String) throws {
    let random = RandomSource(seed: 8)
    var stream = LayeredStream(spatial: layers.0, temporal: layers.1)
    let format = try #require(RTPPayloadFormats.named(codec))
    stream.payloader = format.makePayloader(random: random)
    let buffer = VideoJitterBuffer.of(format)
    var frames: [EncodedFrame] = []
    for index in 0..<48 {
      let packets = stream.frame(isKeyFrame: index % 16 == 0)
      #expect(packets.allSatisfy { $0.descriptor.count >= 3 })
      for packet in packets.shuffled(using: &stream.order) {
        buffer.insert(packet, at: index * 33)
      }
      frames += buffer.frames(from: index * 33, until: index * 33 + 32)
    }
    frames += buffer.frames(from: 48 * 33, until: 48 * 33 + 600)
    #expect(frames.count == 48)
    #expect(frames.map(\.isKeyFrame) == (0..<48).map { $0 % 16 == 0 })
    #expect(buffer.statistics.framesDropped == 0)
    #expect(frames[0].width == 320 << (layers.0 - 1))
  }

  @Test func hostileDescriptorsNeverTrap() {
    let random = RandomSource(seed: 66)
    var stream = LayeredStream(spatial: 3, temporal: 3)
    let buffer = VideoJitterBuffer.of(RTPPayloadFormats.av1)
    for index in 0..<600 {
      for var packet in stream.frame(isKeyFrame: index % 40 == 0, size: 200) {
        switch random.next() % 4 {
        case 0: packet.descriptor = mutated(packet.descriptor, random)
        case 1: packet.payload = mutated(packet.payload, random)
        default: break
        }
        if random.next() % 20 > 0 { buffer.insert(packet, at: index * 33) }
      }
      _ = buffer.frames(from: index * 33, until: index * 33 + 32)
      _ = buffer.takeKeyFrameRequest(at: .zero + .milliseconds(index * 33))
    }
    #expect(buffer.statistics.unreadableDependencyDescriptors > 0)
  }
}
