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

/// Reads a packet's chunks one behind the other (RFC 9260 §3.2).
struct ChunkReader: ~Escapable {
  private let bytes: RawSpan
  private var offset: Int
  /// What was left couldn't be a chunk.
  private(set) var isMalformed = false

  @_lifetime(copy packet)
  init(packet: RawSpan) {
    bytes = packet
    offset = CommonHeader.count
  }

  @_lifetime(copy self)
  @_lifetime(self: copy self)
  mutating func next() -> Chunk? {
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
    let chunk = Chunk(bytes.part(offset, length))
    // The last chunk's padding may be missing: nothing is read there.
    offset = min(bytes.byteCount, offset + (length + 3) & ~3)
    return chunk
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
  private let bytes: RawSpan
  private var offset = 0
  private(set) var isMalformed = false

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan) {
    self.bytes = bytes
  }

  @_lifetime(copy self)
  @_lifetime(self: copy self)
  mutating func next() -> Parameter? {
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
    let parameter = Parameter(bytes.part(offset, length))
    offset = min(bytes.byteCount, offset + (length + 3) & ~3)
    return parameter
  }
}
