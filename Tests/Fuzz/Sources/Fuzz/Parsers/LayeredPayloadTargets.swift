import SoraAV1
import SoraMedia
import SoraRTP
import SoraVP9

// Payload formats of codecs with spatial layers.
extension FuzzTarget {
  static var vp9Payload: FuzzTarget {
    let seeds: () -> [[UInt8]] = {
      [
        // Flexible, three references; then not, with layer indices, sizes of two layers and a group of four pictures.
        [0xF8, 0x81, 0x02, 0x33, 0x03, 0x05, 0x08, 0x86, 1, 2, 3],
        [0xAA, 0x81, 0x02, 0x30, 7, 0x38, 1, 64, 0, 180, 2, 128, 1, 104]
          + [4, 0x14, 4, 0x54, 1, 0x34, 2, 0x58, 1, 3, 0x82, 0x49, 0x83, 0x42, 0],
        [0x8C, 0x7F, 0x82, 0x49, 0x83, 0x42, 0x00, 0x27, 0xF0, 0x1D, 0xF0],
        [0x2C, 0x42, 9, 0x86, 0x00, 0x40, 0x92],
      ]
    }
    return FuzzTarget("vp9-payload", maximumLength: 512, seeds: seeds()) { input in
      _ = VP9FrameHeader(input.bindMemory(to: UInt8.self).span)
      var count = 0
      if let descriptor = try? VP9Descriptor(parsing: input, count: &count) {
        check(count <= input.count, "a descriptor longer than its payload")
        checkAgain(descriptor)
      }
      checkPayload(input, VP9Depayloader(), isVerbatim: true)
      for isFlexible in [false, true] {
        cutLayers(input, VP9PayloadFormat(isFlexible: isFlexible))
      }
    }
  }

  /// A descriptor reads back as it was, but for what isn't kept: the group's pictures, and references behind a gap.
  private static func checkAgain(_ descriptor: VP9Descriptor) {
    var expected = descriptor
    expected.structure?.groupCount = 0
    if expected.references.1 == 0 { expected.references.2 = 0 }
    let written = Seeds.datagram(64) {
      try expected.write(into: $0); return expected.byteCount
    }
    let again = lendExactly(written) { memory in
      var count = 0
      let read = try? VP9Descriptor(parsing: UnsafeRawBufferPointer(memory), count: &count)
      check(count == written.count, "another length than was written")
      return read
    }
    check(again == expected, "a descriptor reads back differently")
  }

  static var av1Payload: FuzzTarget {
    FuzzTarget("av1-payload", maximumLength: 512, seeds: av1Seeds()) { bytes in
      _ = AV1TemporalUnit(bytes.bindMemory(to: UInt8.self).span)
      checkPayload(bytes, AV1Depayloader(), isVerbatim: false)
      var input = FuzzInput(bytes)
      let maximum = 49 + Int(input.byte())
      let depayloader = AV1Depayloader()
      let together = EncodedBuffer(capacity: 1)
      while !input.isAtEnd {
        lendExactly(input.shortChunk()) { memory in
          let payload = UnsafeRawBufferPointer(memory)
          guard let info = try? depayloader.parse(payload, marker: false) else { return }
          depayloader.append(payload, info: info, to: together)
        }
      }
      let format = AV1PayloadFormat()
      cut(Array(together.bytes), format, maximum)
      cut(Array(bytes.dropFirst()), format, maximum)
      cutLayers(bytes, format)
    }
  }

  private static func av1Seeds() -> [[UInt8]] {
    var script = ScriptWriter()
    script.byte(1)
    for part in payloads(AV1PayloadFormat(), frame(av1Key + av1Delta), 60) {
      script.byte(UInt8(part.bytes.count))
      script.raw(part.bytes)
    }
    return [script.bytes, [20] + av1Key, [255] + av1Delta, [0x18, 1, 0x0A, 0x0B] + av1Key]
  }

  static var videoJitterBufferVP9: FuzzTarget {
    jitterBuffer(
      "video-jitter-buffer-vp9", RTPPayloadFormats.vp9,
      seeds: jitterBufferSeeds(
        RTPPayloadFormats.vp9, key: [0x82, 0x49, 0x83, 0x42] + [UInt8](repeating: 9, count: 70),
        delta: [0x86] + [UInt8](repeating: 8, count: 40)))
  }

  static var videoJitterBufferAV1: FuzzTarget {
    jitterBuffer(
      "video-jitter-buffer-av1", RTPPayloadFormats.av1,
      seeds: jitterBufferSeeds(RTPPayloadFormats.av1, key: av1Key, delta: av1Delta))
  }

  /// Temporal delimiter, the sequence header of a picture of 32x32, metadata and a frame; and a frame with a layer's number.
  private static let av1Key: [UInt8] =
    [0x12, 0, 0x0A, 10, 0, 0, 0, 0x02, 0x27, 0xFE, 0x00, 0x08, 0x20, 0x40, 0x2A, 2, 1, 7]
    + [0x32, 80, 0x10] + [UInt8](repeating: 9, count: 79)
  private static let av1Delta: [UInt8] =
    [0x12, 0, 0x36, 0x20, 40, 0x30] + [UInt8](repeating: 8, count: 39)

  /// Cuts a picture of layers whose sizes the input says: no payload may hold two of them.
  private static func cutLayers(_ bytes: UnsafeRawBufferPointer, _ format: any RTPPayloadFormat) {
    var input = FuzzInput(bytes)
    let maximum = 49 + Int(input.byte())
    var picture = frame([], isKeyFrame: input.byte() & 1 == 0)
    picture.temporalLayer = Int(input.byte() & 3)
    picture.layers.temporalLayerCount = 3
    picture.layers.spatialLayerCount = 1 + Int(input.byte() & 3)
    var ends = (0..<picture.layers.spatialLayerCount).map { _ in Int(input.byte()) }
    let payload = input.rest()
    if ends[0] & 1 == 0 { ends.sort() }
    ends[ends.count - 1] = payload.count
    picture.payload = EncodedBuffer(payload)
    for (index, end) in ends.enumerated() {
      picture.layers.append(
        SpatialLayerFrame(
          spatialLayer: index, end: end, width: 16 << index, height: 16 << index,
          isInterLayerPredicted: index > 0, isInterLayerReference: index + 1 < ends.count,
          references: (picture.isKeyFrame ? 0 : 1, 0, 0)))
    }
    let payloader = format.makePayloader(random: RandomSource(seed: 2))
    let promised = payloader.begin(picture, maximumPayload: maximum)
    var count = 0
    var last = -1
    lendExactly([UInt8](repeating: 0, count: maximum)) { buffer in
      while let part = payloader.nextLayerPart {
        check(part.layer >= last, "a layer came back")
        check(part.isFirst == (part.layer > last), "a layer that begins twice, or not at all")
        last = part.layer
        guard let written = payloader.next(into: buffer) else {
          return check(false, "a promised payload is missing")
        }
        check(written.count <= maximum, "a payload longer than its room")
        count += 1
        check(count <= promised, "more payloads than promised")
      }
    }
    check(count == promised, "\(count) payloads instead of \(promised)")
    if format is VP9PayloadFormat, promised > 0 {
      check(joined(picture, format, maximum) == payload, "the picture came out changed")
    }
  }
}
