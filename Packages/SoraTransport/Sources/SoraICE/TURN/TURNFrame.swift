import SoraWire

/// The two forms in which datagrams travel between a client and its server, written and read in place.
enum TURNFrame {
  /// Header, XOR-PEER-ADDRESS of IPv6, DATA's header, and padding.
  static let maximumOverhead = 20 + 24 + 4 + 4
  /// The types of Send and Data: indications of methods 6 and 7.
  static let sendIndication: UInt16 = 0x0016
  static let dataIndication: UInt16 = 0x0017

  /// RFC 8656 §12.4.
  static func writeChannelData(
    _ number: UInt16, into slot: inout MutableRawSpan, pads: Bool,
    _ body: (inout MutableRawSpan) -> Int
  ) -> Int {
    guard slot.byteCount >= maximumOverhead else { return 0 }
    var room = slot.part(4, slot.byteCount - 7)
    let count = body(&room)
    guard count > 0, count <= 0xFFFF, count <= slot.byteCount - 7 else { return 0 }
    slot.put16(number, at: 0)
    slot.put16(UInt16(truncatingIfNeeded: count), at: 2)
    guard pads else { return 4 + count }
    let total = 4 + (count + 3) & ~3
    slot.zero(4 + count, total - 4 - count)
    return total
  }

  /// RFC 8656 §11: XOR-PEER-ADDRESS, then DATA.
  static func writeIndication(
    _ type: UInt16, peer: TransportAddress, id: STUNTransactionID,
    into slot: inout MutableRawSpan, _ body: (inout MutableRawSpan) -> Int
  ) -> Int {
    let addressSize = peer.ip.isV4 ? 8 : 20
    let start = stunHeaderSize + 4 + addressSize + 4
    guard slot.byteCount >= maximumOverhead else { return 0 }
    var room = slot.part(start, slot.byteCount - 3 - start)
    let count = body(&room)
    guard count > 0, count <= 0xFFFF - 64, count <= slot.byteCount - start - 3 else { return 0 }
    let total = start + (count + 3) & ~3
    slot.zero(start + count, total - start - count)
    slot.put16(type, at: 0)
    slot.put16(UInt16(truncatingIfNeeded: total - stunHeaderSize), at: 2)
    slot.put32(stunMagicCookie, at: 4)
    slot.put32(id.high, at: 8)
    slot.put64(id.low, at: 12)
    slot.put16(STUNAttributeType.xorPeerAddress, at: 20)
    slot.put16(UInt16(truncatingIfNeeded: addressSize), at: 22)
    slot.put16(UInt16(peer.ip.isV4 ? 1 : 2), at: 24)
    slot.put16(peer.port ^ UInt16(truncatingIfNeeded: stunMagicCookie >> 16), at: 26)
    if let bits = peer.ip.v4Bits {
      slot.put32(bits ^ stunMagicCookie, at: 28)
    } else if let bits = peer.ip.v6Bits {
      let mask = STUNMessage.xorMask(id)
      slot.put64(bits.0 ^ mask.high, at: 28)
      slot.put64(bits.1 ^ mask.low, at: 36)
    }
    slot.put16(STUNAttributeType.data, at: start - 4)
    slot.put16(UInt16(truncatingIfNeeded: count), at: start - 2)
    return total
  }

  /// Reads a Send or Data indication: whom it concerns, and where the payload lies. `nil` where one of them is missing, or where
  /// something is there that must be understood and isn't (RFC 8489 §6.3.2).
  static func readIndication(_ bytes: RawSpan)
    -> (peer: TransportAddress, payload: Range<Int>)?
  {
    guard isSTUN(bytes) else { return nil }
    let id = STUNTransactionID(high: bytes.u32(8), low: bytes.u64(12))
    var peer: TransportAddress?
    var payload: Range<Int>?
    var offset = stunHeaderSize
    var count = 0
    while offset + 4 <= bytes.byteCount {
      count += 1
      let type = bytes.u16(offset)
      let length = Int(bytes.u16(offset + 2))
      let start = offset + 4
      guard start + length <= bytes.byteCount, count <= 16 else { return nil }
      switch type {
      case STUNAttributeType.xorPeerAddress where peer == nil:
        peer = try? STUNMessage.address(type, bytes.part(start, length), xor: id)
      case STUNAttributeType.data where payload == nil: payload = start..<start + length
      case 0..<0x8000: return nil
      default: break
      }
      offset = start + (length + 3) & ~3
    }
    guard let peer, let payload else { return nil }
    return (peer, payload)
  }
}
