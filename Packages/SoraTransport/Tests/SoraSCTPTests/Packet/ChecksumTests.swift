import SoraSCTP
import Testing

@Suite struct ChecksumTests {
  /// RFC 3720 appendix B.4, the check value of the CRC catalogue, and nothing at all.
  static let vectors: [([UInt8], UInt32)] = [
    ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
    ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
    ((0..<32).map { UInt8($0) }, 0x46DD_794E),
    ((0..<32).reversed().map { UInt8($0) }, 0x113F_DB5C),
    (Array("123456789".utf8), 0xE306_9283),
    ([], 0),
  ]

  @Test(arguments: vectors)
  func vectorsAgree(bytes: [UInt8], checksum: UInt32) {
    #expect(CRC32C.checksum(bytes.span.bytes) == checksum)
    #expect(CRC32C.checksumByTables(bytes.span.bytes) == checksum)
  }

  @Test func instructionAndTablesAgreeAtEveryLength() {
    let bytes = pattern(300, 5)
    for count in 0...300 {
      let part = bytes.span.bytes.extracting(0..<count)
      #expect(CRC32C.checksum(part) == CRC32C.checksumByTables(part))
    }
  }

  /// The example of the SipHash paper's appendix A.
  @Test func sipHashIsThePapers() {
    let key = SipHash(key: (0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908))
    let bytes = (0..<15).map { UInt8($0) }
    #expect(key.hash(bytes.span.bytes) == 0xA129_CA61_49BE_45E5)
  }
}
