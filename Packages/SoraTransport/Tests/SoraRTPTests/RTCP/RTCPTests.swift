import SoraMedia
import SoraRTP
import SoraWire
import Testing

@Suite struct RTCPTests {
  private static let block = RTCPReportBlock(
    ssrc: 0x0102_0304, fractionLost: 12, cumulativeLost: -3, extendedHighestSequence: 0x1_0005,
    jitter: 99, lastSenderReport: 0xAABB_CCDD, delaySinceLastSenderReport: 77)
  private static let info = RTCPSenderInfo(
    ssrc: 42, ntp: NTPTime(rawValue: 0x1122_3344_5566_7788), rtpTimestamp: 90_000, packetCount: 10,
    octetCount: 12_000)

  @Test func aCompoundIsReadAsItWasWritten() throws {
    let bytes = try rtcp { writer in
      try writer.senderReport(Self.info, blocks: [Self.block, Self.block])
      try writer.receiverReport(sender: 7, blocks: [Self.block])
      try writer.sourceDescription(ssrc: 42, cname: "someone@somewhere")
      try writer.pictureLossIndication(sender: 1, media: 2)
      try writer.fullIntraRequest(sender: 1, media: 3, sequenceNumber: 200)
      try writer.nack(sender: 1, media: 2, missing: [65_534, 0, 14, 15, 40])
      try writer.receiverEstimate(sender: 1, bitsPerSecond: 2_500_000, sources: [5, 6])
      try writer.goodbye(ssrc: 42)
    }
    try withBytes(bytes) { buffer in
      var reader = RTCPReader(buffer)
      guard case .senderReport(let info, let blocks) = try reader.next() else {
        Issue.record("no sender report")
        return
      }
      #expect(info == Self.info)
      #expect(Array(blocks) == [Self.block, Self.block])
      guard case .receiverReport(7, let more) = try reader.next() else {
        Issue.record("no receiver report")
        return
      }
      #expect(Array(more) == [Self.block])
      guard case .sourceDescription(let description) = try reader.next() else {
        Issue.record("no source description")
        return
      }
      #expect(description.map(\.ssrc) == [42])
      #expect(description.map(\.cnameText) == ["someone@somewhere"])
      guard case .pictureLossIndication(1, 2) = try reader.next() else {
        Issue.record("no picture loss indication")
        return
      }
      guard case .fullIntraRequest(let intra) = try reader.next() else {
        Issue.record("no full intra request")
        return
      }
      #expect(intra.map(\.ssrc) == [3] && intra.map(\.sequenceNumber) == [200])
      guard case .nack(let nack) = try reader.next() else {
        Issue.record("no nack")
        return
      }
      #expect(nack.sender == 1 && nack.media == 2)
      #expect(Array(nack) == [65_534, 0, 14, 15, 40])
      guard case .receiverEstimate(let estimate) = try reader.next() else {
        Issue.record("no estimate")
        return
      }
      #expect(estimate.bitsPerSecond == 2_500_000)
      #expect(Array(estimate) == [5, 6])
      guard case .goodbye(let goodbye) = try reader.next() else {
        Issue.record("no goodbye")
        return
      }
      #expect(Array(goodbye) == [42])
      #expect(goodbye.reason == nil)
      let end = try reader.next()
      #expect(end == nil)
    }
  }

  @Test func handBuiltBytesAreUnderstood() throws {
    // Two NACK entries: 100 and, by the mask 0x8001, 101 and 116; then 500 alone.
    let nack: [UInt8] = [
      0x81, 205, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 100, 0x80, 0x01, 0x01, 0xF4, 0, 0,
    ]
    try withBytes(nack) { buffer in
      var reader = RTCPReader(buffer)
      guard case .nack(let nack) = try reader.next() else {
        Issue.record("no nack")
        return
      }
      #expect(Array(nack) == [100, 101, 116, 500])
    }
    // A goodbye with a reason, padded (RFC 3550 §6.6).
    let goodbye: [UInt8] = [0x81, 203, 0, 2, 0, 0, 0, 9, 3, 0x62, 0x79, 0x65]
    try withBytes(goodbye) { buffer in
      var reader = RTCPReader(buffer)
      guard case .goodbye(let goodbye) = try reader.next() else {
        Issue.record("no goodbye")
        return
      }
      #expect(Array(goodbye) == [9] && goodbye.reason == "bye")
    }
    // An APP packet comes through raw.
    let app: [UInt8] = [0x85, 204, 0, 2, 0, 0, 0, 9, 0x6E, 0x61, 0x6D, 0x65]
    try withBytes(app) { buffer in
      var reader = RTCPReader(buffer)
      guard case .unknown(let raw) = try reader.next() else {
        Issue.record("no raw packet")
        return
      }
      #expect(raw.packetType == 204 && raw.format == 5 && Array(raw.bytes) == app)
    }
    // REMB: mantissa 0x3FFFF and exponent 63 saturate.
    let remb: [UInt8] = [
      0x8F, 206, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0x52, 0x45, 0x4D, 0x42, 1, 0xFF, 0xFF, 0xFF, 0, 0, 0,
      8,
    ]
    try withBytes(remb) { buffer in
      var reader = RTCPReader(buffer)
      guard case .receiverEstimate(let estimate) = try reader.next() else {
        Issue.record("no estimate")
        return
      }
      #expect(estimate.bitsPerSecond == .max && Array(estimate) == [8])
    }
  }

