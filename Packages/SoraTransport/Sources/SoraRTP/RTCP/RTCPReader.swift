/// Reads the packets of one plain RTCP datagram, compound or reduced-size (RFC 3550 §6.1, RFC 5506).
///
/// The reader borrows the datagram; so do the packets it returns.
public struct RTCPReader {
  private let datagram: LentBytes
  private var offset = 0

  public init(_ datagram: UnsafeRawBufferPointer) {
    self.datagram = unsafe LentBytes(datagram)
  }

  /// The next packet; `nil` at the end.
  ///
  /// After `malformedFeedback` was thrown, reading goes on with the packet behind the bad one; after any other
  /// error nothing more can be told apart and `nil` follows.
  public mutating func next() throws(RTPError) -> RTCPPacket? {
    let available = datagram.count - offset
    guard available > 0 else { return nil }
    let start = offset
    offset = datagram.count
    guard available >= 4 else { throw .truncated(needed: 4, available: available) }
    let first = datagram.u8(start)
    guard first >> 6 == 2 else { throw .unsupportedVersion(first >> 6) }
    let type = datagram.u8(start + 1)
    let declared = (Int(datagram.u16(start + 2)) + 1) * 4
    guard declared <= available else {
      throw .badLength(packetType: type, declared: declared, available: available)
    }
    var count = declared
    if first & 0x20 != 0 {
      let padding = Int(datagram.u8(start + declared - 1))
      guard padding > 0, padding <= declared - 4 else {
        throw .badPadding(count: padding, available: declared - 4)
      }
      count -= padding
    }
    offset = start + declared
    let format = first & 0x1F
    guard let packet = RTCPReader.interpret(datagram.part(start, count), type, format) else {
      throw .malformedFeedback(packetType: type, format: format)
    }
    return packet
  }

  /// Gives a packet its meaning; `nil` when its body is too short for what it announces.
  private static func interpret(
    _ packet: LentBytes, _ type: UInt8, _ format: UInt8
  ) -> RTCPPacket? {
    let size = packet.count
    switch type {
    case RTCPType.senderReport:
      let blocks = Int(format)
      guard size >= 28 + blocks * RTCPReportBlock.byteCount else { return nil }
      let info = RTCPSenderInfo(
        ssrc: packet.u32(4), ntp: NTPTime(rawValue: packet.u64(8)), rtpTimestamp: packet.u32(16),
        packetCount: packet.u32(20), octetCount: packet.u32(24))
      return .senderReport(
        info, blocks: RTCPReportBlocks(packet.part(28, size - 28), count: blocks))
    case RTCPType.receiverReport:
      let blocks = Int(format)
      guard size >= 8 + blocks * RTCPReportBlock.byteCount else { return nil }
      return .receiverReport(
        sender: packet.u32(4), blocks: RTCPReportBlocks(packet.part(8, size - 8), count: blocks))
    case RTCPType.sourceDescription:
      return RTCPSourceDescription(packet.part(4, size - 4), chunks: Int(format))
        .map { .sourceDescription($0) }
    case RTCPType.goodbye:
      guard size >= 4 + Int(format) * 4 else { return nil }
      return .goodbye(RTCPGoodbye(packet.part(4, size - 4), count: Int(format)))
    case RTCPType.extendedReport: return RTCPExtendedReport(packet).map { .extendedReport($0) }
    case RTCPType.transportFeedback: return transportFeedback(packet, format)
    case RTCPType.payloadFeedback: return payloadFeedback(packet, format)
    default:
      return unsafe .unknown(RTCPRawPacket(packetType: type, format: format, bytes: packet.buffer))
    }
  }

  /// RFC 4585 §6.2.
  private static func transportFeedback(
    _ packet: LentBytes, _ format: UInt8
  ) -> RTCPPacket? {
    guard packet.count >= 12 else { return nil }
    switch format {
    case RTCPType.nackFormat:
      guard packet.count >= 16 else { return nil }
      return .nack(
        RTCPNack(
          sender: packet.u32(4), media: packet.u32(8),
          entries: packet.part(12, packet.count - 12)))
    case RTCPType.transportWideFormat:
      return TransportFeedback(packet).map { .transportFeedback($0) }
    case RTCPType.congestionFormat:
      return RTCPCongestionFeedback(packet).map { .congestionFeedback($0) }
    default:
      return unsafe .unknown(
        RTCPRawPacket(packetType: RTCPType.transportFeedback, format: format, bytes: packet.buffer))
    }
  }

  /// RFC 4585 §6.3.
  private static func payloadFeedback(
    _ packet: LentBytes, _ format: UInt8
  ) -> RTCPPacket? {
    guard packet.count >= 12 else { return nil }
    let sender = packet.u32(4)
    switch format {
    case RTCPType.pictureLossFormat:
      return .pictureLossIndication(sender: sender, media: packet.u32(8))
    case RTCPType.fullIntraFormat:
      guard packet.count >= 20 else { return nil }
      return .fullIntraRequest(
        RTCPFullIntraRequest(sender: sender, entries: packet.part(12, packet.count - 12)))
    case RTCPType.applicationLayerFormat
    where packet.count >= 16 && packet.u32(12) == rembName:
      guard packet.count >= 20 else { return nil }
      let sources = Int(packet.u8(16))
      guard packet.count >= 20 + sources * 4 else { return nil }
      let word = packet.u24(17)
      let exponent = UInt64(word >> 18)
      let mantissa = UInt64(word & 0x3FFFF)
      let shifted = mantissa << exponent
      let rate = shifted >> exponent == mantissa ? shifted : .max
      return .receiverEstimate(
        RTCPReceiverEstimate(
          sender: sender, bitsPerSecond: rate, sources: packet.part(20, sources * 4)))
    default:
      return unsafe .unknown(
        RTCPRawPacket(packetType: RTCPType.payloadFeedback, format: format, bytes: packet.buffer))
    }
  }
}

/// "REMB" in ASCII.
let rembName: UInt32 = 0x5245_4D42
