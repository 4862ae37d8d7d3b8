/// Reads numbers and vectors in network order, one behind the other. Says `nil` where fewer bytes are left than asked for, and
/// has moved nothing then.
///
/// Borrows the bytes and allocates nothing.
public struct ByteReader: ~Escapable {
  @usableFromInline
  let bytes: RawSpan
  @usableFromInline
  var position = 0

  @inlinable @inline(__always)
  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan) {
    self.bytes = bytes
  }

  /// How many bytes were read.
  @inlinable @inline(__always)
  public var offset: Int { position }

  /// Bytes that are left.
  @inlinable @inline(__always)
  public var remaining: Int { bytes.byteCount - position }

  @inlinable @inline(__always)
  public var isAtEnd: Bool { position == bytes.byteCount }

  /// The next byte.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func u8() -> UInt8? {
    guard remaining >= 1 else { return nil }
    defer { position += 1 }
    return bytes.u8(position)
  }

  /// The next 16 bits.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func u16() -> UInt16? {
    guard remaining >= 2 else { return nil }
    defer { position += 2 }
    return bytes.u16(position)
  }

  /// The next 24 bits.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func u24() -> UInt32? {
    guard remaining >= 3 else { return nil }
    defer { position += 3 }
    return bytes.u24(position)
  }

  /// The next 32 bits.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func u32() -> UInt32? {
    guard remaining >= 4 else { return nil }
    defer { position += 4 }
    return bytes.u32(position)
  }

  /// The next 64 bits.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func u64() -> UInt64? {
    guard remaining >= 8 else { return nil }
    defer { position += 8 }
    return bytes.u64(position)
  }

  /// The next `count` bytes; `nil` for a negative count too.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  public mutating func take(_ count: Int) -> RawSpan? {
    guard count >= 0, count <= remaining else { return nil }
    defer { position += count }
    return bytes.part(position, count)
  }

  /// Passes over `count` bytes.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func skip(_ count: Int) -> Bool {
    guard count >= 0, count <= remaining else { return false }
    position += count
    return true
  }

  /// What is left.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  public mutating func rest() -> RawSpan {
    defer { position = bytes.byteCount }
    return bytes.part(from: position)
  }
}
