import SoraMedia
import SoraRTP

// Payload formats whose packets depend on each other, and what goes along with them.
extension FuzzTarget {
  static var h264Payload: FuzzTarget {
    nalPayload(
      "h264-payload",
      [H264PayloadFormat(), H264PayloadFormat(packetizationMode: .singleUnit)], h264Units)
  }

  static var h265Payload: FuzzTarget {
    nalPayload("h265-payload", [H265PayloadFormat()], h265Units)
  }

  static var videoJitterBufferH264: FuzzTarget {
    jitterBuffer(
      "video-jitter-buffer-h264", RTPPayloadFormats.h264,
      seeds: jitterBufferSeeds(RTPPayloadFormats.h264, h264Units))
  }

  static var videoJitterBufferH265: FuzzTarget {
    jitterBuffer(
      "video-jitter-buffer-h265", RTPPayloadFormats.h265,
      seeds: jitterBufferSeeds(RTPPayloadFormats.h265, h265Units))
  }

  /// Parameter sets, a message, a picture to start at and one that needs it.
  private static let h264Units: [[UInt8]] = [
    [0x67, 0x42, 0xC0, 0x1F, 0xFF, 5], [0x68, 0xFF, 5], [0x06, 6, 1, 0x84, 0x80],
    [0x65, 0x88, 0x84] + [UInt8](repeating: 9, count: 70),
    [0x41, 0x9A, 0x84] + [UInt8](repeating: 8, count: 40),
  ]
  private static let h265Units: [[UInt8]] = [
    [0x40, 1, 0x0C, 1, 0xFF],
    [0x42, 1, 1, 1, 0x60, 0, 0, 3, 0, 0x90, 0, 0, 3, 0, 0, 3, 0, 0x5D, 0xFF, 5],
    [0x44, 1, 0xFF, 5],
    [0x26, 1, 0xBF] + [UInt8](repeating: 9, count: 70),
    [0x02, 1, 0xFF] + [UInt8](repeating: 8, count: 40),
  ]

  private static func annexB(_ units: some Sequence<[UInt8]>) -> [UInt8] {
    units.flatMap { [0, 0, 0, 1] + $0 }
  }

  static func frame(_ bytes: [UInt8], isKeyFrame: Bool = true) -> EncodedFrame {
    EncodedFrame(
      payload: EncodedBuffer(bytes), isKeyFrame: isKeyFrame, rtpTimestamp: 0, timestamp: .zero)
  }

  /// The payloads of a frame in memory of their exact size.
  static func payloads(
    _ format: any RTPPayloadFormat, _ frame: EncodedFrame, _ maximum: Int
  ) -> [(bytes: [UInt8], marker: Bool)] {
    let payloader = format.makePayloader(random: RandomSource(seed: 1))
    let promised = payloader.begin(frame, maximumPayload: maximum)
    var result: [(bytes: [UInt8], marker: Bool)] = []
    lendExactly([UInt8](repeating: 0, count: maximum)) { buffer in
      while let part = payloader.next(into: buffer) {
        check(result.count < promised, "more packets than promised")
        result.append((Array(buffer[..<part.count]), part.marker))
      }
    }
    check(result.count == promised, "\(result.count) packets instead of \(promised)")
    return result
  }

  /// The input is a byte stream to cut, and a row of payloads to put together.
  private static func nalPayload(
    _ name: String, _ formats: [any RTPPayloadFormat], _ units: [[UInt8]]
  ) -> FuzzTarget {
    func seeds() -> [[UInt8]] {
      var script = ScriptWriter()
      script.byte(40)
      for part in payloads(formats[0], frame(annexB(units)), 40) {
        script.byte(UInt8(part.bytes.count))
        script.raw(part.bytes)
      }
      return [script.bytes, [60] + annexB(units), [200] + annexB(units.reversed())]
    }
    return FuzzTarget(name, maximumLength: 1024, seeds: seeds()) { bytes in
      var input = FuzzInput(bytes)
      let maximum = 1 + Int(input.byte())
      let depayloader = formats[0].makeDepayloader()
      let together = EncodedBuffer(capacity: 1)
      var parts: RTPFrameParts = []
      while !input.isAtEnd {
        lendExactly(input.shortChunk()) { memory in
          let payload = UnsafeRawBufferPointer(memory)
          guard let info = try? depayloader.parse(payload, marker: false) else { return }
          check(info.range.upperBound <= payload.count, "media outside of its payload")
          depayloader.append(payload, info: info, to: together)
          parts.formUnion(info.parts)
        }
      }
      _ = depayloader.lacksParameterSets(together)
      let whole = depayloader.complete(together, parts: parts)
      check(whole.count >= together.count, "a frame became smaller")
      check(!depayloader.lacksParameterSets(whole) || whole === together, "sets of no use")
      for format in formats {
        cut(Array(bytes.dropFirst()), format, maximum)
        cut(Array(whole.bytes), format, maximum)
      }
    }
  }

