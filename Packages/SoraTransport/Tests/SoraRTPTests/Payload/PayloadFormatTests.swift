import SoraMedia
import SoraRTP
import Testing

/// A VP8 frame that a depayloader believes: frame tag, start code and size, then `size` bytes in all.
func vp8Frame(isKeyFrame: Bool, size: Int, fill: UInt8 = 7) -> [UInt8] {
  var bytes = [UInt8](repeating: fill, count: max(size, 10))
  bytes[0] = isKeyFrame ? 0x10 : 0x11
  if isKeyFrame {
    // 1280 x 720, no scaling.
    bytes.replaceSubrange(3..<10, with: [0x9D, 0x01, 0x2A, 0x00, 0x05, 0xD0, 0x02])
  }
  return bytes
}

func encodedFrame(
  _ bytes: [UInt8], isKeyFrame: Bool = false, timestamp: UInt32 = 0, temporalLayer: Int = 0
) -> EncodedFrame {
  EncodedFrame(
    payload: EncodedBuffer(bytes), isKeyFrame: isKeyFrame, rtpTimestamp: timestamp,
    timestamp: .zero, temporalLayer: temporalLayer)
}

/// The payloads of one frame with their marker bits.
func payloads(
  _ payloader: any RTPPayloader, _ frame: EncodedFrame, maximumPayload: Int
) -> [(bytes: [UInt8], marker: Bool)] {
  let expected = payloader.begin(frame, maximumPayload: maximumPayload)
  var result: [(bytes: [UInt8], marker: Bool)] = []
  var buffer = [UInt8](repeating: 0, count: maximumPayload)
  while let part = buffer.withUnsafeMutableBytes({ payloader.next(into: $0) }) {
    result.append((Array(buffer[0..<part.count]), part.marker))
  }
  #expect(result.count == expected)
  return result
}

@Suite struct VP8PayloadTests {
  @Test func theExamplesOfTheRFCAreUnderstood() throws {
    // RFC 7741 §4.6.1 and following: key frame in one packet, X and I set, 7-bit picture id 0x11.
    let first: [UInt8] = [0x90, 0x80, 0x11, 0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x40, 0x01, 0xF0, 0x00]
    var count = 0
    var descriptor = try withBytes(first) { try VP8Descriptor(parsing: $0, count: &count) }
    #expect(count == 3)
    #expect(descriptor.isPartitionStart && descriptor.partitionID == 0)
    #expect(descriptor.pictureID == 0x11 && !descriptor.hasLongPictureID)
    let info = try withBytes(first) { try VP8Depayloader().parse($0, marker: true) }
    #expect(info.isFrameStart && info.isFrameEnd && info.isKeyFrame)
    #expect(info.width == 320 && info.height == 240)
    #expect(info.range == 3..<13)
    // All fields: picture id 0x1234 in 15 bits, TL0PICIDX 0x55, TID 2 with Y, KEYIDX 3.
    let all: [UInt8] = [0xB1, 0xF0, 0x92, 0x34, 0x55, 0xA3, 0xFF]
    descriptor = try withBytes(all) { try VP8Descriptor(parsing: $0, count: &count) }
    #expect(count == 6)
    #expect(descriptor.isNonReference && descriptor.isPartitionStart && descriptor.partitionID == 1)
    #expect(descriptor.pictureID == 0x1234 && descriptor.hasLongPictureID)
    #expect(descriptor.baseLayerIndex == 0x55 && descriptor.temporalLayer == 2)
    #expect(descriptor.isLayerSync && descriptor.keyIndex == 3)
    let rewritten = try written(capacity: 6) {
      try descriptor.write(into: $0)
      return descriptor.byteCount
    }
    #expect(rewritten == Array(all.prefix(6)))
  }

