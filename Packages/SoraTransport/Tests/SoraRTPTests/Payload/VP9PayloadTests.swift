import SoraMedia
import SoraRTP
import Testing

/// A picture of the given layer sizes in bytes, described as an encoder does.
func vp9Picture(
  _ sizes: [Int], isKeyFrame: Bool = false, temporalLayer: Int = 0, temporalLayers: Int = 1,
  timestamp: UInt32 = 0, fill: UInt8 = 3
) -> EncodedFrame {
  var layers = EncodedFrameLayers()
  layers.spatialLayerCount = sizes.count
  layers.temporalLayerCount = temporalLayers
  layers.isSwitchingPoint = temporalLayers > 1
  var end = 0
  for (index, size) in sizes.enumerated() {
    end += size
    layers.append(
      SpatialLayerFrame(
        spatialLayer: index, end: end, width: 320 << index, height: 180 << index,
        isInterLayerPredicted: isKeyFrame && index > 0,
        isInterLayerReference: isKeyFrame && index + 1 < sizes.count,
        references: isKeyFrame ? (0, 0, 0) : (1, 0, 0)))
  }
  let bytes = (0..<end).map { UInt8(truncatingIfNeeded: $0 &* 7) ^ fill }
  return EncodedFrame(
    payload: EncodedBuffer(bytes), isKeyFrame: isKeyFrame, rtpTimestamp: timestamp,
    timestamp: .zero, width: 1280, height: 720, temporalLayer: temporalLayer, layers: layers)
}

@Suite struct VP9PayloadTests {
  private func rewritten(_ descriptor: VP9Descriptor) throws -> [UInt8] {
    try written {
      try descriptor.write(into: $0)
      return descriptor.byteCount
    }
  }

