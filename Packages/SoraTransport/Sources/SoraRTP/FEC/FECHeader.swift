import SoraWire

/// How repair packets are laid out.
public enum FECFormat: Sendable, Hashable, CaseIterable {
  /// ULPFEC (RFC 5109), which goes in the stream that it protects, inside RED (RFC 2198); of its levels only the first.
  case uneven
  /// FlexFEC as draft-ietf-payload-flexible-fec-scheme-03 has it, SDP's `flexfec-03`, in a stream of its own. RFC 8627 lays out another header.
  case flexible03

  /// Packets from the first one on that a repair packet can name.
  public var longestSpan: Int {
    switch self {
    case .uneven: 48
    case .flexible03: 109
    }
  }
}

/// What a repair packet says: which packets it protects, and what their headers are together, XORed.
public struct FECHeader: Equatable, Sendable {
  /// The stream that it protects; nil where it is the repair packet's own.
  public var ssrc: UInt32?
  /// The first sequence number of the mask.
  public var base: UInt16
  /// Bit `i`, the lowest being 0, is the packet `base + i`.
  public var mask: UInt128
  /// Of the first 16 bits: padding, extension, CSRC count, marker, payload type. The upper two don't count.
  public var fields: UInt16
  /// Of the bytes behind the 12 of the fixed header.
  public var length: UInt16
  public var timestamp: UInt32
  /// Where the bytes of the packets begin, those behind the fixed header, and how many they are.
  public var payloadOffset = 0
  public var payloadCount = 0

  public init(
    ssrc: UInt32? = nil, base: UInt16, mask: UInt128, fields: UInt16 = 0, length: UInt16 = 0,
    timestamp: UInt32 = 0
  ) {
    self.ssrc = ssrc
    self.base = base
    self.mask = mask
    self.fields = fields
    self.length = length
    self.timestamp = timestamp
  }

  /// Reads the payload of a repair packet.
  public init(parsing payload: RawSpan, format: FECFormat) throws(RTPError) {
    switch format {
    case .uneven: try self.init(uneven: payload)
    case .flexible03: try self.init(flexible: payload)
    }
    // What protects nothing, or has nothing of it, repairs nothing.
    guard mask != 0, payloadCount > 0 else {
      throw .malformedPayload(codec: format == .uneven ? "ulpfec" : "flexfec-03")
    }
  }

  /// RFC 5109 §7.3 and §7.4.
  private init(uneven payload: RawSpan) throws(RTPError) {
    var reader = ByteReader(payload)
    guard let fields = reader.u16(), let base = reader.u16(), let timestamp = reader.u32(),
      let length = reader.u16(), let protected = reader.u16(), let short = reader.u16()
    else { throw .truncated(needed: 14, available: payload.byteCount) }
    var bits = UInt128(short) << 32
    if fields & 0x4000 != 0 {
      guard let long = reader.u32() else {
        throw .truncated(needed: 18, available: payload.byteCount)
      }
      bits |= UInt128(long)
    }
    self.init(
      base: base, mask: Self.reversed(bits, count: 48), fields: fields & 0x3FFF, length: length,
      timestamp: timestamp)
    guard Int(protected) <= reader.remaining else {
      throw .truncated(needed: reader.offset + Int(protected), available: payload.byteCount)
    }
    payloadOffset = reader.offset
    payloadCount = Int(protected)
  }

  /// draft-ietf-payload-flexible-fec-scheme-03 §4.2.
  private init(flexible payload: RawSpan) throws(RTPError) {
    var reader = ByteReader(payload)
    guard let fields = reader.u16(), let length = reader.u16(), let timestamp = reader.u32(),
      let sources = reader.u8(), reader.skip(3), let ssrc = reader.u32(), let base = reader.u16(),
      let first = reader.u16()
    else { throw .truncated(needed: 20, available: payload.byteCount) }
    // Retransmissions, fixed masks and several streams in one packet are things that nobody sends.
    guard fields & 0xC000 == 0, sources == 1 else {
      throw .unsupportedPayload(codec: "flexfec-03", type: UInt8(fields >> 14) << 6 | sources & 63)
    }
    // A set bit in front of a part says that it is the last.
    var bits = UInt128(first & 0x7FFF) << 94
    if first & 0x8000 == 0 {
      guard let second = reader.u32() else {
        throw .truncated(needed: 24, available: payload.byteCount)
      }
      bits |= UInt128(second & 0x7FFF_FFFF) << 63
      if second & 0x8000_0000 == 0 {
        guard let third = reader.u64() else {
          throw .truncated(needed: 32, available: payload.byteCount)
        }
        guard third >> 63 == 1 else { throw .malformedPayload(codec: "flexfec-03") }
        bits |= UInt128(third & 0x7FFF_FFFF_FFFF_FFFF)
      }
    }
    self.init(
      ssrc: ssrc, base: base, mask: Self.reversed(bits, count: 109), fields: fields & 0x3FFF,
      length: length, timestamp: timestamp)
    payloadOffset = reader.offset
    payloadCount = reader.remaining
  }

  /// The lowest `count` bits in the other order: on the wire the highest is the first packet's.
  static func reversed(_ bits: UInt128, count: Int) -> UInt128 {
    var rest = bits
    var result: UInt128 = 0
    for _ in 0..<count {
      result = result << 1 | rest & 1
      rest >>= 1
    }
    return result
  }

  /// Bytes of the header for a span of packets.
  public static func byteCount(_ format: FECFormat, span: Int) -> Int {
    switch format {
    case .uneven: span <= 16 ? 14 : 18
    case .flexible03: span <= 15 ? 20 : span <= 46 ? 24 : 32
    }
  }

  /// Packets from the first to the last of the mask.
  var span: Int { UInt128.bitWidth - mask.leadingZeroBitCount }

  /// Writes the header; `payloadCount` bytes of the packets go behind it.
  ///
  /// - Returns: how many bytes it took. Traps where they don't fit.
  func write(_ format: FECFormat, into target: inout MutableRawSpan) -> Int {
    let span = span
    let size = Self.byteCount(format, span: span)
    switch format {
    case .uneven:
      let bits = Self.reversed(mask, count: 48)
      target.put16(fields & 0x3FFF | (span > 16 ? 0x4000 : 0), at: 0)
      target.put16(base, at: 2)
      target.put32(timestamp, at: 4)
      target.put16(length, at: 8)
      target.put16(UInt16(truncatingIfNeeded: payloadCount), at: 10)
      target.put16(UInt16(truncatingIfNeeded: bits >> 32), at: 12)
      if span > 16 { target.put32(UInt32(truncatingIfNeeded: bits), at: 14) }
    case .flexible03:
      let bits = Self.reversed(mask, count: 109)
      target.put16(fields & 0x3FFF, at: 0)
      target.put16(length, at: 2)
      target.put32(timestamp, at: 4)
      target.put32(1 << 24, at: 8)
      target.put32(ssrc ?? 0, at: 12)
      target.put16(base, at: 16)
      target.put16(
        UInt16(truncatingIfNeeded: bits >> 94) & 0x7FFF | (span <= 15 ? 0x8000 : 0), at: 18)
      guard span > 15 else { break }
      target.put32(
        UInt32(truncatingIfNeeded: bits >> 63) & 0x7FFF_FFFF | (span <= 46 ? 0x8000_0000 : 0),
        at: 20)
      guard span > 46 else { break }
      target.put64(UInt64(truncatingIfNeeded: bits) & 0x7FFF_FFFF_FFFF_FFFF | 1 << 63, at: 24)
    }
    return size
  }
}
