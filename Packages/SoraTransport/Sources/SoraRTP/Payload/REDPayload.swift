import SoraWire

/// Redundant audio data (RFC 2198): one payload that holds the newest encoded packet and copies of some before it, so that a
/// lost packet's sound comes with the next one.
public enum REDPayload {
  /// Ticks of the RTP clock that a redundant block may lie behind the packet: the field has 14 bits (RFC 2198 §3).
  public static let maximumTimestampOffset: UInt32 = 16_383
  /// Bytes of a redundant block: the field has 10 bits.
  public static let maximumBlockLength = 1_023
  /// Bytes in front of each redundant block's data, and the one in front of the newest.
  public static let redundantHeaderCount = 4
  public static let primaryHeaderCount = 1
  /// Redundant blocks that are read or written; a payload of more is refused.
  public static let maximumRedundancy = 31

  /// One block of a payload.
  public struct Block: Equatable, Sendable {
    /// What the block carries, for example Opus.
    public var payloadType: UInt8
    /// Ticks of the RTP clock that the block's time lies before the packet's timestamp; 0 for the newest.
    public var timestampOffset: UInt16
    /// Where its bytes lie in the payload. May be empty.
    public var range: Range<Int>
    /// The newest block, whose time is the packet's own; it comes last.
    public var isPrimary: Bool

    public init(payloadType: UInt8, timestampOffset: UInt16, range: Range<Int>, isPrimary: Bool) {
      self.payloadType = payloadType
      self.timestampOffset = timestampOffset
      self.range = range
      self.isPrimary = isPrimary
    }
  }

  /// The blocks of a payload, oldest first as it should have them; the newest is last. Allocates nothing.
  ///
  /// Borrows the payload: use it only while that is valid.
  @safe public struct Blocks: Sequence, IteratorProtocol {
    private let payload: UnsafeRawBufferPointer
    private var header = 0
    private var data: Int
    /// All blocks, the newest included; at least 1.
    public let count: Int

    /// Checks the whole payload. Throws `RTPError.truncated` where headers or redundant blocks end beyond it, and
    /// `RTPError.malformedPayload` for more than `maximumRedundancy` redundant blocks.
    public init(parsing payload: UnsafeRawBufferPointer) throws(RTPError) {
      var offset = 0
      var redundant = 0
      var length = 0
      while true {
        guard offset < payload.count else {
          throw .truncated(needed: offset + primaryHeaderCount, available: payload.count)
        }
        // RFC 2198 §3: F says that another header follows; the last is a single byte.
        guard unsafe payload.u8(offset) & 0x80 != 0 else { break }
        guard offset + redundantHeaderCount <= payload.count else {
          throw .truncated(needed: offset + redundantHeaderCount, available: payload.count)
        }
        redundant += 1
        guard redundant <= maximumRedundancy else { throw .malformedPayload(codec: "red") }
        unsafe length += Int(payload.u16(offset + 2) & 0x3FF)
        offset += redundantHeaderCount
      }
      data = offset + primaryHeaderCount
      guard data + length <= payload.count else {
        throw .truncated(needed: data + length, available: payload.count)
      }
      unsafe self.payload = unsafe payload
      count = redundant + 1
    }

    public mutating func next() -> Block? {
      guard header >= 0 else { return nil }
      let payloadType = unsafe payload.u8(header) & 0x7F
      guard unsafe payload.u8(header) & 0x80 != 0 else {
        header = -1
        return unsafe Block(
          payloadType: payloadType, timestampOffset: 0, range: data..<payload.count,
          isPrimary: true)
      }
      let length = unsafe Int(payload.u16(header + 2) & 0x3FF)
      let offset = unsafe payload.u16(header + 1) >> 2
      header += redundantHeaderCount
      defer { data += length }
      return Block(
        payloadType: payloadType, timestampOffset: offset, range: data..<data + length,
        isPrimary: false)
    }
  }

  /// Writes the header of a redundant block. False where a value doesn't fit its field.
  static func writeHeader(
    payloadType: UInt8, timestampOffset: UInt32, length: Int,
    into target: UnsafeMutableRawBufferPointer, at offset: Int
  ) -> Bool {
    guard timestampOffset <= maximumTimestampOffset, (0...maximumBlockLength).contains(length),
      offset >= 0, offset + redundantHeaderCount <= target.count
    else { return false }
    unsafe target[offset] = 0x80 | payloadType & 0x7F
    unsafe target.put24(timestampOffset << 10 | UInt32(length), at: offset + 1)
    return true
  }
}

extension RTPHeader {
  /// The newest block of redundant audio as a packet by itself: its payload type, and where it lies in `packet`, the buffer that was
  /// parsed. nil where blocks go beyond the payload, or there are more than `REDPayload.maximumRedundancy` of them.
  public func newestBlock(in packet: RawSpan) -> RTPHeader? {
    let end = payloadOffset + payloadCount
    guard payloadOffset >= 0, payloadCount >= 0, end <= packet.byteCount else { return nil }
    var offset = payloadOffset
    var older = 0
    for _ in 0...REDPayload.maximumRedundancy {
      guard offset < end else { return nil }
      guard packet.u8(offset) & 0x80 != 0 else {
        var newest = self
        newest.payloadType = packet.u8(offset)
        newest.payloadOffset = offset + REDPayload.primaryHeaderCount + older
        newest.payloadCount = end - newest.payloadOffset
        return newest.payloadCount >= 0 ? newest : nil
      }
      guard offset + REDPayload.redundantHeaderCount <= end else { return nil }
      older += Int(packet.u16(offset + 2) & 0x3FF)
      offset += REDPayload.redundantHeaderCount
    }
    return nil
  }
}

extension REDPayload {
  /// Gives blocks of one payload type another, in place: what a forwarding server does whose receivers have types of their own.
  public static func move(_ type: UInt8, to other: UInt8, in payload: inout MutableRawSpan) {
    var offset = 0
    for _ in 0...maximumRedundancy where offset < payload.byteCount {
      let first = payload.bytes.u8(offset)
      if first & 0x7F == type { payload.put8(first & 0x80 | other & 0x7F, at: offset) }
      guard first & 0x80 != 0 else { return }
      offset += redundantHeaderCount
    }
  }
}