  /// One payload by itself.
  ///
  /// - Parameter isVerbatim: whether a frame is made of nothing but its payloads' media bytes.
  static func checkPayload(
    _ input: UnsafeRawBufferPointer, _ depayloader: any RTPDepayloader, isVerbatim: Bool
  ) {
    for marker in [false, true] {
      guard let info = try? depayloader.parse(input, marker: marker) else { continue }
      check(info.range.upperBound <= input.count, "media outside of its payload")
      let frame = EncodedBuffer(capacity: 1)
      depayloader.append(input, info: info, to: frame)
      check(
        !isVerbatim || frame.count == info.range.count, "another number of bytes was appended")
    }
  }

  /// What is cut up must come together again: cutting that gives the same packets.
  static func cut(_ bytes: [UInt8], _ format: any RTPPayloadFormat, _ maximum: Int) {
    let once = joined(frame(bytes), format, maximum) ?? []
    check(
      joined(frame(once), format, maximum) ?? [] == once, "a frame changes each time it is sent")
  }

  /// What a frame's payloads hold, put together; nil for a frame that isn't cut at all.
  static func joined(
    _ frame: EncodedFrame, _ format: any RTPPayloadFormat, _ maximum: Int
  ) -> [UInt8]? {
    let parts = payloads(format, frame, maximum)
    guard !parts.isEmpty else { return nil }
    let depayloader = format.makeDepayloader()
    let buffer = EncodedBuffer(capacity: 1)
    for part in parts {
      lendExactly(part.bytes) { memory in
        let payload = UnsafeRawBufferPointer(memory)
        // A unit may hold nothing but its header, or one that no unit may have.
        guard let info = try? depayloader.parse(payload, marker: part.marker) else { return }
        depayloader.append(payload, info: info, to: buffer)
      }
    }
    return Array(buffer.bytes)
  }

  private static func jitterBufferSeeds(
    _ format: any RTPPayloadFormat, _ units: [[UInt8]]
  ) -> [[UInt8]] {
    jitterBufferSeeds(format, key: annexB(units.dropLast()), delta: annexB(units.suffix(1)))
  }

  /// A script of two key frames and what follows each, with packets out of order.
  static func jitterBufferSeeds(
    _ format: any RTPPayloadFormat, key: [UInt8], delta: [UInt8]
  ) -> [[UInt8]] {
    var script = ScriptWriter()
    var number = 65_520
    for index in 0..<8 {
      let isKey = index % 4 == 0
      var packets = payloads(format, frame(isKey ? key : delta, isKeyFrame: isKey), 40)
      if index % 3 == 2, packets.count > 1 { packets.swapAt(0, packets.count - 1) }
      for (offset, packet) in packets.enumerated() {
        script.byte(index % 5 == 4 ? 0x05 : 0x01)
        script.number16(number + (index % 3 == 2 ? packets.count - 1 - offset : offset))
        script.number32(UInt32(index) * 3_000)
        script.byte(packet.marker ? 0x80 | 96 : 96)
        script.byte(UInt8(packet.bytes.count))
        script.raw(packet.bytes)
      }
      number += packets.count
      script.raw([0x02, 33])
    }
    return [script.bytes]
  }

