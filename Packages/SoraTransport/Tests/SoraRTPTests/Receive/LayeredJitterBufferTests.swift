import SoraMedia
import SoraRTP
import Testing

/// The jitter buffer with codecs whose payloads don't say which packet is a frame's first, or have several layers.
@Suite struct LayeredJitterBufferTests {
  private final class Sender {
    let payloader: any RTPPayloader
    var number: UInt16 = 65_500
    init(_ format: any RTPPayloadFormat) {
      payloader = format.makePayloader(random: RandomSource(seed: 3))
    }

    func packets(_ frame: EncodedFrame) -> [VideoStream.Packet] {
      payloads(payloader, frame, maximumPayload: 600).map { part in
        var header = RTPHeader(
          payloadType: 98, sequenceNumber: number, timestamp: frame.rtpTimestamp, ssrc: 1,
          marker: part.marker)
        header.payloadCount = part.bytes.count
        number &+= 1
        return VideoStream.Packet(header: header, payload: part.bytes)
      }
    }
  }

  private func frame(_ codec: String, _ index: Int) -> EncodedFrame {
    let timestamp = UInt32(index) &* 3_000 &+ 77
    let isKeyFrame = index % 20 == 0
    if codec == "AV1" {
      return temporalUnit(isKeyFrame: isKeyFrame, size: 1_500 + index, timestamp: timestamp)
    }
    return vp9Picture(
      [300 + index, 900, 1_300], isKeyFrame: isKeyFrame, timestamp: timestamp,
      fill: UInt8(truncatingIfNeeded: index))
  }

  private func content(_ codec: String, _ frame: EncodedFrame) -> [[UInt8]] {
    codec == "AV1" ? obus(Array(frame.payload.bytes)) : [Array(frame.payload.bytes)]
  }

  @Test(arguments: ["AV1", "VP9"])
  func reorderedAndDuplicatedPacketsGiveEveryFrame(_ codec: String) throws {
    let format = try #require(RTPPayloadFormats.named(codec))
    let buffer = VideoJitterBuffer()
    buffer.setFormat(format, payloadType: 98)
    let sender = Sender(format)
    let random = RandomSource(seed: 5)
    var waiting: [VideoStream.Packet] = []
    var sent: [EncodedFrame] = []
    var received: [EncodedFrame] = []
    for index in 0..<100 {
      let made = frame(codec, index)
      sent.append(made)
      waiting += sender.packets(made)
      // Packets leave in an order that is mixed within a window of a few, some twice; the first stays first.
      while waiting.count > (index == 99 ? 0 : 5) {
        let reach = index < 2 ? 1 : min(5, waiting.count)
        let packet = waiting.remove(at: Int(random.next() % UInt64(reach)))
        buffer.insert(packet, at: index * 33)
        if random.next() % 5 == 0 { buffer.insert(packet, at: index * 33) }
      }
      received += buffer.frames(from: index * 33, until: index * 33 + 32)
    }
    received += buffer.frames(from: 3_300, until: 5_000)
    #expect(received.map(\.rtpTimestamp) == sent.map(\.rtpTimestamp))
    #expect(received.map { content(codec, $0) } == sent.map { content(codec, $0) })
    #expect(received.map(\.isKeyFrame) == sent.map(\.isKeyFrame))
    #expect(buffer.statistics.packetsDiscarded.duplicate > 0)
  }