  @Test func descriptorsAreReadAndWritten() throws {
    // I, P, L, F, B: picture id 0x1234; TID 2, U, SID 1, D; references 1 and 3 pictures back.
    let flexible: [UInt8] = [0xF8, 0x92, 0x34, 0x53, 0x03, 0x06, 0xAA]
    var count = 0
    var descriptor = try withBytes(flexible) { try VP9Descriptor(parsing: $0, count: &count) }
    #expect(count == 6)
    #expect(descriptor.pictureID == 0x1234 && descriptor.isFlexible)
    #expect(descriptor.temporalLayer == 2 && descriptor.isSwitchingPoint)
    #expect(descriptor.spatialLayer == 1 && descriptor.isInterLayerPredicted)
    #expect(descriptor.references == (1, 3, 0))
    #expect(descriptor.isLayerFrameStart && !descriptor.isLayerFrameEnd)
    var again = try rewritten(descriptor)
    #expect(again == Array(flexible.prefix(6)))

    // I, L, B, E, V: picture id 5 in 7 bits; TL0PICIDX 9; two layers with sizes, a group of one picture.
    let keyed: [UInt8] = [
      0xAE, 0x05, 0x10, 0x09, 0x38, 0x01, 0x40, 0x00, 0xB4, 0x02, 0x80, 0x01, 0x68, 0x01, 0x14,
      0x01, 0xFF,
    ]
    descriptor = try withBytes(keyed) { try VP9Descriptor(parsing: $0, count: &count) }
    #expect(count == 16)
    #expect(descriptor.pictureID == 5 && !descriptor.hasLongPictureID)
    #expect(descriptor.baseLayerIndex == 9)
    let structure = try #require(descriptor.structure)
    #expect(structure.spatialLayers == 2 && structure.groupCount == 1)
    #expect(structure.sizes[0] == (320, 180) && structure.sizes[1] == (640, 360))
    descriptor.structure?.groupTemporalLayers = 1
    again = try rewritten(descriptor)
    #expect(again == Array(keyed.prefix(16)))
    let info = try withBytes(keyed) { try VP9Depayloader().parse($0, marker: true) }
    #expect(info.isFrameStart && info.isFrameEnd && info.isKeyFrame)
    #expect(info.width == 640 && info.height == 360 && info.baseLayerIndex == 9)
    for bytes in [flexible, keyed] {
      for length in 0..<bytes.count {
        #expect(throws: RTPError.self) {
          _ = try withBytes(Array(bytes.prefix(length))) {
            try VP9Depayloader().parse($0, marker: false)
          }
        }
      }
    }
  }

  @Test func contradictionsAreRefused() {
    // Four references; flexible mode without a picture id.
    for bytes in [[0xD0, 0x01, 0x03, 0x03, 0x03, 0x02, 0xAA], [0x18, 0xAA]] as [[UInt8]] {
      #expect(throws: RTPError.malformedPayload(codec: "VP9")) {
        _ = try withBytes(bytes) { try VP9Depayloader().parse($0, marker: false) }
      }
    }
  }

  @Test(
    arguments: [[1], [17], [1172, 1], [1173, 1174], [3_000, 9_000, 1], [100_000]], [true, false])
  func picturesAreCutByLayerAndPutTogether(_ sizes: [Int], _ isFlexible: Bool) throws {
    let payloader = VP9PayloadFormat(isFlexible: isFlexible).makePayloader(
      random: RandomSource(seed: 4))
    for isKeyFrame in [true, false] {
      let picture = vp9Picture(sizes, isKeyFrame: isKeyFrame)
      let parts = payloads(payloader, picture, maximumPayload: 1184)
      let depayloader = VP9Depayloader()
      let buffer = EncodedBuffer(capacity: 10)
      var layerSizes = [Int](repeating: 0, count: sizes.count)
      for (index, part) in parts.enumerated() {
        try withBytes(part.bytes) { bytes in
          let info = try depayloader.parse(bytes, marker: part.marker)
          #expect(info.isFrameStart == (index == 0))
          #expect(info.isFrameEnd == (index == parts.count - 1))
          if index == 0 {
            #expect(info.isKeyFrame == isKeyFrame)
            #expect((info.width > 0) == isKeyFrame)
          }
          layerSizes[Int(info.spatialLayer)] += info.range.count
          depayloader.append(bytes, info: info, to: buffer)
        }
      }
      #expect(Array(buffer.bytes) == Array(picture.payload.bytes))
      #expect(layerSizes == sizes)
      #expect(parts.allSatisfy { $0.bytes.count <= 1184 })
      #expect(parts.filter(\.marker).count == 1)
    }
  }

  @Test func layerIndicesCountPicturesAndBaseLayers() throws {
    let payloader = VP9PayloadFormat().makePayloader(random: RandomSource(seed: 9))
    var infos: [RTPPayloadInfo] = []
    for (index, layer) in [0, 2, 1, 2, 0].enumerated() {
      let parts = payloads(
        payloader,
        vp9Picture([50], isKeyFrame: index == 0, temporalLayer: layer, temporalLayers: 3),
        maximumPayload: 200)
      infos.append(
        try withBytes(parts[0].bytes) { try VP9Depayloader().parse($0, marker: true) })
    }
    #expect(infos.map(\.temporalLayer) == [0, 2, 1, 2, 0])
    let base = try #require(infos[0].baseLayerIndex)
    #expect(infos.map(\.baseLayerIndex) == [base, base, base, base, base &+ 1])
    let first = try #require(infos[0].pictureID)
    #expect(infos.map(\.pictureID) == (0..<5).map { (first &+ $0) & 0x7FFF })
    #expect(infos.allSatisfy { $0.isSwitchingPoint })
  }

  @Test func noRoomGivesNoPacket() {
    let payloader = VP9PayloadFormat().makePayloader(random: RandomSource(seed: 4))
    #expect(payloads(payloader, vp9Picture([100], isKeyFrame: true), maximumPayload: 8).isEmpty)
    var broken = vp9Picture([100, 100])
    broken.payload = EncodedBuffer([1, 2, 3])
    #expect(payloads(payloader, broken, maximumPayload: 1000).isEmpty)
  }

  @Test func mutatedPayloadsNeverTrap() throws {
    let random = RandomSource(seed: 0x9)
    let payloader = VP9Payloader(random: random, isFlexible: false)
    let flexible = VP9Payloader(random: random, isFlexible: true)
    var samples: [[UInt8]] = []
    for isKeyFrame in [true, false] {
      for payloader in [payloader, flexible] {
        samples += payloads(
          payloader, vp9Picture([40, 60, 80], isKeyFrame: isKeyFrame), maximumPayload: 90
        ).map(\.bytes)
      }
    }
    let depayloader = VP9Depayloader()
    let frame = EncodedBuffer(capacity: 100)
    var refused = 0
    for round in 0..<20_000 {
      let bytes = mutated(samples[round % samples.count], random)
      withBytes(bytes) {
        do {
          let info = try depayloader.parse($0, marker: round & 1 == 0)
          #expect(info.range.upperBound <= bytes.count)
          frame.reset()
          depayloader.append($0, info: info, to: frame)
        } catch { refused += 1 }
      }
    }
    #expect(refused > 0)
  }
}
