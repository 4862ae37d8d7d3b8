import SoraWire

// Big-endian access for those who still hold pointers. Each load and store checks the bounds, in release builds too, and traps
// beyond them: it goes through a span.

extension UnsafeRawBufferPointer {
  @inline(__always)
  func u8(_ offset: Int) -> UInt8 { unsafe bytes.u8(offset) }

  @inline(__always)
  func u16(_ offset: Int) -> UInt16 { unsafe bytes.u16(offset) }

  @inline(__always)
  func u24(_ offset: Int) -> UInt32 { unsafe bytes.u24(offset) }

  @inline(__always)
  func u32(_ offset: Int) -> UInt32 { unsafe bytes.u32(offset) }

  @inline(__always)
  func u64(_ offset: Int) -> UInt64 { unsafe bytes.u64(offset) }

  /// `count` bytes from `offset`.
  @inline(__always)
  func part(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
    guard count > 0 else { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
    precondition(offset >= 0 && offset <= self.count - count)
    return unsafe UnsafeRawBufferPointer(rebasing: self[offset..<offset + count])
  }
}

extension UnsafeMutableRawBufferPointer {
  @inline(__always)
  func put8(_ value: UInt8, at offset: Int) {
    unsafe withMutableRawSpan { $0.put8(value, at: offset) }
  }

  @inline(__always)
  func put16(_ value: UInt16, at offset: Int) {
    unsafe withMutableRawSpan { $0.put16(value, at: offset) }
  }

  @inline(__always)
  func put24(_ value: UInt32, at offset: Int) {
    unsafe withMutableRawSpan { $0.put24(value, at: offset) }
  }

  @inline(__always)
  func put32(_ value: UInt32, at offset: Int) {
    unsafe withMutableRawSpan { $0.put32(value, at: offset) }
  }

  @inline(__always)
  func put64(_ value: UInt64, at offset: Int) {
    unsafe withMutableRawSpan { $0.put64(value, at: offset) }
  }

  @inline(__always)
  func put(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    unsafe withMutableRawSpan { unsafe $0.put(bytes.bytes, at: offset) }
  }

  @inline(__always)
  func zero(_ offset: Int, _ count: Int) {
    unsafe withMutableRawSpan { $0.zero(offset, count) }
  }
}
