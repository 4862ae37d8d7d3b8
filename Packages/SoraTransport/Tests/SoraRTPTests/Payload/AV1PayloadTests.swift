import SoraMedia
import SoraRTP
import Testing

/// An OBU with its size.
func obu(_ type: UInt8, _ body: [UInt8], layer: UInt8? = nil) -> [UInt8] {
  var bytes = [type << 3 | (layer == nil ? 0x02 : 0x06)]
  if let layer { bytes.append(layer << 3) }
  var rest = body.count
  repeat {
    bytes.append(UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
    rest >>= 7
  } while rest > 0
  return bytes + body
}

/// A sequence header that libaom wrote for 320x240.
let av1SequenceHeader: [UInt8] = [
  0x00, 0x00, 0x00, 0x04, 0x3C, 0xFF, 0xBC, 0xDA, 0xF9, 0x00, 0x40,
]

/// A temporal unit with one frame of `size` bytes.
func temporalUnit(isKeyFrame: Bool, size: Int, timestamp: UInt32 = 0) -> EncodedFrame {
  let body = (0..<max(1, size)).map {
    $0 == 0 ? (isKeyFrame ? 0x10 : 0x30) : UInt8(truncatingIfNeeded: $0 &* 11)
  }
  return EncodedFrame(
    payload: EncodedBuffer(
      obu(2, []) + (isKeyFrame ? obu(1, av1SequenceHeader) : []) + obu(6, body)),
    isKeyFrame: isKeyFrame, rtpTimestamp: timestamp, timestamp: .zero)
}

/// The OBUs of a unit, without their sizes.
func obus(_ bytes: [UInt8]) -> [[UInt8]] {
  var result: [[UInt8]] = []
  var offset = 0
  while offset < bytes.count {
    let header = bytes[offset]
    let headerCount = header & 4 != 0 ? 2 : 1
    var body = offset + headerCount
    var size = 0
    var shift = 0
    while body < bytes.count {
      size |= Int(bytes[body] & 0x7F) << shift
      shift += 7
      body += 1
      if bytes[body - 1] & 0x80 == 0 { break }
    }
    guard body + size <= bytes.count else { return [] }
    result.append([header] + bytes[offset + 1..<offset + headerCount] + bytes[body..<body + size])
    offset = body + size
  }
  return result
}

@Suite struct AV1PayloadTests {
  private func assemble(_ parts: [(bytes: [UInt8], marker: Bool)]) throws -> [UInt8] {
    let depayloader = AV1Depayloader()
    let buffer = EncodedBuffer(capacity: 10)
    for part in parts {
      try withBytes(part.bytes) {
        let info = try depayloader.parse($0, marker: part.marker)
        depayloader.append($0, info: info, to: buffer)
      }
    }
    return Array(buffer.bytes)
  }

  @Test func aKeyFrameInOnePacketLooksAsTheSpecificationSays() throws {
    let parts = payloads(
      AV1Payloader(), temporalUnit(isKeyFrame: true, size: 5), maximumPayload: 1184)
    // W 2, N: the sequence header with its length, the frame without; neither has a size of its own.
    let expected: [UInt8] =
      [0x28, 12, 0x08] + av1SequenceHeader + [0x30, 0x10, 11, 22, 33, 44]
    #expect(parts.map(\.bytes) == [expected])
    #expect(parts[0].marker)
    let info = try withBytes(expected) { try AV1Depayloader().parse($0, marker: true) }
    #expect(info.isFrameStart && info.isKeyFrame && info.isFrameEnd)
    #expect(info.width == 320 && info.height == 240)
  }

  @Test func elementsWithAndWithoutLengthsAreUnderstood() throws {
    // W 0: all elements have lengths. A temporal delimiter and an element with its own size among them.
    let unit = try assemble([
      ([0x08, 1, 0x10, 12, 0x08] + av1SequenceHeader + [4, 0x32, 2, 7, 8], true)
    ])
    #expect(obus(unit) == [[0x12], [0x0A] + av1SequenceHeader, [0x32, 7, 8]])
    // One unit in three packets: Y, Z Y, Z.
    let pieces = try assemble([
      ([0x50, 0x30, 1, 2], false), ([0xD0, 3, 4, 5], false), ([0x90, 6], true),
    ])
    #expect(obus(pieces) == [[0x12], [0x32, 1, 2, 3, 4, 5, 6]])
    // A continuation without its beginning is left out.
    #expect(obus(try assemble([([0xA0, 2, 9, 9, 0x30, 1], true)])) == [[0x12], [0x32, 1]])
  }

  @Test(arguments: [1, 22, 24, 1150, 1160, 1171, 1172, 1173, 1184, 1185, 5_000, 200_000])
  func unitsAreCutEvenlyAndPutTogether(_ size: Int) throws {
    for isKeyFrame in [true, false] {
      let frame = temporalUnit(isKeyFrame: isKeyFrame, size: size)
      let parts = payloads(AV1Payloader(), frame, maximumPayload: 1184)
      #expect(parts.allSatisfy { $0.bytes.count <= 1184 })
      #expect(obus(try assemble(parts)) == obus(Array(frame.payload.bytes)))
      #expect(parts.filter(\.marker).count == 1 && parts.last?.marker == true)
      let sizes = parts.map(\.bytes.count)
      // The last packet takes what rounding up left over.
      #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 64 + parts.count || size < 1200)
    }
  }

  @Test func manySmallUnitsTakeFewPackets() throws {
    let bytes = (0..<20).flatMap { obu(5, [UInt8](repeating: UInt8($0), count: 40)) }
    let frame = EncodedFrame(
      payload: EncodedBuffer(bytes), isKeyFrame: false, rtpTimestamp: 0, timestamp: .zero)
    let parts = payloads(AV1Payloader(), frame, maximumPayload: 1184)
    #expect(parts.count <= 7)
    #expect(obus(try assemble(parts)).dropFirst() == obus(bytes)[...])
  }

  @Test func spatialLayersDoNotShareAPacket() throws {
    let lower = obu(2, []) + obu(6, [UInt8](repeating: 0x30, count: 50), layer: 0)
    let upper = obu(6, [UInt8](repeating: 0x31, count: 60), layer: 1)
    var frame = EncodedFrame(
      payload: EncodedBuffer(lower + upper), isKeyFrame: false, rtpTimestamp: 0, timestamp: .zero)
    frame.layers.append(SpatialLayerFrame(spatialLayer: 0, end: lower.count))
    frame.layers.append(SpatialLayerFrame(spatialLayer: 1, end: lower.count + upper.count))
    let parts = payloads(AV1Payloader(), frame, maximumPayload: 1184)
    #expect(parts.count == 2)
    let infos = try parts.map { part in
      try withBytes(part.bytes) { try AV1Depayloader().parse($0, marker: part.marker) }
    }
    #expect(infos.map(\.spatialLayer) == [0, 1])
    #expect(obus(try assemble(parts)) == obus(lower + upper))
  }

  @Test func nonsenseIsRefusedOrSendsNothing() {
    for bytes in [
      [], [0x10], [0x88, 1], [0x20, 5, 1], [0x00, 0x85], [0x30, 1, 8, 1, 8], [0x10, 0x80],
    ]
      as [[UInt8]]
    {
      #expect(throws: RTPError.self) {
        _ = try withBytes(bytes) { try AV1Depayloader().parse($0, marker: true) }
      }
    }
    for bytes in [[], [0x80], [0x32], [0x32, 5, 1], obu(2, [])] as [[UInt8]] {
      let frame = EncodedFrame(
        payload: EncodedBuffer(bytes), isKeyFrame: false, rtpTimestamp: 0, timestamp: .zero)
      #expect(payloads(AV1Payloader(), frame, maximumPayload: 1000).isEmpty)
    }
  }

  @Test func mutationsNeverTrap() throws {
    let random = RandomSource(seed: 0xA1)
    let samples = payloads(
      AV1Payloader(), temporalUnit(isKeyFrame: true, size: 300), maximumPayload: 100
    ).map(\.bytes)
    let depayloader = AV1Depayloader()
    let payloader = AV1Payloader()
    let buffer = EncodedBuffer(capacity: 100)
    var refused = 0
    for round in 0..<20_000 {
      let bytes = mutated(samples[round % samples.count], random)
      if round % 5 == 0 { buffer.reset() }
      withBytes(bytes) {
        do {
          let info = try depayloader.parse($0, marker: false)
          depayloader.append($0, info: info, to: buffer)
        } catch { refused += 1 }
      }
      // What came out, damaged or not, through the sending half.
      let frame = EncodedFrame(
        payload: round % 2 == 0 ? EncodedBuffer(bytes) : EncodedBuffer(buffer.bytes),
        isKeyFrame: false, rtpTimestamp: 0, timestamp: .zero)
      _ = payloads(payloader, frame, maximumPayload: 64 + round % 100)
    }
    #expect(refused > 0)
  }
}
