// Views into the variable parts of RTCP packets. Each is built by `RTCPReader` after it has checked the lengths,
// so iteration can't fail.
// They borrow the datagram: whoever makes a reader over it answers for its memory.

/// The report blocks of a sender or receiver report.
@safe public struct RTCPReportBlocks: Sequence, IteratorProtocol {
  private let bytes: UnsafeRawBufferPointer
  private var index = 0
  /// Number of blocks, 0 to 31.
  public let count: Int

  init(_ bytes: UnsafeRawBufferPointer, count: Int) {
    unsafe self.bytes = unsafe bytes
    self.count = count
  }

  public mutating func next() -> RTCPReportBlock? {
    guard index < count else { return nil }
    let offset = index * RTCPReportBlock.byteCount
    index += 1
    let lost = unsafe bytes.u24(offset + 5)
    return unsafe RTCPReportBlock(
      ssrc: bytes.u32(offset), fractionLost: bytes.u8(offset + 4),
      cumulativeLost: Int32(bitPattern: lost << 8) >> 8,
      extendedHighestSequence: bytes.u32(offset + 8), jitter: bytes.u32(offset + 12),
      lastSenderReport: bytes.u32(offset + 16),
      delaySinceLastSenderReport: bytes.u32(offset + 20))
  }
}

/// The chunks of an SDES packet, reduced to their canonical names.
@safe public struct RTCPSourceDescription: Sequence, IteratorProtocol {
  /// A source and its CNAME (RFC 3550 §6.5.1); the name is empty when the chunk has none.
  @safe public struct Chunk {
    public var ssrc: UInt32
    /// UTF-8, not terminated.
    public var cname: UnsafeRawBufferPointer

    /// The name as text, invalid bytes replaced.
    public var cnameText: String { unsafe String(decoding: cname, as: UTF8.self) }
  }

  private let bytes: UnsafeRawBufferPointer
  private var offset = 0
  private var remaining: Int

  /// `nil` when the items don't fit into `bytes`.
  init?(_ bytes: UnsafeRawBufferPointer, chunks: Int) {
    unsafe self.bytes = unsafe bytes
    remaining = chunks
    var probe = self
    for _ in 0..<chunks where probe.next() == nil { return nil }
  }

  public mutating func next() -> Chunk? {
    guard remaining > 0, unsafe offset + 4 <= bytes.count else { return nil }
    var chunk = unsafe Chunk(ssrc: bytes.u32(offset), cname: bytes.part(0, 0))
    var position = offset + 4
    while unsafe position < bytes.count {
      let type = unsafe bytes.u8(position)
      if type == 0 {
        // The item list ends with one to four zero bytes, up to the next 32-bit boundary.
        offset = unsafe Swift.min((position + 4) & ~3, bytes.count)
        remaining -= 1
        return chunk
      }
      guard unsafe position + 2 <= bytes.count else { return nil }
      let count = unsafe Int(bytes.u8(position + 1))
      guard unsafe position + 2 + count <= bytes.count else { return nil }
      if type == 1, unsafe chunk.cname.isEmpty {
        unsafe chunk.cname = unsafe bytes.part(position + 2, count)
      }
      position += 2 + count
    }
    // Some senders leave the terminator out when the items end on a boundary.
    offset = unsafe bytes.count
    remaining -= 1
    return chunk
  }
}

/// The sources that leave, and why.
@safe public struct RTCPGoodbye: Sequence, IteratorProtocol {
  private let bytes: UnsafeRawBufferPointer
  private var index = 0
  /// Number of sources, 0 to 31.
  public let count: Int

  init(_ bytes: UnsafeRawBufferPointer, count: Int) {
    unsafe self.bytes = unsafe bytes
    self.count = count
  }

  public mutating func next() -> UInt32? {
    guard index < count else { return nil }
    index += 1
    return unsafe bytes.u32((index - 1) * 4)
  }

  /// The reason that the sender gave, if any.
  public var reason: String? {
    let offset = count * 4
    guard unsafe offset < bytes.count else { return nil }
    let length = unsafe Int(bytes.u8(offset))
    guard length > 0, unsafe offset + 1 + length <= bytes.count else { return nil }
    return unsafe String(decoding: bytes.part(offset + 1, length), as: UTF8.self)
  }
}

/// Who is asked for a key frame, each with a command sequence number.
@safe public struct RTCPFullIntraRequest: Sequence, IteratorProtocol {
  public struct Entry: Hashable, Sendable {
    public var ssrc: UInt32
    /// Rises by one for every new request; a repetition keeps it (RFC 5104 §4.3.1.2).
    public var sequenceNumber: UInt8
  }

  public let sender: UInt32
  private let bytes: UnsafeRawBufferPointer
  private var offset = 0

  init(sender: UInt32, entries: UnsafeRawBufferPointer) {
    self.sender = sender
    unsafe bytes = unsafe entries
  }

  public mutating func next() -> Entry? {
    guard unsafe offset + 8 <= bytes.count else { return nil }
    offset += 8
    return unsafe Entry(ssrc: bytes.u32(offset - 8), sequenceNumber: bytes.u8(offset - 4))
  }
}

/// The sequence numbers that a receiver misses.
@safe public struct RTCPNack: Sequence, IteratorProtocol {
  public let sender: UInt32
  public let media: UInt32
  private let bytes: UnsafeRawBufferPointer
  private var offset = 0
  private var pending: UInt16 = 0
  private var current: UInt16 = 0

  init(sender: UInt32, media: UInt32, entries: UnsafeRawBufferPointer) {
    self.sender = sender
    self.media = media
    unsafe bytes = unsafe entries
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
    guard unsafe offset + 4 <= bytes.count else { return nil }
    current = unsafe bytes.u16(offset)
    pending = unsafe bytes.u16(offset + 2)
    offset += 4
    return current
  }
}

/// A receiver's estimate of the bandwidth towards it, over the listed sources.
@safe public struct RTCPReceiverEstimate: Sequence, IteratorProtocol {
  public let sender: UInt32
  /// Bits a second; saturates at the largest value.
  public let bitsPerSecond: UInt64
  private let bytes: UnsafeRawBufferPointer
  private var offset = 0

  init(sender: UInt32, bitsPerSecond: UInt64, sources: UnsafeRawBufferPointer) {
    self.sender = sender
    self.bitsPerSecond = bitsPerSecond
    unsafe bytes = unsafe sources
  }

  public mutating func next() -> UInt32? {
    guard unsafe offset + 4 <= bytes.count else { return nil }
    offset += 4
    return unsafe bytes.u32(offset - 4)
  }
}