  @Test func readingGoesOnBehindABadBody() throws {
    // A report that announces a block and has none.
    var bytes: [UInt8] = [0x81, 201, 0, 1, 0, 0, 0, 1]
    bytes += try rtcp { try $0.pictureLossIndication(sender: 1, media: 2) }
    try withBytes(bytes) { buffer in
      var reader = RTCPReader(buffer)
      #expect(throws: RTPError.malformedFeedback(packetType: 201, format: 1)) {
        _ = try reader.next()
      }
      guard case .pictureLossIndication(1, 2) = try reader.next() else {
        Issue.record("the second packet is lost")
        return
      }
    }
    try withBytes([0x80, 201, 0, 9, 0, 0, 0, 1] as [UInt8]) { buffer in
      var reader = RTCPReader(buffer)
      #expect(throws: RTPError.badLength(packetType: 201, declared: 40, available: 8)) {
        _ = try reader.next()
      }
      let end = try reader.next()
      #expect(end == nil)
    }
  }

  @Test func writersThatLackRoomChangeNothing() throws {
    for capacity in 0..<28 {
      let bytes = rtcp(capacity: capacity) { writer in
        #expect(throws: RTPError.self) { try writer.senderReport(Self.info) }
        #expect(writer.count == 0)
      }
      #expect(bytes.isEmpty)
    }
    // A NACK list is written as far as it fits.
    let missing = (0..<100).map { UInt16($0 * 50) }
    let bytes = try rtcp(capacity: 32) { writer in
      let taken = try writer.nack(sender: 1, media: 2, missing: missing)
      #expect(taken == 5)
    }
    #expect(bytes.count == 32)
  }

  @Test func estimatesKeepEighteenBits() throws {
    for rate: UInt64 in [0, 1, 262_143, 262_144, 1_000_001, 98_765_432_100] {
      let bytes = try rtcp {
        try $0.receiverEstimate(sender: 1, bitsPerSecond: rate, sources: [])
      }
      try withBytes(bytes) { buffer in
        var reader = RTCPReader(buffer)
        guard case .receiverEstimate(let estimate) = try reader.next() else {
          Issue.record("no estimate")
          return
        }
        #expect(estimate.bitsPerSecond <= rate)
        #expect(rate - estimate.bitsPerSecond <= rate >> 17)
      }
    }
  }

  @Test func mutatedDatagramsNeverTrap() throws {
    let generator = TransportFeedbackGenerator()
    for number in 0..<60 where number % 5 != 2 {
      generator.received(
        sequenceNumber: UInt16(number), ssrc: 1, at: .zero + .milliseconds(number * number))
    }
    let compound = try rtcp { writer in
      try writer.senderReport(Self.info, blocks: [Self.block])
      try writer.sourceDescription(ssrc: 42, cname: "x")
      try writer.nack(sender: 1, media: 2, missing: [1, 2, 30])
      _ = try generator.write(into: &writer, sender: 1, at: .zero + .seconds(4))
      try writer.receiverEstimate(sender: 1, bitsPerSecond: 1_000_000, sources: [1])
      try writer.fullIntraRequest(sender: 1, media: 1, sequenceNumber: 1)
      try writer.receiverReferenceTime(sender: 1, ntp: NTPTime(rawValue: 5))
      try writer.receiverDelays(
        sender: 1, [RTCPReceiverDelay(ssrc: 1, lastReferenceTime: 2, delay: 3)])
      let sources = CongestionFeedbackGenerator()
      for number in [1, 2, 9] as [UInt16] {
        sources.received(ssrc: 7, sequenceNumber: number, ecn: .ect0, at: .zero)
      }
      _ = try sources.write(into: &writer, sender: 1, reportTime: 9, at: .zero)
      try writer.goodbye(ssrc: 1)
    }
    let feedback = try rtcp { writer in
      generator.received(sequenceNumber: 90, ssrc: 1, at: .zero + .seconds(5))
      _ = try generator.write(into: &writer, sender: 1, at: .zero + .seconds(5))
    }
    let random = RandomSource(seed: 12)
    var packets = 0
    for round in 0..<40_000 {
      let bytes = mutated(round % 2 == 0 ? compound : feedback, random)
      withBytes(bytes) { packets += consume($0) }
    }
    #expect(packets > 20_000)
  }

  /// Reads everything that a datagram offers.
  private func consume(_ datagram: UnsafeRawBufferPointer) -> Int {
    var reader = RTCPReader(datagram)
    var count = 0
    while true {
      do throws(RTPError) {
        guard let packet = try reader.next() else { return count }
        count += 1
        switch packet {
        case .senderReport(_, let blocks), .receiverReport(_, let blocks):
          for block in blocks { _ = block.roundTrip(at: NTPTime(rawValue: .max)) }
        case .sourceDescription(let chunks): for chunk in chunks { _ = chunk.cnameText }
        case .goodbye(let goodbye):
          for source in goodbye { _ = source }
          _ = goodbye.reason
        case .pictureLossIndication: break
        case .fullIntraRequest(let request): for entry in request { _ = entry }
        case .nack(let nack): for number in nack { _ = number }
        case .transportFeedback(let feedback):
          var timeline = TransportFeedbackTimeline()
          _ = timeline.reference(of: feedback)
          for status in feedback { _ = status }
        case .congestionFeedback(let feedback):
          var timeline = CongestionFeedbackTimeline()
          _ = timeline.reportTime(feedback.reportTime)
          for status in feedback { _ = status }
        case .extendedReport(let report):
          for case .receiverDelays(let delays) in report {
            for delay in delays { _ = delay }
          }
        case .receiverEstimate(let estimate): for source in estimate { _ = source }
        case .unknown(let raw): _ = raw.bytes.reduce(0) { $0 &+ Int($1) }
        }
      } catch {
        if case .malformedFeedback = error { continue }
        return count
      }
    }
  }
}
