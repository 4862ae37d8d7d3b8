import SoraWire

/// SipHash-2-4 (Aumasson and Bernstein 2012): what cookies are signed with. Its key never leaves this end.
package struct SipHash: Sendable {
  private let key: (UInt64, UInt64)

  package init(key: (UInt64, UInt64)) {
    self.key = key
  }

  package func hash(_ bytes: RawSpan) -> UInt64 {
    var v0 = key.0 ^ 0x736f_6d65_7073_6575
    var v1 = key.1 ^ 0x646f_7261_6e64_6f6d
    var v2 = key.0 ^ 0x6c79_6765_6e65_7261
    var v3 = key.1 ^ 0x7465_6462_7974_6573
    func rotate(_ value: UInt64, _ by: UInt64) -> UInt64 { value << by | value >> (64 - by) }
    func round() {
      v0 = v0 &+ v1
      v1 = rotate(v1, 13) ^ v0
      v0 = rotate(v0, 32)
      v2 = v2 &+ v3
      v3 = rotate(v3, 16) ^ v2
      v0 = v0 &+ v3
      v3 = rotate(v3, 21) ^ v0
      v2 = v2 &+ v1
      v1 = rotate(v1, 17) ^ v2
      v2 = rotate(v2, 32)
    }
    func absorb(_ word: UInt64) {
      v3 ^= word
      round()
      round()
      v0 ^= word
    }
    let whole = bytes.byteCount & ~7
    for offset in stride(from: 0, to: whole, by: 8) { absorb(bytes.u64(offset).byteSwapped) }
    var last = UInt64(truncatingIfNeeded: bytes.byteCount & 0xFF) << 56
    for offset in whole..<bytes.byteCount {
      last |= UInt64(bytes.u8(offset)) << UInt64(8 * (offset - whole))
    }
    absorb(last)
    v2 ^= 0xFF
    for _ in 0..<4 { round() }
    return v0 ^ v1 ^ v2 ^ v3
  }
}
