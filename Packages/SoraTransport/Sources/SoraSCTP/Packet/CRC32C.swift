internal import CSoraCRC32C
import SoraWire

/// CRC-32C (RFC 9260 appendix A; the polynomial of RFC 3720 §12.1).
package enum CRC32C {
  /// The checksum of `bytes`. SCTP writes it with the least significant byte first.
  package static func checksum(_ bytes: RawSpan) -> UInt32 { ~extend(~0, bytes) }

  /// The same by tables alone, as on CPUs without the instruction.
  package static func checksumByTables(_ bytes: RawSpan) -> UInt32 {
    let crc = unsafe bytes.withUnsafeBytes {
      unsafe sora_crc32c_extend_tables(~0, $0.baseAddress, $0.count)
    }
    return ~crc
  }

  /// The checksum of a packet with zeros where its own stands (RFC 9260 §6.8). At least 12 bytes.
  static func checksum(packet: RawSpan) -> UInt32 {
    let zeros: InlineArray<4, UInt8> = [0, 0, 0, 0]
    var crc = extend(~0, packet.part(0, 8))
    crc = extend(crc, zeros.rawSpan)
    return ~extend(crc, packet.part(from: 12))
  }

  private static func extend(_ crc: UInt32, _ bytes: RawSpan) -> UInt32 {
    unsafe bytes.withUnsafeBytes { unsafe sora_crc32c_extend(crc, $0.baseAddress, $0.count) }
  }
}
