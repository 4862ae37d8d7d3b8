import SoraMedia
import SoraRTP
import Testing

/// The units that a receiver makes of payloads in order.
func received(_ format: any RTPPayloadFormat, _ parts: [(bytes: [UInt8], marker: Bool)]) throws
  -> [[UInt8]]
{
  let depayloader = format.makeDepayloader()
  let buffer = EncodedBuffer(capacity: 10)
  for (index, part) in parts.enumerated() {
    try withBytes(part.bytes) { bytes in
      let info = try depayloader.parse(bytes, marker: part.marker)
      #expect(info.isFrameEnd == (index == parts.count - 1))
      depayloader.append(bytes, info: info, to: buffer)
    }
  }
  return nalUnits(buffer.bytes)
}

@Suite struct NALPayloadTests {
  @Test func h264PacketsLookAsRFC6184DrawsThem() throws {
    let payloader = H264PayloadFormat().makePayloader(random: RandomSource(seed: 1))
    let sps: [UInt8] = [0x67, 0x42, 0xC0, 0x1F, 0xFF]
    let pps: [UInt8] = [0x28, 0xCE, 0x3C, 0x80]
    let slice = [0x65, 0x88] + [UInt8](repeating: 7, count: 20)
    // Figure 7: STAP-A with two units; NRI is the highest. Figures 14 and 15: FU indicator and header.
    var parts = payloads(
      payloader, encodedFrame(annexB([sps, pps, slice])), maximumPayload: 16
    ).map(\.bytes)
    #expect(parts.count == 3)
    #expect(parts[0] == [0x78, 0, 5] + sps + [0, 4] + pps)
    #expect(parts[1] == [0x7C, 0x85] + slice[1..<11])
    #expect(parts[2] == [0x7C, 0x45] + slice[11...])
    // Figure 2: a unit alone is its own payload.
    parts = payloads(payloader, encodedFrame(annexB([slice])), maximumPayload: 22).map(\.bytes)
    #expect(parts == [slice])
    // Table 7's types in between: the middle of three fragments has neither S nor E.
    parts = payloads(payloader, encodedFrame(annexB([slice])), maximumPayload: 9).map(\.bytes)
    #expect(parts.map { $0[1] } == [0x85, 0x05, 0x45])
    #expect(parts.map(\.count) == [9, 9, 9])
  }

  @Test func h265PacketsLookAsRFC7798DrawsThem() throws {
    let payloader = H265PayloadFormat().makePayloader(random: RandomSource(seed: 1))
    let vps: [UInt8] = [0x40, 0x01, 0x0C, 0x01]
    let sps: [UInt8] = [0x42, 0x02, 0x01]
    let slice = [0x26, 0x01, 0xAF] + [UInt8](repeating: 7, count: 20)
    // Figure 6: an AP of two units without DONL; TID is the lowest.
    var parts = payloads(
      payloader, encodedFrame(annexB([vps, sps, slice])), maximumPayload: 16
    ).map(\.bytes)
    #expect(parts.count == 3)
    #expect(parts[0] == [0x60, 0x01, 0, 4] + vps + [0, 3] + sps)
    // Figures 9 and 10: payload header of type 49, then S, E and the type of the unit, 19.
    #expect(parts[1] == [0x62, 0x01, 0x93] + slice[2..<12])
    #expect(parts[2] == [0x62, 0x01, 0x53] + slice[12...])
    parts = payloads(payloader, encodedFrame(annexB([slice])), maximumPayload: 23).map(\.bytes)
    #expect(parts == [slice])
  }

  @Test(arguments: NALCodec.allCases)
  func framesOfAnyUnitsComeBack(codec: NALCodec) throws {
    let random = RandomSource(seed: 6184)
    let payloader = codec.format.makePayloader(random: random)
    for _ in 0..<400 {
      let maximum = 200 + Int(random.next() % 1301)
      var units = random.next() % 3 == 0 ? codec.parameterSets() : []
      if random.next() % 3 == 0 {
        units.append(codec.message(Int(random.next() % 300), random: random))
      }
      for index in 0..<1 + Int(random.next() % 6) {
        let size = Int(random.next() % (random.next() % 3 == 0 ? 30_000 : 900))
        units.append(codec.slice(isKey: false, size: size, random: random, isFirst: index == 0))
      }
      var bytes = annexB(units, random: random)
      if random.next() & 1 == 0 { bytes += [0, 0, 0] }
      let parts = payloads(payloader, encodedFrame(bytes), maximumPayload: maximum)
      #expect(parts.map(\.marker) == (1...parts.count).map { $0 == parts.count })
      #expect(parts.allSatisfy { $0.bytes.count <= maximum })
      #expect(try received(codec.format, parts) == units)
    }
  }

