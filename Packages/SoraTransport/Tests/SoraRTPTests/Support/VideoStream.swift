import SoraMedia
import SoraRTP

/// A made-up VP8 stream for jitter buffer tests: frames become packets with running numbers.
struct VideoStream {
  struct Packet {
    var header: RTPHeader
    var payload: [UInt8]
  }

  let payloader = VP8Payloader(random: RandomSource(seed: 21))
  var nextNumber: UInt16
  var nextTimestamp: UInt32
  let ticksPerFrame: UInt32
  let maximumPayload = 1000

  init(firstNumber: UInt16 = 100, firstTimestamp: UInt32 = 9000, ticksPerFrame: UInt32 = 3000) {
    nextNumber = firstNumber
    nextTimestamp = firstTimestamp
    self.ticksPerFrame = ticksPerFrame
  }

  /// The packets of the next frame, of `packets` packets.
  mutating func frame(isKeyFrame: Bool = false, packets: Int = 3, layer: Int = 0) -> [Packet] {
    let bytes = vp8Frame(
      isKeyFrame: isKeyFrame, size: packets * 900, fill: UInt8(truncatingIfNeeded: nextTimestamp))
    let frame = encodedFrame(
      bytes, isKeyFrame: isKeyFrame, timestamp: nextTimestamp, temporalLayer: layer)
    let result = payloads(payloader, frame, maximumPayload: maximumPayload).map { part in
      packet(part.bytes, marker: part.marker)
    }
    nextTimestamp &+= ticksPerFrame
    return result
  }

  /// A packet of nothing but padding, sent after the last frame.
  mutating func padding() -> Packet {
    var result = packet([], marker: false)
    result.header.timestamp = nextTimestamp &- ticksPerFrame
    return result
  }

  private mutating func packet(_ payload: [UInt8], marker: Bool) -> Packet {
    var header = RTPHeader(
      payloadType: 96, sequenceNumber: nextNumber, timestamp: nextTimestamp, ssrc: 1,
      marker: marker)
    header.payloadCount = payload.count
    nextNumber &+= 1
    return Packet(header: header, payload: payload)
  }
}

extension VideoJitterBuffer {
  func insert(
    _ packet: VideoStream.Packet, isRetransmission: Bool = false, at milliseconds: Int
  ) {
    withBytes(packet.payload) {
      insert(
        packet.header, payload: $0, isRetransmission: isRetransmission,
        at: .zero + .milliseconds(milliseconds))
    }
  }

  func insert(_ packets: [VideoStream.Packet], at milliseconds: Int) {
    for packet in packets { insert(packet, at: milliseconds) }
  }

  /// All frames that are handed out until `milliseconds`, waiting for deadlines as an owner does.
  func frames(from start: Int, until milliseconds: Int) -> [EncodedFrame] {
    var result: [EncodedFrame] = []
    var now = Instant.zero + .milliseconds(start)
    let end = Instant.zero + .milliseconds(milliseconds)
    while now <= end {
      while let frame = nextFrame(at: now) { result.append(frame) }
      guard let deadline = nextDeadline, deadline > now else { break }
      now = deadline
    }
    return result
  }

  static func vp8(
    _ configuration: Configuration = Configuration()
  ) -> VideoJitterBuffer {
    let buffer = VideoJitterBuffer(configuration: configuration)
    buffer.setFormat(RTPPayloadFormats.vp8, payloadType: 96)
    return buffer
  }
}
