import SoraWire

/// The packet that is being put together, in memory that is kept.
struct PacketWriter {
  private var bytes: [UInt8]
  private(set) var count = 0

  init(capacity: Int) {
    bytes = [UInt8](repeating: 0, count: capacity)
  }

  var isEmpty: Bool { count <= CommonHeader.count }

  /// Bytes that are left of a packet of `limit` bytes.
  func room(_ limit: Int) -> Int { max(0, min(limit, bytes.count) - count) }

  mutating func begin(source: UInt16, destination: UInt16, tag: UInt32) {
    bytes.withMutableRawSpan { memory in
      memory.put16(source, at: 0)
      memory.put16(destination, at: 2)
      memory.put32(tag, at: 4)
      memory.put32(0, at: 8)
    }
    count = CommonHeader.count
  }

  /// Appends a chunk that was written before. It must fit.
  mutating func append(_ chunk: [UInt8]) {
    let at = count
    bytes.withMutableRawSpan { $0.put(chunk.rawSpan, at: at) }
    count += chunk.count
  }

  /// Appends a chunk of `length` bytes, header included, whose value `body` writes behind the offset that it gets; it must fit.
  mutating func append(
    _ type: UInt8, flags: UInt8, length: Int, _ body: (inout MutableRawSpan, Int) -> Void
  ) {
    let at = count
    let padded = (length + 3) & ~3
    bytes.withMutableRawSpan { memory in
      memory.put8(type, at: at)
      memory.put8(flags, at: at + 1)
      memory.put16(UInt16(truncatingIfNeeded: length), at: at + 2)
      body(&memory, at + 4)
      memory.zero(at + length, padded - length)
    }
    count += padded
  }

  /// Ends the packet, with its checksum unless both ends do without (RFC 9653 §5.2).
  mutating func finish(hasChecksum: Bool) {
    guard hasChecksum else { return }
    let crc = CRC32C.checksum(packet: bytes.rawSpan.part(0, count))
    bytes.withMutableRawSpan { $0.put32(crc.byteSwapped, at: 8) }
  }

  /// Forgets what was written.
  mutating func clear() { count = 0 }

  func lend(_ take: (RawSpan) -> Bool) -> Bool { take(bytes.rawSpan.part(0, count)) }
}
