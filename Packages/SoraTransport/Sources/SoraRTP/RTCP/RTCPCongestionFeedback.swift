public import SoraMedia
public import SoraWire

/// Which packets of which sources arrived, when, and with which ECN marks (RFC 8888 §3.1).
///
/// A view into the memory that was read; iterate it before that memory goes.
public struct RTCPCongestionFeedback: Sequence {
  /// One reported packet.
  public struct Status: Hashable, Sendable {
    public var ssrc: UInt32
    public var sequenceNumber: UInt16
    /// How the packet was marked; nil when it hasn't arrived.
    public var ecn: ECNCodepoint?
    /// 1/1024 s from its arrival to `reportTime`; nil when it hasn't arrived, or the receiver doesn't know when.
    public var age: Int?

    public init(ssrc: UInt32, sequenceNumber: UInt16, ecn: ECNCodepoint?, age: Int?) {
      self.ssrc = ssrc
      self.sequenceNumber = sequenceNumber
      self.ecn = ecn
      self.age = age
    }
  }

  public let sender: UInt32
  /// When the report was made, on a clock of the receiver: 1/65536 s, the middle 32 bits of an NTP time.
  public let reportTime: UInt32
  private let blocks: LentBytes

  /// RFC 8888 §3.1: at most so many packets of one source.
  static let maximumReports = 16_384
  /// The age of packets that came earlier than the field can say.
  static let longestAge = 0x1FFE
  fileprivate static let unknownAge = 0x1FFF

  /// Checks the whole message, so that iterating can't fail; `nil` when it contradicts itself.
  init?(_ packet: LentBytes) {
    guard packet.count >= 12 else { return nil }
    sender = packet.u32(4)
    reportTime = packet.u32(packet.count - 4)
    blocks = packet.part(8, packet.count - 12)
    var offset = 0
    while offset < blocks.count {
      guard offset + 8 <= blocks.count else { return nil }
      let count = Int(blocks.u16(offset + 6))
      guard count <= Self.maximumReports else { return nil }
      offset += Self.blockSize(count)
    }
    guard offset == blocks.count else { return nil }
  }

  /// Bytes of a source's block with so many packets, padded to 32 bits.
  static func blockSize(_ count: Int) -> Int { 8 + (2 * count + 3) & ~3 }

  public func makeIterator() -> Iterator { Iterator(blocks) }

  /// Walks the reported packets, source by source, in order of their sequence numbers.
  public struct Iterator: IteratorProtocol {
    private let blocks: LentBytes
    /// Of the block under way.
    private var offset = 0
    private var index = 0

    init(_ blocks: LentBytes) { self.blocks = blocks }

    public mutating func next() -> Status? {
      // Each pass leaves a block behind.
      while offset + 8 <= blocks.count {
        let count = Int(blocks.u16(offset + 6))
        if index < count {
          index += 1
          return status(index - 1)
        }
        offset += blockSize(count)
        index = 0
      }
      return nil
    }

    private func status(_ index: Int) -> Status {
      let word = blocks.u16(offset + 8 + 2 * index)
      var status = Status(
        ssrc: blocks.u32(offset),
        sequenceNumber: blocks.u16(offset + 4) &+ UInt16(truncatingIfNeeded: index), ecn: nil,
        age: nil)
      guard word & 0x8000 != 0 else { return status }
      status.ecn = ECNCodepoint(rawValue: UInt8(word >> 13 & 0x3))
      let age = Int(word & 0x1FFF)
      if age != unknownAge { status.age = age }
      return status
    }
  }
}

extension RTCPCongestionFeedback.Status {
  /// The 16 bits of a packet.
  static func word(ecn: ECNCodepoint, age: Int?) -> UInt16 {
    let field =
      age.map { max(0, min($0, RTCPCongestionFeedback.longestAge)) }
      ?? RTCPCongestionFeedback.unknownAge
    return 0x8000 | UInt16(ecn.rawValue) << 13 | UInt16(field)
  }
}

/// Unwraps the report times of successive messages of one receiver.
public struct CongestionFeedbackTimeline: Sendable {
  private var extender = TimestampExtender()

  public init() {}

  /// A message's report time on the receiver's clock, whose origin is arbitrary; it never wraps.
  public mutating func reportTime(_ time: UInt32) -> Instant {
    let ticks = extender.extend(time)
    return Instant(
      nanoseconds: (ticks >> 16) &* 1_000_000_000 &+ ((ticks & 0xFFFF) * 1_000_000_000) >> 16)
  }

  /// How long an age is.
  public static func duration(ofAge age: Int) -> Duration {
    .nanoseconds(Int64(age) * 1_000_000_000 / 1_024)
  }
}
