import SoraWire

/// One chunk of a packet: its bytes are lent.
struct Chunk: ~Escapable {
  let type: UInt8
  let flags: UInt8
  /// What lies behind the chunk's header, without padding.
  let value: RawSpan
  /// With the header.
  let whole: RawSpan

  @_lifetime(copy whole)
  init(_ whole: RawSpan) {
    type = whole.u8(0)
    flags = whole.u8(1)
    value = whole.part(from: 4)
    self.whole = whole
  }
}

/// Reads what chunks and parameters have in common, one behind the other: four bytes, the last two of which are the length with them, a
/// value, and padding to a multiple of four (RFC 9260 §3.2, §3.2.1).
private struct ItemReader: ~Escapable {
  private let bytes: RawSpan
  private var offset: Int
  /// What was left couldn't be an item.
  private(set) var isMalformed = false

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, from offset: Int) {
    self.bytes = bytes
    self.offset = offset
  }

  @_lifetime(copy self)
  @_lifetime(self: copy self)
  mutating func next() -> RawSpan? {
    let left = bytes.byteCount - offset
    guard left >= 4 else {
      if left > 0 { isMalformed = true }
      return nil
    }
    let length = Int(bytes.u16(offset + 2))
    guard length >= 4, length <= left else {
      isMalformed = true
      return nil
    }
    let item = bytes.part(offset, length)
    // The last one's padding may be missing: nothing is read there.
    offset = min(bytes.byteCount, offset + (length + 3) & ~3)
    return item
  }
}

/// Reads a packet's chunks one behind the other (RFC 9260 §3.2).
struct ChunkReader: ~Escapable {
  private var items: ItemReader
  /// What was left couldn't be a chunk.
  var isMalformed: Bool { items.isMalformed }

  @_lifetime(copy packet)
  init(packet: RawSpan) {
    items = ItemReader(packet, from: CommonHeader.count)
  }

  @_lifetime(copy self)
  @_lifetime(self: copy self)
  mutating func next() -> Chunk? {
    guard let item = items.next() else { return nil }
    return Chunk(item)
  }
}

/// One parameter of a chunk, or one cause of an error: both have the same shape (RFC 9260 §3.2.1).
struct Parameter: ~Escapable {
  let type: UInt16
  let value: RawSpan
  let whole: RawSpan

  @_lifetime(copy whole)
  init(_ whole: RawSpan) {
    type = whole.u16(0)
    value = whole.part(from: 4)
    self.whole = whole
  }
}

/// Reads parameters one behind the other.
struct ParameterReader: ~Escapable {
  private var items: ItemReader
  var isMalformed: Bool { items.isMalformed }

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan) {
    items = ItemReader(bytes, from: 0)
  }

  @_lifetime(copy self)
  @_lifetime(self: copy self)
  mutating func next() -> Parameter? {
    guard let item = items.next() else { return nil }
    return Parameter(item)
  }
}