  static var redPayload: FuzzTarget {
    let seeds: [[UInt8]] = [
      [0x87, 2, 0x80, 4, 5, 1, 2, 3, 4, 5, 6], [111, 1, 2, 3],
      [0xEF, 0x0F, 0, 3, 0xEF, 0x07, 0x80, 2, 111, 1, 2, 3, 4, 5, 6],
    ]
    return FuzzTarget("red-payload", maximumLength: 512, seeds: seeds) { input in
      _ = try? REDDepayloader().parse(input, marker: false)
      if let blocks = try? REDPayload.Blocks(parsing: input) {
        let all = Array(blocks)
        check(all.count == blocks.count, "another number of blocks than counted")
        check(all.last?.isPrimary == true, "no newest block")
        for (block, next) in zip(all, all.dropFirst()) {
          check(block.range.upperBound == next.range.lowerBound, "a gap between blocks")
        }
        check(all.last?.range.upperBound == input.count, "bytes that belong to no block")
      }
      // What is repeated must be what was sent.
      var script = FuzzInput(input)
      let format = REDPayloadFormat(
        primaryPayloadType: script.byte(), redundancy: Int(script.byte() & 7))
      let payloader = format.makePayloader(random: RandomSource(seed: 1))
      var sent: [UInt32: [UInt8]] = [:]
      var timestamp: UInt32 = 0xFFFF_0000
      while !script.isAtEnd {
        timestamp &+= UInt32(script.byte()) * 97 + 1
        let packet = script.shortChunk()
        var frame = Self.frame(packet)
        frame.rtpTimestamp = timestamp
        let maximum = 200
        guard payloader.begin(frame, maximumPayload: maximum) > 0 else { continue }
        sent[timestamp] = packet
        lendExactly([UInt8](repeating: 0, count: maximum)) { buffer in
          guard let part = payloader.next(into: buffer) else {
            return check(false, "a promised packet is missing")
          }
          let payload = UnsafeRawBufferPointer(rebasing: buffer[..<part.count])
          guard let blocks = try? REDPayload.Blocks(parsing: payload) else {
            return check(false, "our own payload doesn't parse")
          }
          for block in blocks {
            let time = timestamp &- UInt32(block.timestampOffset)
            check(sent[time] == Array(payload[block.range]), "another packet than was sent")
          }
        }
      }
    }
  }

  static var dependencyDescriptor: FuzzTarget {
    func seeds() -> [[UInt8]] {
      var structure = DependencyDescriptor.Structure()
      structure.decodeTargetCount = 2
      structure.chainCount = 1
      structure.protectingChains = [0, 0]
      structure.templates = [
        .init(indications: [.switch, .switch], chainDifferences: [0]),
        .init(
          temporalLayer: 1, indications: [.notPresent, .discardable], frameDifferences: [1],
          chainDifferences: [1]),
      ]
      structure.resolutions = [.init(width: 640, height: 360)]
      var key = DependencyDescriptor()
      key.isFrameStart = true
      key.structure = structure
      key.frame = structure.templates[0]
      var delta = DependencyDescriptor()
      delta.templateID = 1
      delta.frameNumber = 9
      delta.frame = structure.templates[1]
      delta.frame.frameDifferences = [1, 300]
      let bytes = [key, delta].map { descriptor in
        Seeds.datagram(255) { try descriptor.write(into: $0, structure: structure) }
      }
      var script = ScriptWriter()
      for part in bytes {
        script.byte(UInt8(part.count))
        script.raw(part)
      }
      return [script.bytes]
    }
    return FuzzTarget("dependency-descriptor", maximumLength: 512, seeds: seeds()) { bytes in
      var input = FuzzInput(bytes)
      var structure: DependencyDescriptor.Structure?
      while !input.isAtEnd {
        let descriptor = lendExactly(input.shortChunk()) {
          try? DependencyDescriptor(parsing: UnsafeRawBufferPointer($0), structure: structure)
        }
        guard let descriptor else { continue }
        structure = descriptor.structure ?? structure
        let written = Seeds.datagram(255) { try descriptor.write(into: $0, structure: structure) }
        // Not all that can be read fits when written in another way.
        guard !written.isEmpty else { continue }
        let again = lendExactly(written) {
          try? DependencyDescriptor(parsing: UnsafeRawBufferPointer($0), structure: structure)
        }
        check(again == descriptor, "a descriptor reads back differently")
      }
    }
  }
}
