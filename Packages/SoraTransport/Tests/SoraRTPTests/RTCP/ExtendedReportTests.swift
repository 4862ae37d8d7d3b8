import SoraMedia
import SoraRTP
import Testing

/// Extended reports (RFC 3611) with receiver reference times and their answers.
@Suite struct ExtendedReportTests {
  /// The blocks of the one report in a datagram, as text.
  private func blocks(_ bytes: [UInt8]) throws -> [String] {
    try withBytes(bytes) { buffer in
      var reader = RTCPReader(buffer)
      guard case .extendedReport(let report)? = try reader.next() else { return ["no report"] }
      #expect(report.sender == 0x0102_0304)
      return report.map { block in
        switch block {
        case .receiverReferenceTime(let ntp): "time \(String(ntp.rawValue, radix: 16))"
        case .receiverDelays(let delays):
          delays.map { "\($0.ssrc) \($0.lastReferenceTime) \($0.delay)" }.joined(separator: ", ")
        case .unknown(let type): "type \(type)"
        }
      }
    }
  }

  /// Laid out by hand after RFC 3611 §2, §4.4 and §4.5.
  private static let handBuilt: [UInt8] = [
    0x80, 207, 0, 13, 1, 2, 3, 4,
    // Statistics summary, which nobody here reads: 3 words would be 9, cut here to 1.
    6, 0xE0, 0, 1, 0, 0, 0, 9,
    4, 0, 0, 2, 0xDE, 0xAD, 0xBE, 0xEF, 0x01, 0x23, 0x45, 0x67,
    5, 0, 0, 6, 0, 0, 0, 9, 0, 1, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0,
  ]

  @Test func handBuiltBytesAreUnderstood() throws {
    #expect(
      try blocks(Self.handBuilt) == [
        "type 6", "time deadbeef01234567", "9 65536 32768, 8 0 0",
      ])
  }

  @Test func whatIsWrittenIsWhatTheStandardLaysOut() throws {
    let bytes = try rtcp { writer in
      try writer.receiverReferenceTime(
        sender: 0x0102_0304, ntp: NTPTime(rawValue: 0xDEAD_BEEF_0123_4567))
    }
    #expect(
      bytes == [
        0x80, 207, 0, 4, 1, 2, 3, 4, 4, 0, 0, 2, 0xDE, 0xAD, 0xBE, 0xEF, 0x01, 0x23, 0x45, 0x67,
      ])
    let delays = [
      RTCPReceiverDelay(ssrc: 9, lastReferenceTime: 65_536, delay: 32_768),
      RTCPReceiverDelay(ssrc: 8, lastReferenceTime: 0, delay: 0),
    ]
    let answer = try rtcp { writer in
      let written = try writer.receiverDelays(sender: 0x0102_0304, delays)
      #expect(written == 2)
    }
    #expect(answer == [0x80, 207, 0, 8, 1, 2, 3, 4] + Self.handBuilt.suffix(28))
    #expect(try blocks(answer) == ["9 65536 32768, 8 0 0"])
  }

  @Test func onlyWhatFitsIsWritten() throws {
    let delays = (0..<10).map {
      RTCPReceiverDelay(ssrc: UInt32($0), lastReferenceTime: 1, delay: 2)
    }
    let bytes = try rtcp(capacity: 40) { writer in
      let written = try writer.receiverDelays(sender: 1, delays)
      #expect(written == 2)
      #expect(throws: RTPError.self) { _ = try writer.receiverDelays(sender: 1, delays) }
    }
    #expect(bytes.count == 36)
    #expect(throws: RTPError.self) {
      _ = try rtcp(capacity: 16) { writer in
        try writer.receiverReferenceTime(sender: 1, ntp: NTPTime(rawValue: 1))
      }
    }
  }

  @Test(arguments: [
    // A block beyond the packet, a reference time of another size, delays of half an entry, half a block's header.
    [0x80, 207, 0, 2, 1, 2, 3, 4, 7, 0, 0, 1],
    [0x80, 207, 0, 3, 1, 2, 3, 4, 4, 0, 0, 1, 0, 0, 0, 0],
    [0x80, 207, 0, 4, 1, 2, 3, 4, 5, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0],
    [0xA0, 207, 0, 2, 1, 2, 3, 4, 4, 0, 2, 2], [0x80, 207, 0, 0],
  ])
  func contradictionsAreRefused(_ bytes: [UInt8]) throws {
    try withBytes(bytes) { buffer in
      var reader = RTCPReader(buffer)
      #expect(throws: RTPError.malformedFeedback(packetType: 207, format: 0)) {
        _ = try reader.next()
      }
      let end = try reader.next()
      #expect(end == nil)
    }
  }
}
