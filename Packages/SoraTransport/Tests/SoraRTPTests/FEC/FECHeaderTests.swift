import SoraMedia
import SoraRTP
import SoraWire
import Testing

/// Headers of repair packets, laid out by hand after their standards.
@Suite struct FECHeaderTests {
  private func parse(_ bytes: [UInt8], _ format: FECFormat) throws -> FECHeader {
    try FECHeader(parsing: bytes.rawSpan, format: format)
  }

  /// RFC 5109 §7.3 and §7.4, with a short and a long mask.
  @Test func unevenHeadersAreUnderstood() throws {
    let short: [UInt8] = [
      0x12, 0xE0, 0xFF, 0xFE, 1, 2, 3, 4, 0, 9, 0, 3, 0xA0, 0x01, 7, 8, 9, 0xEE,
    ]
    let header = try parse(short, .uneven)
    #expect(header.ssrc == nil && header.base == 65_534 && header.mask == 0b1000_0000_0000_0101)
    #expect(header.fields == 0x12E0 && header.timestamp == 0x0102_0304 && header.length == 9)
    #expect(header.payloadOffset == 14 && header.payloadCount == 3)
    let long: [UInt8] = [
      0x52, 0xE0, 0, 1, 1, 2, 3, 4, 0, 9, 0, 1, 0x80, 0x00, 0x80, 0, 0, 1, 7,
    ]
    let other = try parse(long, .uneven)
    #expect(other.mask == 1 | 1 << 16 | 1 << 47)
    #expect(other.fields == 0x12E0 && other.payloadOffset == 18)
  }

  /// draft-ietf-payload-flexible-fec-scheme-03 §4.2, with masks of each length.
  @Test func flexibleHeadersAreUnderstood() throws {
    let start: [UInt8] = [0x12, 0xE0, 0, 9, 1, 2, 3, 4, 1, 0, 0, 0, 0, 0, 0, 77, 0, 5]
    let short = try parse(start + [0xC0, 0x01, 7, 8], .flexible03)
    #expect(short.ssrc == 77 && short.base == 5 && short.mask == 1 | 1 << 14)
    #expect(short.fields == 0x12E0 && short.timestamp == 0x0102_0304 && short.length == 9)
    #expect(short.payloadOffset == 20 && short.payloadCount == 2)
    let middle = try parse(start + [0x40, 0x00, 0xC0, 0, 0, 1, 7], .flexible03)
    #expect(middle.mask == 1 | 1 << 15 | 1 << 45)
    let long = try parse(
      start + [0, 1, 0, 0, 0, 1, 0xC0, 0, 0, 0, 0, 0, 0, 1, 7], .flexible03)
    let expected: UInt128 = 1 << 14 | 1 << 45 | 1 << 46 | 1 << 108
    #expect(long.mask == expected)
    #expect(long.payloadOffset == 32)
  }

  @Test func whatContradictsItselfIsRefused() {
    let flexible: [UInt8] = [0x12, 0xE0, 0, 9, 1, 2, 3, 4, 1, 0, 0, 0, 0, 0, 0, 77, 0, 5, 0xC0, 1]
    var bad: [([UInt8], FECFormat)] = [
      // Nothing behind the header, an empty mask, a long mask that ends, several sources, a retransmission, a mask without its end.
      (flexible, .flexible03), (Array(flexible[..<18]) + [0x80, 0, 1], .flexible03),
      (Array(flexible[..<18]) + [0x40, 0], .flexible03),
      ([0x80] + flexible[1...] + [1], .flexible03), ([0x40] + flexible[1...] + [1], .flexible03),
      (
        Array(flexible[..<18]) + [0x40, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 9),
        .flexible03
      ),
      ([0x12, 0xE0, 0, 1, 1, 2, 3, 4, 0, 9, 0, 4, 0x80, 0, 1, 2, 3], .uneven),
      ([0x12, 0xE0, 0, 1, 1, 2, 3, 4, 0, 9, 0, 0, 0x80, 0], .uneven),
      ([0x52, 0xE0, 0, 1, 1, 2, 3, 4, 0, 9, 0, 1, 0x80, 0, 1], .uneven), ([], .uneven),
    ]
    var two = flexible + [1]
    two[8] = 2
    bad.append((two, .flexible03))
    for (bytes, format) in bad {
      #expect(throws: RTPError.self) { _ = try parse(bytes, format) }
    }
  }
}
