// Who uses this module reads packets with it, too.
@_exported public import enum SoraWire.OpusPacket

extension OpusPacket {
  /// From the packet's first byte (RFC 6716 §3.1, table 2).
  public static func bandwidth(_ toc: UInt8) -> OpusBandwidth {
    switch toc >> 3 {
    case 0..<4, 16..<20: .narrow
    case 4..<8: .medium
    case 8..<12, 20..<24: .wide
    case 12, 13, 24..<28: .superWide
    default: .full
    }
  }

  // For bytes that have a type.

  /// `sampleCount` of a packet.
  public static func sampleCount(_ packet: Span<UInt8>) -> Int? {
    unsafe sampleCount(packet.bytes)
  }

  /// `redundantSampleCount` of a packet.
  public static func redundantSampleCount(_ packet: Span<UInt8>) -> Int {
    unsafe redundantSampleCount(packet.bytes)
  }

  /// `isSilence` of a packet.
  public static func isSilence(_ packet: Span<UInt8>) -> Bool { unsafe isSilence(packet.bytes) }
}
