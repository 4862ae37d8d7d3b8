/// Between the RTP timestamps of packets and the jitter buffer's, which count at 48 kHz. Confined to its owner.
package struct RTPClockScale {
  /// Ticks of the buffer for one of the packets.
  private let ratio: UInt32
  /// What came last, in both: where a way back from one that has wrapped begins.
  private var packet: UInt32 = 0

  /// - Parameter clockRate: Hz, a part of 48,000.
  package init(clockRate: Int) { ratio = UInt32(48_000 / min(max(clockRate, 1), 48_000)) }

  /// A packet's timestamp for the buffer. Both wrap at 32 bits, and so does their product.
  package mutating func bufferTime(_ timestamp: UInt32) -> UInt32 {
    packet = timestamp
    return timestamp &* ratio
  }

  /// A timestamp of the buffer in the packets' clock, within some hours of the last packet.
  package func packetTime(_ timestamp: UInt32) -> UInt32 {
    let offset = Int32(bitPattern: timestamp &- packet &* ratio) / Int32(ratio)
    return packet &+ UInt32(bitPattern: offset)
  }
}
