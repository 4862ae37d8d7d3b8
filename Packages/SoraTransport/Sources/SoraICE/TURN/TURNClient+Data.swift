public import SoraMedia
public import SoraWire

extension TURNClient {
  /// What came from the server turned out to be.
  public enum Received {
    /// Something for the client itself.
    case handled
    /// A STUN message that answers nothing of this client's.
    case notMine
    /// A datagram that a peer sent to the relayed address: where it lies in the bytes that were given.
    case data(Range<Int>, from: TransportAddress)
  }

  /// Takes what came from the server: a datagram, or one message of a stream. The bytes are lent for the call.
  public func receive(_ bytes: RawSpan, at now: Instant) -> Received {
    guard bytes.byteCount >= 4 else {
      statistics.malformed += 1
      return .handled
    }
    if bytes.u8(0) & 0xC0 == 0x40 { return receiveChannelData(bytes) }
    guard isSTUN(bytes) else { return .notMine }
    if bytes.u16(0) == TURNFrame.dataIndication { return receiveIndication(bytes) }
    return takeResponse(bytes, at: now) ? .handled : .notMine
  }

  private func receiveChannelData(_ bytes: RawSpan) -> Received {
    let count = Int(bytes.u16(2))
    guard count <= bytes.byteCount - 4 else {
      statistics.malformed += 1
      return .handled
    }
    // What comes before the answer to ChannelBind is already from its peer.
    let index = Int(bytes.u16(0)) - Int(TURNLimits.firstChannel)
    guard channels.indices.contains(index), relayedAddress != nil else {
      statistics.unknownChannel += 1
      return .handled
    }
    return .data(4..<4 + count, from: channels[index].peer)
  }

  private func receiveIndication(_ bytes: RawSpan) -> Received {
    guard relayedAddress != nil,
      let (peer, payload) = TURNFrame.readIndication(bytes)
    else {
      statistics.malformed += 1
      return .handled
    }
    return .data(payload, from: peer)
  }

  /// Bytes that `write` puts around a datagram at most.
  public static let maximumOverhead = TURNFrame.maximumOverhead

  /// Writes a datagram for a peer as the server wants it: as ChannelData once the peer's channel is bound, in a Send indication before.
  ///
  /// - Parameters:
  ///   - peer: whom it is for.
  ///   - slot: at least `maximumOverhead` bytes more than `body` writes.
  ///   - body: writes the datagram to the start of what it is given and returns its size; 0 sends nothing.
  /// - Returns: the bytes to send to the server; 0 for none: no allocation, or a peer that isn't permitted.
  public func write(
    to peer: TransportAddress, into slot: inout MutableRawSpan,
    _ body: (inout MutableRawSpan) -> Int
  ) -> Int {
    guard relayedAddress != nil else { return 0 }
    for index in channels.indices where channels[index].isBound && channels[index].peer == peer {
      return TURNFrame.writeChannelData(
        TURNLimits.firstChannel + UInt16(truncatingIfNeeded: index), into: &slot,
        pads: configuration.isStream, body)
    }
    guard permissions.allows(peer.ip) else { return 0 }
    return TURNFrame.writeIndication(
      TURNFrame.sendIndication, peer: peer, id: STUNTransactionID(random: random), into: &slot, body
    )
  }
}

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
