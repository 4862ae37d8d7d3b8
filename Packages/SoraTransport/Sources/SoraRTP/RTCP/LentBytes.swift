/// Bytes of a datagram that is lent, read with checks: what the views of RTCP packets stand on.
///
/// Valid while the memory is that it was made of; whoever makes a reader over that answers for it. Reading beyond the end traps.
@safe struct LentBytes {
  /// The bytes for callers that want a pointer.
  let buffer: UnsafeRawBufferPointer

  init(_ buffer: UnsafeRawBufferPointer) {
    unsafe self.buffer = unsafe buffer
  }

  var count: Int { unsafe buffer.count }
  var isEmpty: Bool { unsafe buffer.isEmpty }

  @inline(__always)
  func u8(_ offset: Int) -> UInt8 { unsafe buffer.u8(offset) }

  @inline(__always)
  func u16(_ offset: Int) -> UInt16 { unsafe buffer.u16(offset) }

  @inline(__always)
  func u24(_ offset: Int) -> UInt32 { unsafe buffer.u24(offset) }

  @inline(__always)
  func u32(_ offset: Int) -> UInt32 { unsafe buffer.u32(offset) }

  @inline(__always)
  func u64(_ offset: Int) -> UInt64 { unsafe buffer.u64(offset) }

  /// `count` bytes from `offset`.
  @inline(__always)
  func part(_ offset: Int, _ count: Int) -> LentBytes {
    unsafe LentBytes(buffer.part(offset, count))
  }
}
