extension MutableRawSpan {
  /// Stores a byte. Traps beyond the end, like all of these.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func put8(_ value: UInt8, at offset: Int) {
    storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
  }

  /// Stores 16 bits, most significant byte first.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func put16(_ value: UInt16, at offset: Int) {
    storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt16.self)
  }

  /// Stores the low 24 bits of `value`, most significant byte first.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func put24(_ value: UInt32, at offset: Int) {
    put16(UInt16(truncatingIfNeeded: value >> 8), at: offset)
    put8(UInt8(truncatingIfNeeded: value), at: offset + 2)
  }

  /// Stores 32 bits, most significant byte first.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func put32(_ value: UInt32, at offset: Int) {
    storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt32.self)
  }

  /// Stores 64 bits, most significant byte first.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func put64(_ value: UInt64, at offset: Int) {
    storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt64.self)
  }

  /// Copies `bytes` to `offset`; the two must not overlap. Traps where they don't fit.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func put(_ bytes: RawSpan, at offset: Int) {
    guard bytes.byteCount > 0 else { return }
    var target = _mutatingExtracting(offset..<offset + bytes.byteCount)
    unsafe bytes.withUnsafeBytes { source in
      unsafe target.withUnsafeMutableBytes { unsafe $0.copyMemory(from: source) }
    }
  }

  /// Sets `count` bytes from `offset` to zero. Traps where they reach beyond the end.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func zero(_ offset: Int, _ count: Int) {
    guard count > 0 else { return }
    var target = _mutatingExtracting(offset..<offset + count)
    _ = unsafe target.withUnsafeMutableBytes {
      unsafe $0.initializeMemory(as: UInt8.self, repeating: 0)
    }
  }

  /// The part from `offset` on that is `count` bytes long, lent for as long as it is used.
  @inlinable @inline(__always)
  @_lifetime(&self)
  public mutating func part(_ offset: Int, _ count: Int) -> MutableRawSpan {
    _mutatingExtracting(offset..<offset + count)
  }
}
