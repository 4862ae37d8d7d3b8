/// Reads the syntax elements of a raw byte sequence payload (H.264 §7.2 and §9.1, H.265 §7.2 and §9.2), most
/// significant bit first.
///
/// Emulation prevention bytes are skipped on the way; the stop bit and what follows it aren't data. Throws `NALError`
/// instead of reading beyond the end. Borrows the bytes and allocates nothing.
public struct RBSPReader: ~Escapable {
  private let bytes: RawSpan
  /// Bytes up to the one that holds the stop bit, and that one.
  private let end: Int
  /// Bits of the last byte that are data; 0 where there is no byte.
  private let lastBits: Int
  private var position = 0
  private var zeroRun = 0
  /// Bits that were loaded and not read, left-aligned; zero below them.
  private var cache: UInt64 = 0
  private var cachedBits = 0

  /// A reader of a NAL unit's bytes behind its header.
  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan) {
    self.bytes = bytes
    var end = bytes.byteCount
    while end > 0 {
      if bytes.u8(end - 1) == 0 {
        end -= 1
      } else if Self.isPrevention(before: end, in: bytes) {
        // The byte that keeps cabac_zero_words from ending the unit in a zero (H.264 §7.4.1).
        end -= 1
      } else {
        break
      }
    }
    self.end = end
    lastBits = end > 0 ? 7 - bytes.u8(end - 1).trailingZeroBitCount : 0
  }

  /// A reader of what a NAL unit begins with, behind its header: every bit is data, as the unit may have been cut before its
  /// stop bit.
  @_lifetime(copy bytes)
  public init(leading bytes: RawSpan) {
    self.bytes = bytes
    let count = bytes.byteCount
    // An emulation prevention byte at the cut isn't data either.
    end = Self.isPrevention(before: count, in: bytes) ? count - 1 : count
    lastBits = end > 0 ? 8 : 0
  }

  /// Whether the byte before `end` only keeps two zeros from being a part of a start code (H.264 §7.4.1).
  private static func isPrevention(before end: Int, in bytes: RawSpan) -> Bool {
    end >= 3 && bytes.u8(end - 1) == 3 && bytes.u8(end - 2) == 0 && bytes.u8(end - 3) == 0
  }

  /// `more_rbsp_data()`: whether anything comes before the stop bit, or before the cut.
  public var hasMoreData: Bool {
    cachedBits > 0 || position < end - 1 || (position == end - 1 && lastBits > 0)
  }

  /// `u(n)` for n of 0...32.
  @_lifetime(self: copy self)
  public mutating func readBits(_ count: Int) throws(NALError) -> UInt32 {
    precondition(count >= 0 && count <= 32)
    if cachedBits < count {
      fill()
      guard cachedBits >= count else { throw .truncated }
    }
    guard count > 0 else { return 0 }
    let value = UInt32(truncatingIfNeeded: cache >> UInt64(64 - count))
    drop(count)
    return value
  }

  /// `u(1)`.
  @_lifetime(self: copy self)
  public mutating func readFlag() throws(NALError) -> Bool { try readBits(1) == 1 }

  /// Passes over `count` bits, 0 or more.
  @_lifetime(self: copy self)
  public mutating func skipBits(_ count: Int) throws(NALError) {
    var left = count
    while left > 0 {
      _ = try readBits(min(left, 32))
      left -= 32
    }
  }

  /// `ue(v)`: an unsigned Exp-Golomb code, 0...2^32 - 2.
  @_lifetime(self: copy self)
  public mutating func readUnsigned() throws(NALError) -> UInt32 {
    if 2 * cache.leadingZeroBitCount >= cachedBits { fill() }
    let zeros = cache.leadingZeroBitCount
    guard zeros < cachedBits else { throw .truncated }
    guard zeros <= 31 else { throw .outOfRange(element: "an Exp-Golomb code", value: .max) }
    drop(zeros + 1)
    return try readBits(zeros) &+ (UInt32(1) << UInt32(zeros) &- 1)
  }

  /// `ue(v)` that the standard bounds. Throws `NALError.outOfRange` with the element's name beyond `maximum`.
  @_lifetime(self: copy self)
  public mutating func readUnsigned(_ element: String, upTo maximum: UInt32) throws(NALError)
    -> UInt32
  {
    let value = try readUnsigned()
    guard value <= maximum else { throw .outOfRange(element: element, value: value) }
    return value
  }

  /// `se(v)`: a signed Exp-Golomb code.
  @_lifetime(self: copy self)
  public mutating func readSigned() throws(NALError) -> Int32 {
    let code = try readUnsigned()
    // 1, 2, 3, 4 stand for 1, -1, 2, -2 (H.264 §9.1.1).
    let magnitude = Int32(truncatingIfNeeded: (UInt64(code) + 1) / 2)
    return code & 1 == 1 ? magnitude : 0 &- magnitude
  }

  @_lifetime(self: copy self)
  private mutating func drop(_ count: Int) {
    cache = count < 64 ? cache << UInt64(count) : 0
    cachedBits -= count
  }

  @_lifetime(self: copy self)
  private mutating func fill() {
    while cachedBits <= 56, position < end {
      let byte = bytes.u8(position)
      position += 1
      // 0, 0, 3: the third byte only keeps the first two from looking like a start code (H.264 §7.4.1.1).
      if zeroRun >= 2, byte == 3 {
        zeroRun = 0
        continue
      }
      zeroRun = byte == 0 ? zeroRun + 1 : 0
      let count = position == end ? lastBits : 8
      let data = UInt64(byte) >> UInt64(8 - count)
      guard count > 0 else { continue }
      cache |= data << UInt64(64 - cachedBits - count)
      cachedBits += count
    }
  }
}