  @Test(arguments: ["AV1", "VP9"])
  func lossEndsInAKeyFrameRequestAndIsOverWithIt(_ codec: String) throws {
    let format = try #require(RTPPayloadFormats.named(codec))
    let random = RandomSource(seed: 6)
    let buffer = VideoJitterBuffer()
    buffer.setFormat(format, payloadType: 98)
    let sender = Sender(format)
    var sent: [UInt32: [[UInt8]]] = [:]
    var received: [EncodedFrame] = []
    var requests = 0
    for index in 0..<400 {
      let made = frame(codec, index)
      sent[made.rtpTimestamp] = content(codec, made)
      for packet in sender.packets(made) where random.next() % 100 >= 3 {
        buffer.insert(packet, at: index * 33)
      }
      received += buffer.frames(from: index * 33, until: index * 33 + 32)
      if buffer.takeKeyFrameRequest(at: .zero + .milliseconds(index * 33 + 32)) { requests += 1 }
    }
    // Only whole frames come out, each behind a key frame without a gap.
    #expect(received.count > 60)
    #expect(requests > 3)
    var last: UInt32?
    for frame in received {
      #expect(sent[frame.rtpTimestamp] == content(codec, frame))
      if !frame.isKeyFrame, let last { #expect(frame.rtpTimestamp == last &+ 3_000) }
      last = frame.rtpTimestamp
    }
  }

  @Test(arguments: ["AV1", "VP9"])
  func joiningInTheMiddleAsksForAKeyFrame(_ codec: String) throws {
    let format = try #require(RTPPayloadFormats.named(codec))
    let buffer = VideoJitterBuffer()
    buffer.setFormat(format, payloadType: 98)
    let sender = Sender(format)
    var requested: Int?
    for index in 5..<30 {
      for packet in sender.packets(frame(codec, index)) { buffer.insert(packet, at: index * 33) }
      let frames = buffer.frames(from: index * 33, until: index * 33 + 32)
      if index < 20 { #expect(frames.isEmpty) }
      if requested == nil, buffer.takeKeyFrameRequest(at: .zero + .milliseconds(index * 33 + 32)) {
        requested = index
      }
      if index == 22 { #expect(buffer.statistics.keyFramesReceived == 1) }
    }
    #expect(try #require(requested) <= 8)
    #expect(buffer.statistics.framesEmitted >= 8)
  }

  @Test func aPictureWhoseLowerLayersWereLeftOutStarts() throws {
    let format = RTPPayloadFormats.vp9
    let buffer = VideoJitterBuffer()
    buffer.setFormat(format, payloadType: 98)
    let sender = Sender(format)
    var number: UInt16 = 10
    var received: [EncodedFrame] = []
    for index in 0..<12 {
      let made = vp9Picture(
        [100, 200, 1_300], isKeyFrame: index == 0, timestamp: UInt32(index) * 3_000)
      for var packet in sender.packets(made) {
        let layer = try withBytes(packet.payload) {
          try VP9Depayloader().parse($0, marker: false).spatialLayer
        }
        // As a server forwards it: all layers of the key picture, then the highest alone.
        guard index == 0 || layer == 2 else { continue }
        packet.header.sequenceNumber = number
        number &+= 1
        buffer.insert(packet, at: index * 33)
      }
      received += buffer.frames(from: index * 33, until: index * 33 + 32)
    }
    received += buffer.frames(from: 400, until: 1_000)
    #expect(received.count == 12)
    #expect(received.dropFirst().allSatisfy { $0.payload.count == 1_300 })
  }

  @Test func lostUpperLayersComeBackBehindASwitchingPoint() throws {
    let format = RTPPayloadFormats.vp9
    let buffer = VideoJitterBuffer()
    buffer.setFormat(format, payloadType: 98)
    let sender = Sender(format)
    var received: [UInt32] = []
    for index in 0..<40 {
      let layer = [0, 2, 1, 2][index % 4]
      let made = vp9Picture(
        [400], isKeyFrame: index == 0, temporalLayer: layer, temporalLayers: 3,
        timestamp: UInt32(index) * 3_000)
      let packets = sender.packets(made)
      // A frame of the middle layer is lost for good.
      if index != 10 { buffer.insert(packets, at: index * 33) }
      received += buffer.frames(from: index * 33, until: index * 33 + 32).map(\.rtpTimestamp)
    }
    received += buffer.frames(from: 1_320, until: 3_000).map(\.rtpTimestamp)
    // Gone: the lost frame, and the one that builds upon it.
    let expected = (0..<40).filter { $0 != 10 && $0 != 11 }.map { UInt32($0) * 3_000 }
    #expect(received == expected)
  }
}
