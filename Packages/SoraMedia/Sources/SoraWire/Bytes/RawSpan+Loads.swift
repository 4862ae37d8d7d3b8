// The one place that loads numbers from raw memory. The loads of the standard library check their bounds, in release
// builds too; they are called unsafe because they could make any type of the bytes, and integers are all that is made here.

extension RawSpan {
  /// The byte at `offset`. Traps beyond the end, like all of these: a wrong check of a length stops the program and reads
  /// nothing. Parsers of bytes from outside read with `ByteReader`, or check the length once and then use these.
  @inlinable @inline(__always)
  public func u8(_ offset: Int) -> UInt8 {
    unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self)
  }

  /// The 16 bits at `offset`, most significant byte first.
  @inlinable @inline(__always)
  public func u16(_ offset: Int) -> UInt16 {
    UInt16(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  /// The 24 bits at `offset`, most significant byte first.
  @inlinable @inline(__always)
  public func u24(_ offset: Int) -> UInt32 {
    UInt32(u16(offset)) << 8 | UInt32(u8(offset + 2))
  }

  /// The 32 bits at `offset`, most significant byte first.
  @inlinable @inline(__always)
  public func u32(_ offset: Int) -> UInt32 {
    UInt32(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// The 64 bits at `offset`, most significant byte first.
  @inlinable @inline(__always)
  public func u64(_ offset: Int) -> UInt64 {
    UInt64(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
