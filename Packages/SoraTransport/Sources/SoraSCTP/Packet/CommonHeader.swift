import SoraWire

/// What every packet begins with (RFC 9260 §3.1).
struct CommonHeader {
  static let count = 12

  var sourcePort: UInt16
  var destinationPort: UInt16
  var tag: UInt32
  /// As a number: it stands with its least significant byte first.
  var checksum: UInt32

  /// `nil` where a packet has fewer bytes, or can't hold whole chunks.
  init?(_ packet: RawSpan) {
    guard packet.byteCount >= CommonHeader.count + 4, packet.byteCount <= 65_535 else { return nil }
    sourcePort = packet.u16(0)
    destinationPort = packet.u16(2)
    tag = packet.u32(4)
    checksum = packet.u32(8).byteSwapped
  }
}
