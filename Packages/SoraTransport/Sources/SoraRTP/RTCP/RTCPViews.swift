// Views into the variable parts of RTCP packets. Each is built by `RTCPReader` after it has checked the lengths,
// so iteration can't fail.
// They borrow the datagram: whoever makes a reader over it answers for its memory.

/// The report blocks of a sender or receiver report.
public struct RTCPReportBlocks: Sequence, IteratorProtocol {
  private let bytes: LentBytes
  private var index = 0
  /// Number of blocks, 0 to 31.
  public let count: Int

  init(_ bytes: LentBytes, count: Int) {
    self.bytes = bytes
    self.count = count
  }

  public mutating func next() -> RTCPReportBlock? {
    guard index < count else { return nil }
    let offset = index * RTCPReportBlock.byteCount
    index += 1
    let lost = bytes.u24(offset + 5)
    return RTCPReportBlock(
      ssrc: bytes.u32(offset), fractionLost: bytes.u8(offset + 4),
      cumulativeLost: Int32(bitPattern: lost << 8) >> 8,
      extendedHighestSequence: bytes.u32(offset + 8), jitter: bytes.u32(offset + 12),
      lastSenderReport: bytes.u32(offset + 16),
      delaySinceLastSenderReport: bytes.u32(offset + 20))
  }
}

/// The chunks of an SDES packet, reduced to their canonical names.
public struct RTCPSourceDescription: Sequence, IteratorProtocol {
  /// A source and its CNAME (RFC 3550 §6.5.1); the name is empty when the chunk has none.
  public struct Chunk {
    public var ssrc: UInt32
    var name: LentBytes

    /// UTF-8, not terminated.
    public var cname: UnsafeRawBufferPointer { unsafe name.buffer }

    /// The name as text, invalid bytes replaced.
    public var cnameText: String { unsafe String(decoding: name.buffer, as: UTF8.self) }
  }

  private let bytes: LentBytes
  private var offset = 0
  private var remaining: Int

  /// `nil` when the items don't fit into `bytes`.
  init?(_ bytes: LentBytes, chunks: Int) {
    self.bytes = bytes
    remaining = chunks
    var probe = self
    for _ in 0..<chunks where probe.next() == nil { return nil }
  }

  public mutating func next() -> Chunk? {
    guard remaining > 0, offset + 4 <= bytes.count else { return nil }
    var chunk = Chunk(ssrc: bytes.u32(offset), name: bytes.part(0, 0))
    var position = offset + 4
    while position < bytes.count {
      let type = bytes.u8(position)
      if type == 0 {
        // The item list ends with one to four zero bytes, up to the next 32-bit boundary.
        offset = Swift.min((position + 4) & ~3, bytes.count)
        remaining -= 1
        return chunk
      }
      guard position + 2 <= bytes.count else { return nil }
      let count = Int(bytes.u8(position + 1))
      guard position + 2 + count <= bytes.count else { return nil }
      if type == 1, chunk.name.isEmpty {
        chunk.name = bytes.part(position + 2, count)
      }
      position += 2 + count
    }
    // Some senders leave the terminator out when the items end on a boundary.
    offset = bytes.count
    remaining -= 1
    return chunk
  }
}

/// The sources that leave, and why.
public struct RTCPGoodbye: Sequence, IteratorProtocol {
  private let bytes: LentBytes
  private var index = 0
  /// Number of sources, 0 to 31.
  public let count: Int

  init(_ bytes: LentBytes, count: Int) {
    self.bytes = bytes
    self.count = count
  }

  public mutating func next() -> UInt32? {
    guard index < count else { return nil }
    index += 1
    return bytes.u32((index - 1) * 4)
  }

  /// The reason that the sender gave, if any.
  public var reason: String? {
    let offset = count * 4
    guard offset < bytes.count else { return nil }
    let length = Int(bytes.u8(offset))
    guard length > 0, offset + 1 + length <= bytes.count else { return nil }
    return unsafe String(decoding: bytes.part(offset + 1, length).buffer, as: UTF8.self)
  }
}

/// Who is asked for a key frame, each with a command sequence number.
public struct RTCPFullIntraRequest: Sequence, IteratorProtocol {
  public struct Entry: Hashable, Sendable {
    public var ssrc: UInt32
    /// Rises by one for every new request; a repetition keeps it (RFC 5104 §4.3.1.2).
    public var sequenceNumber: UInt8
  }

  public let sender: UInt32
  private let bytes: LentBytes
  private var offset = 0

  init(sender: UInt32, entries: LentBytes) {
    self.sender = sender
    bytes = entries
  }

  public mutating func next() -> Entry? {
    guard offset + 8 <= bytes.count else { return nil }
    offset += 8
    return Entry(ssrc: bytes.u32(offset - 8), sequenceNumber: bytes.u8(offset - 4))
  }
}

/// The sequence numbers that a receiver misses.
public struct RTCPNack: Sequence, IteratorProtocol {
  public let sender: UInt32
  public let media: UInt32
  private let bytes: LentBytes
  private var offset = 0
  private var pending: UInt16 = 0
  private var current: UInt16 = 0

  init(sender: UInt32, media: UInt32, entries: LentBytes) {
    self.sender = sender
    self.media = media
    bytes = entries
  }

  /// RFC 4585 §6.2.1: a packet id, and a mask of which of the 16 packets after it are missing too.
  public mutating func next() -> UInt16? {
    if pending != 0 {
      let skip = UInt16(pending.trailingZeroBitCount)
      current &+= skip &+ 1
      // In two steps: a shift by 16 would be an overshift for the last bit of the mask.
      pending = (pending >> skip) >> 1
      return current
    }
    guard offset + 4 <= bytes.count else { return nil }
    current = bytes.u16(offset)
    pending = bytes.u16(offset + 2)
    offset += 4
    return current
  }
}

/// A receiver's estimate of the bandwidth towards it, over the listed sources.
public struct RTCPReceiverEstimate: Sequence, IteratorProtocol {
  public let sender: UInt32
  /// Bits a second; saturates at the largest value.
  public let bitsPerSecond: UInt64
  private let bytes: LentBytes
  private var offset = 0

  init(sender: UInt32, bitsPerSecond: UInt64, sources: LentBytes) {
    self.sender = sender
    self.bitsPerSecond = bitsPerSecond
    bytes = sources
  }

  public mutating func next() -> UInt32? {
    guard offset + 4 <= bytes.count else { return nil }
    offset += 4
    return bytes.u32(offset - 4)
  }
}
