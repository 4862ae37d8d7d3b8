// Big-endian access to raw memory. None of these checks bounds in release builds: callers do, once a packet.

extension UnsafeRawBufferPointer {
  @inline(__always)
  func u16(_ offset: Int) -> UInt16 {
    UInt16(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  @inline(__always)
  func u24(_ offset: Int) -> UInt32 {
    UInt32(self[offset]) << 16 | UInt32(self[offset + 1]) << 8 | UInt32(self[offset + 2])
  }

  @inline(__always)
  func u32(_ offset: Int) -> UInt32 {
    UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  @inline(__always)
  func u64(_ offset: Int) -> UInt64 {
    UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// `count` bytes from `offset`.
  @inline(__always)
  func part(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
    guard count > 0, let baseAddress else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    return UnsafeRawBufferPointer(start: baseAddress + offset, count: count)
  }
}

extension UnsafeMutableRawBufferPointer {
  @inline(__always)
  func put16(_ value: UInt16, at offset: Int) {
    storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt16.self)
  }

  @inline(__always)
  func put24(_ value: UInt32, at offset: Int) {
    self[offset] = UInt8(truncatingIfNeeded: value >> 16)
    self[offset + 1] = UInt8(truncatingIfNeeded: value >> 8)
    self[offset + 2] = UInt8(truncatingIfNeeded: value)
  }

  @inline(__always)
  func put32(_ value: UInt32, at offset: Int) {
    storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt32.self)
  }

  @inline(__always)
  func put64(_ value: UInt64, at offset: Int) {
    storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt64.self)
  }

  @inline(__always)
  func put(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    guard let source = bytes.baseAddress, bytes.count > 0, let target = baseAddress else { return }
    (target + offset).copyMemory(from: source, byteCount: bytes.count)
  }

  @inline(__always)
  func zero(_ offset: Int, _ count: Int) {
    guard count > 0, let baseAddress else { return }
    (baseAddress + offset).initializeMemory(as: UInt8.self, repeating: 0, count: count)
  }
}
