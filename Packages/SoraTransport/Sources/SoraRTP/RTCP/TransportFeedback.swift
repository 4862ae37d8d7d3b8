public import SoraMedia

/// Which packets of a transport arrived, and when
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1).
///
/// A view into the memory that was read; iterate it before that memory goes.
public struct TransportFeedback: Sequence {
  /// One reported packet.
  public struct Status: Hashable, Sendable {
    public var sequenceNumber: UInt16
    /// Nanoseconds from the message's reference time to the arrival; `nil` when the packet hasn't arrived.
    public var nanosecondsFromReference: Int64?
  }

  public let sender: UInt32
  public let media: UInt32
  public let baseSequenceNumber: UInt16
  /// Number of packets reported on.
  public let statusCount: Int
  /// 24 bits: multiples of 64 ms on a clock of the receiver, wrapping every 12.4 days.
  public let referenceTime: UInt32
  /// Counts messages, to notice lost ones.
  public let feedbackCount: UInt8

  private let packet: LentBytes
  private let deltaOffset: Int

  /// Units of receive deltas: 250 us.
  static let nanosecondsPerTick: Int64 = 250_000
  /// Units of the reference time: 64 ms.
  static let ticksPerReference: Int64 = 256
  static let chunksOffset = 20

  /// Checks the whole message, so that iterating can't fail; `nil` when it contradicts itself.
  init?(_ packet: LentBytes) {
    guard packet.count >= TransportFeedback.chunksOffset else { return nil }
    sender = packet.u32(4)
    media = packet.u32(8)
    baseSequenceNumber = packet.u16(12)
    statusCount = Int(packet.u16(14))
    referenceTime = packet.u24(16)
    feedbackCount = packet.u8(19)
    self.packet = packet

    var left = statusCount
    var offset = TransportFeedback.chunksOffset
    var deltaBytes = 0
    while left > 0 {
      guard offset + 2 <= packet.count else { return nil }
      var chunk = StatusChunk(packet.u16(offset), limit: left)
      offset += 2
      left -= chunk.remaining
      if let run = chunk.runSymbol {
        guard run != 3 else { return nil }
        deltaBytes += Int(run) * chunk.remaining
      } else {
        while let symbol = chunk.next() {
          // Symbol 3 is reserved: its delta's size isn't defined.
          guard symbol != 3 else { return nil }
          deltaBytes += Int(symbol)
        }
      }
      guard offset + deltaBytes <= packet.count else { return nil }
    }
    deltaOffset = offset
  }

  public func makeIterator() -> Iterator { Iterator(packet, self, deltaOffset) }

  /// Walks the reported packets in order of their sequence numbers.
  public struct Iterator: IteratorProtocol {
    private let packet: LentBytes
    private var chunkOffset = TransportFeedback.chunksOffset
    private var deltaOffset: Int
    private var left: Int
    private var sequenceNumber: UInt16
    private var chunk = StatusChunk.empty
    private var ticks: Int64 = 0

    init(_ packet: LentBytes, _ feedback: TransportFeedback, _ deltaOffset: Int) {
      self.packet = packet
      self.deltaOffset = deltaOffset
      left = feedback.statusCount
      sequenceNumber = feedback.baseSequenceNumber
    }

    public mutating func next() -> Status? {
      guard left > 0 else { return nil }
      while chunk.remaining == 0 {
        chunk = StatusChunk(packet.u16(chunkOffset), limit: left)
        chunkOffset += 2
      }
      let symbol = chunk.next() ?? 0
      left -= 1
      var status = Status(sequenceNumber: sequenceNumber, nanosecondsFromReference: nil)
      sequenceNumber &+= 1
      switch symbol {
      case 1:
        ticks += Int64(packet.u8(deltaOffset))
        deltaOffset += 1
      case 2:
        ticks += Int64(Int16(bitPattern: packet.u16(deltaOffset)))
        deltaOffset += 2
      default: return status
      }
      status.nanosecondsFromReference = ticks * TransportFeedback.nanosecondsPerTick
      return status
    }
  }
}

/// A packet status chunk: a run of one symbol, or a vector of 14 one-bit or 7 two-bit symbols.
/// The symbols equal the bytes that their deltas take: 0 not received, 1 small, 2 large or negative.
struct StatusChunk {
  private var bits: UInt16
  private var bitsPerSymbol: UInt16
  /// Symbols not yet read.
  private(set) var remaining: Int

  static let empty = StatusChunk(0, limit: 0)

  init(_ word: UInt16, limit: Int) {
    if word & 0x8000 == 0 {
      bitsPerSymbol = 0
      bits = (word >> 13) & 0x3
      remaining = min(Int(word & 0x1FFF), limit)
      // A run of no packets is possible and harmless: each chunk takes two bytes, so a walk ends with the message.
    } else if word & 0x4000 == 0 {
      bitsPerSymbol = 1
      bits = word << 2
      remaining = min(14, limit)
    } else {
      bitsPerSymbol = 2
      bits = word << 2
      remaining = min(7, limit)
    }
  }

  /// The symbol of a run-length chunk.
  var runSymbol: UInt16? { bitsPerSymbol == 0 ? bits : nil }

  mutating func next() -> UInt16? {
    guard remaining > 0 else { return nil }
    remaining -= 1
    if bitsPerSymbol == 0 { return bits }
    let symbol = bits >> (16 - bitsPerSymbol)
    bits <<= bitsPerSymbol
    return symbol
  }
}

/// Unwraps the reference times of successive feedback messages of one receiver.
public struct TransportFeedbackTimeline: Sendable {
  private var last: Int64?

  public init() {}

  /// The message's reference time on the receiver's clock, whose origin is arbitrary; it never wraps.
  public mutating func reference(of feedback: TransportFeedback) -> Instant {
    reference(time: feedback.referenceTime)
  }

  /// The same for a bare 24-bit reference time.
  public mutating func reference(time: UInt32) -> Instant {
    let extended: Int64
    if let last {
      let delta = Int32(bitPattern: (time &- UInt32(truncatingIfNeeded: last)) << 8) >> 8
      extended = last &+ Int64(delta)
    } else {
      extended = Int64(time & 0xFF_FFFF)
    }
    last = extended
    return Instant(
      nanoseconds: extended * TransportFeedback.ticksPerReference
        * TransportFeedback.nanosecondsPerTick)
  }
}
