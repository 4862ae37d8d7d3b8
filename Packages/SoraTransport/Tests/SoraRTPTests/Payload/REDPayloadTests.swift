import SoraMedia
import SoraRTP
import Testing

private func blocks(_ bytes: [UInt8]) throws -> [REDPayload.Block] {
  try withBytes(bytes) { Array(try REDPayload.Blocks(parsing: $0)) }
}

private func frame(_ size: Int, _ timestamp: UInt32, fill: UInt8 = 1) -> EncodedFrame {
  EncodedFrame(
    payload: EncodedBuffer([0x78] + [UInt8](repeating: fill, count: size - 1)), isKeyFrame: true,
    rtpTimestamp: timestamp, timestamp: .zero)
}

@Suite struct REDPayloadTests {
  @Test func thePacketOfRFC2198Section4IsUnderstood() throws {
    // LPC (payload type 7) of 14 bytes, 20 ms older than DVI4 (payload type 5) of 84 bytes, at 8 kHz.
    let lpc = [UInt8](repeating: 0x77, count: 14)
    let dvi = [UInt8](repeating: 0x55, count: 84)
    let payload: [UInt8] = [0x87, 0x02, 0x80, 0x0E, 0x05] + lpc + dvi
    let all = try blocks(payload)
    #expect(
      all == [
        .init(payloadType: 7, timestampOffset: 160, range: 5..<19, isPrimary: false),
        .init(payloadType: 5, timestampOffset: 0, range: 19..<103, isPrimary: true),
      ])
    let info = try withBytes(payload) { try REDDepayloader().parse($0, marker: false) }
    #expect(info.range == 19..<103 && info.isFrameStart && info.isFrameEnd)
  }

  @Test func aPacketWithoutRedundancyHasOneByteOfHeader() throws {
    let payloader = REDPayloader(primaryPayloadType: 111, redundancy: 0)
    let parts = payloads(payloader, frame(3, 0, fill: 9), maximumPayload: 100)
    #expect(parts.map(\.bytes) == [[111, 0x78, 9, 9]])
    #expect(payloads(payloader, frame(3, 960, fill: 8), maximumPayload: 100)[0].bytes.count == 4)
  }

  @Test(arguments: [1, 2, 3, 31])
  func eachPacketRepeatsThoseBeforeIt(redundancy: Int) throws {
    let payloader = REDPayloader(primaryPayloadType: 111, redundancy: redundancy)
    for index in 0..<40 {
      let timestamp = UInt32.max - 4_000 &+ UInt32(index) &* 480
      let part = payloads(
        payloader, frame(5 + index % 3, timestamp, fill: UInt8(index)), maximumPayload: 1130)[0]
      let all = try blocks(part.bytes)
      #expect(all.count == min(index, redundancy) + 1)
      for (position, block) in all.enumerated() {
        let age = all.count - 1 - position
        #expect(block.payloadType == 111)
        #expect(block.isPrimary == (age == 0))
        #expect(Int(block.timestampOffset) == age * 480)
        let of = index - age
        #expect(
          Array(part.bytes[block.range])
            == [0x78] + [UInt8](repeating: UInt8(of), count: 4 + of % 3))
      }
    }
  }

  @Test func blocksThatDoNotFitTheirFieldsAreLeftOut() throws {
    let payloader = REDPayloader(primaryPayloadType: 111, redundancy: 2)
    func count(_ frame: EncodedFrame, _ room: Int = 4000) throws -> Int {
      try blocks(payloads(payloader, frame, maximumPayload: room)[0].bytes).count
    }
    #expect(try count(frame(1_024, 0)) == 1)
    // 1,024 bytes are one too many for a redundant block.
    #expect(try count(frame(1_023, 960)) == 1)
    #expect(try count(frame(10, 1920)) == 2)
    // 16,384 ticks are one too many.
    #expect(try count(frame(10, 1920 + 16_384)) == 1)
    #expect(try count(frame(10, 1920 + 16_384 + 16_383)) == 2)
    // No room for both: the newer one goes along.
    #expect(try count(frame(10, 34_700), 5 + 10 + 10) == 2)
    #expect(try count(frame(10, 34_710), 5 + 10 + 9) == 1)
    #expect(payloads(payloader, frame(10, 34_720), maximumPayload: 10).isEmpty)
  }

  @Test func talkspurtsAreMarkedAndRedundancyMayChange() throws {
    let payloader = REDPayloader(primaryPayloadType: 111, redundancy: 3)
    var markers: [Bool] = []
    var counts: [Int] = []
    for (index, timestamp) in [0, 960, 1920, 9600, 10_560].enumerated() {
      if index == 3 { payloader.redundancy = 1 }
      let part = payloads(payloader, frame(4, UInt32(timestamp)), maximumPayload: 1000)[0]
      markers.append(part.marker)
      counts.append(try blocks(part.bytes).count)
    }
    #expect(markers == [true, false, false, true, false])
    #expect(counts == [1, 2, 3, 2, 2])
  }

  @Test func hostilePayloadsAreRefused() throws {
    #expect(throws: RTPError.truncated(needed: 1, available: 0)) { _ = try blocks([]) }
    #expect(throws: RTPError.truncated(needed: 4, available: 3)) { _ = try blocks([0xEF, 0, 0]) }
    // One block of 5 bytes where 4 follow.
    #expect(throws: RTPError.truncated(needed: 10, available: 9)) {
      _ = try blocks([0xEF, 0, 0, 5, 111, 1, 2, 3, 4])
    }
    let headers = (0..<128).map { UInt8($0 % 4 == 0 ? 0xEF : 0) } + [111]
    #expect(throws: RTPError.malformedPayload(codec: "red")) { _ = try blocks(headers) }
    #expect(try blocks(Array(headers[4...])).count == 32)
    #expect(throws: RTPError.malformedPayload(codec: "red")) {
      _ = try withBytes([111]) { try REDDepayloader().parse($0, marker: false) }
    }
    let random = RandomSource(seed: 2198)
    for _ in 0..<30_000 {
      let bytes = mutated([0xEF, 0x0F, 0, 3, 0xEF, 0x07, 0x80, 2, 111, 1, 2, 3, 4, 5, 6], random)
      var end = 0
      for block in (try? blocks(bytes)) ?? [] {
        #expect(block.range.lowerBound >= end && block.range.upperBound <= bytes.count)
        end = block.range.upperBound
      }
    }
  }
}
