/// The blocks of an extended report (RFC 3611 §2): receivers that send nothing learn their round-trip time by two of them.
public struct RTCPExtendedReport: Sequence {
  /// One report block (RFC 3611 §3).
  public enum Block {
    /// A receiver's wall clock when the report left (RFC 3611 §4.4).
    case receiverReferenceTime(NTPTime)
    /// How long ago such times came (RFC 3611 §4.5).
    case receiverDelays(RTCPReceiverDelays)
    /// A block of a type that this stack has no use for.
    case unknown(type: UInt8)
  }

  /// The source that reports.
  public let sender: UInt32
  private let blocks: LentBytes

  /// Checks all lengths, so that iterating can't fail; `nil` when they contradict each other.
  init?(_ packet: LentBytes) {
    guard packet.count >= 8 else { return nil }
    sender = packet.u32(4)
    blocks = packet.part(8, packet.count - 8)
    var offset = 0
    while offset < blocks.count {
      guard offset + 4 <= blocks.count else { return nil }
      let content = Int(blocks.u16(offset + 2)) * 4
      switch blocks.u8(offset) {
      case RTCPExtendedBlock.referenceTime: guard content == 8 else { return nil }
      case RTCPExtendedBlock.delays:
        guard content % RTCPReceiverDelay.byteCount == 0 else { return nil }
      default: break
      }
      offset += 4 + content
    }
    guard offset == blocks.count else { return nil }
  }

  public func makeIterator() -> Iterator { Iterator(blocks) }

  /// Walks the blocks in their order.
  public struct Iterator: IteratorProtocol {
    private let blocks: LentBytes
    private var offset = 0

    init(_ blocks: LentBytes) { self.blocks = blocks }

    public mutating func next() -> Block? {
      guard offset + 4 <= blocks.count else { return nil }
      let type = blocks.u8(offset)
      let content = Int(blocks.u16(offset + 2)) * 4
      let start = offset + 4
      offset = start + content
      switch type {
      case RTCPExtendedBlock.referenceTime:
        return .receiverReferenceTime(NTPTime(rawValue: blocks.u64(start)))
      case RTCPExtendedBlock.delays:
        return .receiverDelays(RTCPReceiverDelays(blocks.part(start, content)))
      default: return .unknown(type: type)
      }
    }
  }
}

/// Types of the blocks of extended reports (RFC 3611 §4).
enum RTCPExtendedBlock {
  static let referenceTime: UInt8 = 4
  static let delays: UInt8 = 5
}

/// How long ago a receiver's reference time came (RFC 3611 §4.5).
public struct RTCPReceiverDelay: Hashable, Sendable {
  /// The receiver.
  public var ssrc: UInt32
  /// Middle 32 bits of the reference time; 0 if there was none.
  public var lastReferenceTime: UInt32
  /// Time from its arrival to this report, in 1/65536 s.
  public var delay: UInt32

  /// Bytes on the wire.
  static let byteCount = 12

  public init(ssrc: UInt32, lastReferenceTime: UInt32, delay: UInt32) {
    self.ssrc = ssrc
    self.lastReferenceTime = lastReferenceTime
    self.delay = delay
  }
}

/// The delays of one block, a receiver each.
public struct RTCPReceiverDelays: Sequence, IteratorProtocol {
  private let bytes: LentBytes
  private var offset = 0

  init(_ bytes: LentBytes) { self.bytes = bytes }

  public mutating func next() -> RTCPReceiverDelay? {
    guard offset + RTCPReceiverDelay.byteCount <= bytes.count else { return nil }
    defer { offset += RTCPReceiverDelay.byteCount }
    return RTCPReceiverDelay(
      ssrc: bytes.u32(offset), lastReferenceTime: bytes.u32(offset + 4),
      delay: bytes.u32(offset + 8))
  }
}