  @Test func shortDescriptorsAreRefused() {
    let all: [UInt8] = [0xB1, 0xF0, 0x92, 0x34, 0x55, 0xA3, 0xFF]
    for length in 0..<7 {
      #expect(throws: RTPError.self) {
        _ = try withBytes(Array(all.prefix(length))) {
          try VP8Depayloader().parse($0, marker: false)
        }
      }
    }
  }

  @Test(arguments: [1, 10, 1179, 1180, 1181, 1188, 1189, 5000, 100_000])
  func framesAreCutEvenlyAndPutTogether(size: Int) throws {
    let frame = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let payloader = VP8PayloadFormat().makePayloader(random: RandomSource(seed: 4))
    let parts = payloads(payloader, encodedFrame(frame), maximumPayload: 1184)
    let depayloader = VP8Depayloader()
    let buffer = EncodedBuffer(capacity: 10)
    for (index, part) in parts.enumerated() {
      try withBytes(part.bytes) { bytes in
        let info = try depayloader.parse(bytes, marker: part.marker)
        #expect(info.isFrameStart == (index == 0))
        #expect(info.isFrameEnd == (index == parts.count - 1))
        depayloader.append(bytes, info: info, to: buffer)
      }
    }
    #expect(Array(buffer.bytes) == frame)
    let sizes = parts.map(\.bytes.count)
    #expect((sizes.max() ?? 0) <= 1184)
    #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1)
  }

  @Test func picturesAndBaseLayersAreCounted() throws {
    let payloader = VP8Payloader(random: RandomSource(seed: 4), hasTemporalLayers: true)
    let layers = [0, 2, 1, 2, 0]
    var infos: [RTPPayloadInfo] = []
    for layer in layers {
      let parts = payloads(
        payloader, encodedFrame([1, 2, 3], temporalLayer: layer), maximumPayload: 100)
      infos.append(
        try withBytes(parts[0].bytes) { try VP8Depayloader().parse($0, marker: true) })
    }
    #expect(infos.map { Int($0.temporalLayer) } == layers)
    let base = try #require(infos[0].baseLayerIndex)
    #expect(infos.map(\.baseLayerIndex) == [base, base, base, base, base &+ 1])
    let first = try #require(infos[0].pictureID)
    #expect(infos.map(\.pictureID) == (0..<5).map { (first &+ $0) & 0x7FFF })
  }

  @Test func anEmptyFrameOrNoRoomGivesNoPacket() {
    let payloader = VP8PayloadFormat().makePayloader(random: RandomSource(seed: 4))
    #expect(payloads(payloader, encodedFrame([]), maximumPayload: 100).isEmpty)
    #expect(payloads(payloader, encodedFrame([1]), maximumPayload: 4).isEmpty)
  }

  @Test func mutatedPayloadsNeverTrap() {
    let random = RandomSource(seed: 13)
    let good: [UInt8] = [0xB0, 0xF0, 0x92, 0x34, 0x55, 0xA3] + vp8Frame(isKeyFrame: true, size: 12)
    let depayloader = VP8Depayloader()
    let buffer = EncodedBuffer(capacity: 100)
    for _ in 0..<30_000 {
      withBytes(mutated(good, random)) { bytes in
        guard let info = try? depayloader.parse(bytes, marker: random.next() & 1 == 0) else {
          return
        }
        buffer.reset()
        depayloader.append(bytes, info: info, to: buffer)
      }
    }
  }
}

@Suite struct OpusPayloadTests {
  @Test func oneFrameIsOnePacket() throws {
    let payloader = RTPPayloadFormats.opus.makePayloader(random: RandomSource(seed: 1))
    let packet: [UInt8] = [0x78, 1, 2]  // CELT, 20 ms
    let markers = [0, 960, 1920, 9600].map { (timestamp: UInt32) in
      payloads(payloader, encodedFrame(packet, timestamp: timestamp), maximumPayload: 100)
    }
    #expect(markers.allSatisfy { $0.count == 1 && $0[0].bytes == packet })
    #expect(markers.map { $0[0].marker } == [true, false, false, true])
    #expect(payloads(payloader, encodedFrame(packet), maximumPayload: 2).isEmpty)
  }

  @Test func mutatedPayloadsNeverTrap() {
    let random = RandomSource(seed: 14)
    let depayloader = RTPPayloadFormats.opus.makeDepayloader()
    for _ in 0..<20_000 {
      withBytes(mutated([0x7B, 3, 1, 2], random)) { bytes in
        _ = try? depayloader.parse(bytes, marker: false)
      }
    }
  }

  /// An octet is a sample, so a packet's length tells where the next begins.
  @Test(arguments: ["pcmu", "PCMA"]) func packetsOfG711(_ name: String) throws {
    let format = try #require(RTPPayloadFormats.named(name))
    #expect(format.clockRate == 8_000 && format.kind == .audio)
    let payloader = format.makePayloader(random: RandomSource(seed: 1))
    let packet = [UInt8](repeating: 0xD5, count: 160)
    let markers = [0, 160, 320, 640].map { (timestamp: UInt32) in
      payloads(payloader, encodedFrame(packet, timestamp: timestamp), maximumPayload: 200)
    }
    #expect(markers.allSatisfy { $0.count == 1 && $0[0].bytes == packet })
    #expect(markers.map { $0[0].marker } == [true, false, false, true])
  }

  @Test func formatsAreFoundByName() {
    #expect(RTPPayloadFormats.named("vp8")?.clockRate == 90_000)
    #expect(RTPPayloadFormats.named("OPUS")?.kind == .audio)
    #expect(RTPPayloadFormats.named("G729") == nil)
  }
}