  @Test(arguments: NALCodec.allCases, [200, 333, 1200, 1500])
  func fragmentsAreOfOneSize(codec: NALCodec, maximum: Int) throws {
    let random = RandomSource(seed: UInt64(maximum))
    let payloader = codec.format.makePayloader(random: random)
    for size in (maximum - 5...maximum + 5).map(\.self) + [2 * maximum - 3, 2 * maximum + 1, 9_999]
    {
      let unit = Array(codec.slice(isKey: true, size: 20_000, random: random).prefix(size - 1))
      let whole = unit + [0x80]
      let parts = payloads(payloader, encodedFrame(annexB([whole])), maximumPayload: maximum)
      let sizes = parts.map(\.bytes.count)
      #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1)
      #expect(parts.count == 1 || whole.count > maximum)
      let room = maximum - codec.headerCount - 1
      #expect(
        parts.count
          == (whole.count <= maximum ? 1 : (whole.count - codec.headerCount + room - 1) / room))
      #expect(try received(codec.format, parts) == [whole])
    }
  }

  @Test func withoutPacketizationModeUnitsTravelAlone() throws {
    let random = RandomSource(seed: 3)
    let format = H264PayloadFormat(packetizationMode: .singleUnit)
    let payloader = format.makePayloader(random: random)
    let units =
      NALCodec.h264.parameterSets() + [NALCodec.h264.slice(isKey: true, size: 90, random: random)]
    let parts = payloads(payloader, encodedFrame(annexB(units)), maximumPayload: 200)
    #expect(parts.map(\.bytes) == units)
    #expect(parts.map(\.marker) == [false, false, true])
    // A larger unit can't be sent at all.
    let large = units + [NALCodec.h264.slice(isKey: true, size: 201, random: random)]
    #expect(payloads(payloader, encodedFrame(annexB(large)), maximumPayload: 200).isEmpty)
  }

  @Test(arguments: NALCodec.allCases)
  func whatIsNoByteStreamGivesNoPacket(codec: NALCodec) {
    let payloader = codec.format.makePayloader(random: RandomSource(seed: 1))
    for bytes: [UInt8] in [
      [], [0], [0, 0, 1], [0, 0, 0, 1], [0x65, 1, 2, 3], [0, 0, 1, 0, 0, 1, 0, 0],
    ] {
      #expect(payloads(payloader, encodedFrame(bytes), maximumPayload: 100).isEmpty)
    }
    let unit = annexB([codec.delimiter])
    #expect(payloads(payloader, encodedFrame(unit), maximumPayload: codec.headerCount).isEmpty)
    // Types that mean packets, and the interleaved mode's.
    for type in UInt8(24)...31 where codec == .h264 {
      #expect(
        payloads(payloader, encodedFrame(annexB([[type, 1, 2]])), maximumPayload: 100).isEmpty)
    }
    for type in UInt8(48)...63 where codec == .h265 {
      #expect(
        payloads(payloader, encodedFrame(annexB([[type << 1, 1, 2]])), maximumPayload: 100).isEmpty)
    }
  }

  @Test func packetsOfModesThatAreNotNegotiatedAreRefused() {
    func error(_ codec: NALCodec, _ bytes: [UInt8]) -> RTPError? {
      do {
        _ = try withBytes(bytes) { try codec.format.makeDepayloader().parse($0, marker: true) }
        return nil
      } catch { return error as? RTPError }
    }
    for type: UInt8 in [0, 25, 26, 27, 29, 30, 31] {
      #expect(
        error(.h264, [0x60 | type, 0, 1, 0, 2, 0x65, 1])
          == .unsupportedPayload(codec: "H264", type: type))
    }
    for type in UInt8(50)...63 {
      #expect(
        error(.h265, [type << 1, 1, 0, 2, 0x26, 1])
          == .unsupportedPayload(codec: "H265", type: type))
    }
    // TID may not be 0.
    #expect(error(.h265, [0x26, 0x00, 0x80]) == .malformedPayload(codec: "H265"))
    // Aggregates: no unit, a unit that is too long or empty, one that is itself a packet.
    for body: [UInt8] in [[0, 9, 0x65, 1], [0, 0, 0, 1], [0, 2, 0x78, 1], [0, 2, 0x7C, 1]] {
      #expect(error(.h264, [0x78] + body) == .malformedPayload(codec: "H264"))
    }
    #expect(error(.h264, [0x78, 0]) == .truncated(needed: 3, available: 2))
    #expect(error(.h264, [0x78]) == .malformedPayload(codec: "H264"))
    #expect(error(.h265, [0x60, 1]) == .malformedPayload(codec: "H265"))
    #expect(error(.h264, []) == .truncated(needed: 1, available: 0))
    #expect(error(.h265, [0x60]) == .truncated(needed: 2, available: 1))
    // A unit may be nothing but its header, a fragment may not.
    #expect(error(.h264, [0x0A]) == nil && error(.h265, [0x48, 1]) == nil)
    #expect(error(.h264, [0x7C]) == .truncated(needed: 2, available: 1))
    #expect(error(.h265, [0x62, 1]) == .truncated(needed: 3, available: 2))
    // Fragments of packets.
    #expect(error(.h264, [0x7C, 0x98, 1]) == .malformedPayload(codec: "H264"))
    #expect(error(.h265, [0x62, 1, 0xB0, 1]) == .malformedPayload(codec: "H265"))
  }

  @Test(arguments: NALCodec.allCases)
  func brokenRowsOfFragmentsMakeNoWholeUnit(codec: NALCodec) throws {
    let random = RandomSource(seed: 5)
    let unit = codec.slice(isKey: false, size: 1000, random: random)
    let other = codec.slice(isKey: true, size: 1000, random: random)
    let payloader = codec.format.makePayloader(random: random)
    func fragments(_ unit: [UInt8]) -> [(bytes: [UInt8], marker: Bool)] {
      payloads(payloader, encodedFrame(annexB([unit])), maximumPayload: 300)
    }
    let first = fragments(unit)
    let second = fragments(other)
    // Without its beginning nothing is left of a unit; without its end it is marked as broken.
    #expect(try received(codec.format, Array(first[1...])) == [])
    var units = try received(codec.format, [(first[0].bytes, false)] + second)
    #expect(units.count == 2 && units[0][0] & 0x80 != 0 && units[1] == other)
    units = try received(
      codec.format, [(first[0].bytes, false), (second[1].bytes, false), second[3]])
    #expect(units.count == 1 && units[0][0] & 0x80 != 0)
  }

  @Test(arguments: NALCodec.allCases)
  func mutatedPayloadsNeverTrap(codec: NALCodec) {
    let random = RandomSource(seed: 77)
    let payloader = codec.format.makePayloader(random: random)
    let depayloader = codec.format.makeDepayloader()
    let frame = annexB(
      codec.parameterSets() + [codec.recoveryPoint]
        + [codec.slice(isKey: true, size: 300, random: random)])
    let good = payloads(payloader, encodedFrame(frame), maximumPayload: 120).map(\.bytes)
    let buffer = EncodedBuffer(capacity: 100)
    for round in 0..<30_000 {
      if round % 20 == 0 { buffer.reset() }
      withBytes(mutated(good[Int(random.next() % UInt64(good.count))], random)) { bytes in
        guard let info = try? depayloader.parse(bytes, marker: random.next() & 1 == 0) else {
          return
        }
        depayloader.append(bytes, info: info, to: buffer)
      }
      if round % 20 == 19 {
        _ = depayloader.lacksParameterSets(buffer)
        _ = depayloader.complete(buffer, parts: [.randomAccessPicture, .parameterSets])
        _ = payloads(
          payloader, encodedFrame(mutated(Array(buffer.bytes), random)), maximumPayload: 50)
      }
    }
  }

  @Test func parameterSetsOfDescriptionsAreRead() throws {
    // The first line of RFC 6184 §8.3's examples, with its base64.
    let h264 = try #require(
      H264PayloadFormat(parameters: [
        "packetization-mode": "1", "sprop-parameter-sets": "Z0IACpZTBYmI,aMljiA==",
      ]))
    #expect(h264.packetizationMode == .nonInterleaved)
    #expect(
      h264.parameterSets == [
        [0x67, 0x42, 0, 0x0A, 0x96, 0x53, 0x05, 0x89, 0x88], [0x68, 0xC9, 0x63, 0x88],
      ])
    #expect(H264PayloadFormat(parameters: [:])?.packetizationMode == .singleUnit)
    #expect(H264PayloadFormat(parameters: ["packetization-mode": "2"]) == nil)
    #expect(H264PayloadFormat(parameters: ["packetization-mode": "x"]) == nil)
    #expect(
      H264PayloadFormat(parameters: ["sprop-parameter-sets": "Z0I*,,=A,aM"])?.parameterSets
        == [[0x68]])
    #expect(RTPPayloadFormats.named("h264", parameters: ["packetization-mode": "2"]) == nil)
    let h265 = try #require(
      H265PayloadFormat(parameters: ["sprop-vps": "QAE=", "sprop-pps": "RAE=", "sprop-sps": "QgE="])
    )
    #expect(h265.parameterSets == [[0x40, 1], [0x42, 1], [0x44, 1]])
    #expect(H265PayloadFormat(parameters: ["sprop-max-don-diff": "1"]) == nil)
    #expect(RTPPayloadFormats.named("H265")?.clockRate == 90_000)
  }
}
