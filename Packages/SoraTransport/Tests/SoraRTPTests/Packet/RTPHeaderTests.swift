import SoraMedia
import SoraRTP
import Testing

@Suite struct RTPHeaderTests {
  @Test func parsesTheFixedFields() throws {
    // Version 2, no options, marker, type 96, sequence 0x1234, timestamp 0x01020304, SSRC 0xDEADBEEF, two bytes.
    let packet: [UInt8] = [
      0x80, 0xE0, 0x12, 0x34, 1, 2, 3, 4, 0xDE, 0xAD, 0xBE, 0xEF, 0xAA, 0xBB,
    ]
    let header = try withBytes(packet) { try RTPHeader(parsing: $0) }
    #expect(header.marker)
    #expect(header.payloadType == 96)
    #expect(header.sequenceNumber == 0x1234)
    #expect(header.timestamp == 0x0102_0304)
    #expect(header.ssrc == 0xDEAD_BEEF)
    #expect(header.payloadOffset == 12)
    #expect(header.payloadCount == 2)
  }

  @Test func skipsContributingSourcesAndCutsPadding() throws {
    var packet: [UInt8] = [0xA2, 0x60, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9]
    packet += [1, 1, 1, 1, 2, 2, 2, 2]  // two CSRCs
    packet += [7, 7, 7, 0, 0, 3]
    let header = try withBytes(packet) { try RTPHeader(parsing: $0) }
    #expect(header.csrcCount == 2)
    #expect(header.payloadOffset == 20)
    #expect(header.payloadCount == 3)
    #expect(header.paddingCount == 3)
  }

  @Test func refusesWhatContradictsItself() {
    let good: [UInt8] = [0x80, 0x60, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9]
    func error(_ bytes: [UInt8]) -> RTPError? {
      withBytes(bytes) { buffer in
        do throws(RTPError) {
          _ = try RTPHeader(parsing: buffer)
          return nil
        } catch {
          return error
        }
      }
    }
    #expect(error(good) == nil)
    #expect(error(Array(good.dropLast())) == .truncated(needed: 12, available: 11))
    #expect(error([0x40] + good.dropFirst()) == .unsupportedVersion(1))
    #expect(error([0x81] + good.dropFirst()) == .truncated(needed: 16, available: 12))
    #expect(error([0x90] + good.dropFirst()) == .truncated(needed: 16, available: 12))
    #expect(error([0xA0] + good.dropFirst()) == .badPadding(count: 0, available: 0))
    #expect(error([0xA0] + good.dropFirst() + [9]) == .badPadding(count: 9, available: 1))
    #expect(
      error([0x90] + good.dropFirst() + [0xBE, 0xDE, 0, 1]) == .truncated(needed: 20, available: 16)
    )
  }

  @Test func readsOneByteExtensions() throws {
    // The example of RFC 8285 §4.2: three elements, the second with padding before it.
    var packet: [UInt8] = [0x90, 0x60, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9]
    packet += [0xBE, 0xDE, 0x00, 0x03]
    packet += [0x10, 0xA1, 0x21, 0xB1, 0xB2, 0x00, 0x00, 0x33, 0xC1, 0xC2, 0xC3, 0xC4]
    packet += [0x55]
    try withBytes(packet) { bytes in
      let header = try RTPHeader(parsing: bytes)
      #expect(header.payloadOffset == 28)
      #expect(header.extensionRange(id: 1, in: bytes) == 17..<18)
      #expect(header.extensionRange(id: 2, in: bytes) == 19..<21)
      #expect(header.extensionRange(id: 3, in: bytes) == 24..<28)
      #expect(header.extensionRange(id: 4, in: bytes) == nil)
    }
  }

  @Test func readsTwoByteExtensions() throws {
    // The example of RFC 8285 §4.3: an element without value, one of a byte, padding, one of four bytes.
    var packet: [UInt8] = [0x90, 0x60, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9]
    packet += [0x10, 0x00, 0x00, 0x03]
    packet += [0x01, 0x00, 0x02, 0x01, 0xB1, 0x00, 0x63, 0x04, 0xC1, 0xC2, 0xC3, 0xC4]
    try withBytes(packet) { bytes in
      let header = try RTPHeader(parsing: bytes)
      #expect(header.extensionRange(id: 1, in: bytes) == 18..<18)
      #expect(header.extensionRange(id: 2, in: bytes) == 20..<21)
      #expect(header.extensionRange(id: 0x63, in: bytes) == 24..<28)
    }
  }

  @Test func idFifteenEndsTheElements() throws {
    var packet: [UInt8] = [0x90, 0x60, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9]
    packet += [0xBE, 0xDE, 0x00, 0x02, 0xF0, 0xA1, 0x10, 0xA2, 0, 0, 0, 0]
    try withBytes(packet) { bytes in
      let header = try RTPHeader(parsing: bytes)
      #expect(header.extensionRange(id: 15, in: bytes) == nil)
      #expect(header.extensionRange(id: 1, in: bytes) == nil)
    }
  }

  @Test func tellsRTCPFromRTP() {
    #expect(withBytes([0x80, 200, 0, 0]) { RTPHeader.isRTCP($0) })
    #expect(withBytes([0x8F, 205, 0, 0]) { RTPHeader.isRTCP($0) })
    #expect(!withBytes([0x80, 0xE0, 0, 0]) { RTPHeader.isRTCP($0) })
    #expect(!withBytes([0x80, 96, 0, 0]) { RTPHeader.isRTCP($0) })
    #expect(!withBytes([0x80]) { RTPHeader.isRTCP($0) })
  }

  @Test func mutatedPacketsNeverTrap() throws {
    let random = RandomSource(seed: 11)
    var map = RTPHeaderExtensionMap()
    for (index, kind) in RTPHeaderExtensionKind.allCases.enumerated() {
      map[kind] = UInt8(index + 1)
    }
    var values = RTPHeaderExtensions()
    values.mid = "video"
    values.rid = "r0"
    values.absSendTime = 5
    values.audioLevel = RTPAudioLevel(level: 3, hasVoice: true)
    values.transportSequenceNumber = 77
    let header = RTPHeader(payloadType: 96, sequenceNumber: 1, timestamp: 2, ssrc: 3)
    let good = try rtpPacket(header, extensions: values, map: map, payload: [1, 2, 3], padding: 4)
    var output = [UInt8](repeating: 0, count: 200)
    var parsed = 0
    for _ in 0..<30_000 {
      let bytes = mutated(good, random)
      withBytes(bytes) { buffer in
        guard let header = try? RTPHeader(parsing: buffer) else { return }
        parsed += 1
        let read = RTPHeaderExtensions(of: header, in: buffer, map: map)
        for id in UInt8(0)...20 { _ = header.extensionRange(id: id, in: buffer) }
        _ = header.payload(in: buffer).reduce(0) { $0 &+ Int($1) }
        _ = Retransmission.restore(header, in: buffer, ssrc: 1, payloadType: 2)
        output.withUnsafeMutableBytes { target in
          _ = try? RTPPacket.rewriteExtensions(
            of: buffer, header: header, extensions: read, map: map, into: target)
        }
      }
    }
    #expect(parsed > 5_000)
  }
}
