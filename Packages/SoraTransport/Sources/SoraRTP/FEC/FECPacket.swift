import SoraWire

/// One RTP packet as repair packets see it: without RED around its payload, and without what is only known when it leaves.
///
/// Send times and transport-wide numbers count as zeros on both sides, as they are stamped behind the repair's making.
public struct FECPacket: Sendable {
  /// Bytes of the packet as it is protected.
  public let count: Int
  let fields: UInt16
  let timestamp: UInt32
  /// Parts of the packet that was given: what is left out lies between them.
  let head: Int
  let tail: Range<Int>
  /// Where extensions lie that count as zeros.
  private let zeros: (Range<Int>, Range<Int>)

  /// - Parameters:
  ///   - packet: as it is sent or came.
  ///   - header: the packet's.
  ///   - red: bytes of RED's header in front of the payload; 0 without RED.
  ///   - payloadType: of the payload inside.
  ///   - map: ids of the extensions.
  public init(
    _ packet: RawSpan, header: RTPHeader, red: Int = 0, payloadType: UInt8,
    map: RTPHeaderExtensionMap
  ) {
    let cut = min(max(0, red), header.payloadCount)
    head = header.payloadOffset
    tail = header.payloadOffset + cut..<packet.byteCount
    count = head + tail.count
    fields = (packet.u16(0) & 0x3F80) | UInt16(payloadType & 0x7F)
    timestamp = header.timestamp
    zeros = (
      map.absSendTime.flatMap { header.extensionRange(id: $0, in: packet) } ?? 0..<0,
      map.transportSequenceNumber.flatMap { header.extensionRange(id: $0, in: packet) } ?? 0..<0
    )
  }

  /// The length that repair packets XOR.
  var length: UInt16 { UInt16(truncatingIfNeeded: count - RTPHeader.fixedCount) }

  /// Writes the packet as it is protected. Traps where it doesn't fit.
  func write(_ packet: RawSpan, into target: inout MutableRawSpan) {
    target.put(packet.part(0, head), at: 0)
    target.put(packet.part(tail.lowerBound, tail.count), at: head)
    target.put8(UInt8(truncatingIfNeeded: fields >> 8) | 0x80, at: 0)
    target.put8(UInt8(truncatingIfNeeded: fields), at: 1)
    target.zero(zeros.0.lowerBound, zeros.0.count)
    target.zero(zeros.1.lowerBound, zeros.1.count)
  }
}

extension MutableRawSpan {
  /// XORs `count` bytes of `source` into those from `offset` on.
  @_lifetime(self: copy self)
  mutating func xor(_ source: RawSpan, at offset: Int) {
    var index = 0
    while index + 8 <= source.byteCount {
      put64(bytes.u64(offset + index) ^ source.u64(index), at: offset + index)
      index += 8
    }
    while index < source.byteCount {
      put8(bytes.u8(offset + index) ^ source.u8(index), at: offset + index)
      index += 1
    }
  }
}
