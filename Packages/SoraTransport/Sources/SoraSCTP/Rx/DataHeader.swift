import SoraWire

/// What a DATA or I-DATA chunk says of its payload (RFC 9260 §3.3.1, RFC 8260 §2.1).
struct DataHeader {
  var tsn: UInt32
  var stream: UInt16
  /// The stream sequence number, or the message identifier.
  var number: UInt32
  /// In DATA, and in the first I-DATA of a message.
  var ppid: UInt32
  /// I-DATA: the fragment's number within its message.
  var fragment: UInt32
  var flags: UInt8

  /// Bytes before the payload, the chunk's header not counted.
  static let count = 12
  static let interleavedCount = 16

  var isBeginning: Bool { flags & ChunkFlags.beginning != 0 }
  var isEnd: Bool { flags & ChunkFlags.end != 0 }
  var isWhole: Bool { isBeginning && isEnd }
  var isUnordered: Bool { flags & ChunkFlags.unordered != 0 }

  /// `nil` where the chunk is too short.
  init?(_ value: RawSpan, flags: UInt8, interleaved: Bool) {
    guard
      value.byteCount >= (interleaved ? DataHeader.interleavedCount : DataHeader.count)
    else { return nil }
    tsn = value.u32(0)
    stream = value.u16(4)
    self.flags = flags
    if interleaved {
      number = value.u32(8)
      let isBeginning = flags & ChunkFlags.beginning != 0
      ppid = isBeginning ? value.u32(12) : 0
      fragment = isBeginning ? 0 : value.u32(12)
    } else {
      number = UInt32(value.u16(6))
      ppid = value.u32(8)
      fragment = 0
    }
  }
}
