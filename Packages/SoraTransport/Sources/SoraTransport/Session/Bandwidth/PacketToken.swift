/// A stored packet on its way through the pacer: which packet of which stream, and why it leaves.
public struct PacketToken: Sendable, Hashable {
  let value: Int

  /// - Parameters:
  ///   - stream: the stream's slot, which its owner gives out and never uses twice.
  ///   - number: its RTP sequence number.
  ///   - isRetransmission: whether it is sent again.
  ///   - isRepair: whether it is one of the stream's repair packets that have numbers of their own.
  public init(
    stream: Int, number: UInt16, isRetransmission: Bool = false, isRepair: Bool = false
  ) {
    value =
      stream << 18 | (isRepair ? 1 << 17 : 0) | (isRetransmission ? 1 << 16 : 0) | Int(number)
  }

  init(_ value: Int) { self.value = value }

  public var stream: Int { value >> 18 }
  public var isRepair: Bool { value & 1 << 17 != 0 }
  public var isRetransmission: Bool { value & 1 << 16 != 0 }
  public var number: UInt16 { UInt16(truncatingIfNeeded: value) }
}
