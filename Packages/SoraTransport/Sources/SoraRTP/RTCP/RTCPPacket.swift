/// One packet of a compound RTCP datagram.
///
/// Cases whose size varies carry views into the memory that was read; they are valid while that memory is, and
/// must not be kept.
public enum RTCPPacket {
  /// RFC 3550 §6.4.1.
  case senderReport(RTCPSenderInfo, blocks: RTCPReportBlocks)
  /// RFC 3550 §6.4.2.
  case receiverReport(sender: UInt32, blocks: RTCPReportBlocks)
  /// RFC 3550 §6.5.
  case sourceDescription(RTCPSourceDescription)
  /// RFC 3550 §6.6.
  case goodbye(RTCPGoodbye)
  /// RFC 4585 §6.3.1.
  case pictureLossIndication(sender: UInt32, media: UInt32)
  /// RFC 5104 §4.3.1.
  case fullIntraRequest(RTCPFullIntraRequest)
  /// Generic NACK, RFC 4585 §6.2.1.
  case nack(RTCPNack)
  /// draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1.
  case transportFeedback(TransportFeedback)
  /// RFC 8888 §3.1.
  case congestionFeedback(RTCPCongestionFeedback)
  /// XR, RFC 3611 §2.
  case extendedReport(RTCPExtendedReport)
  /// Receiver estimated maximum bitrate, draft-alvestrand-rmcat-remb-03 §2.2.
  case receiverEstimate(RTCPReceiverEstimate)
  /// APP (RFC 3550 §6.7) and whatever else this stack has no use for, raw.
  case unknown(RTCPRawPacket)
}

/// RTCP packet types and feedback formats.
enum RTCPType {
  static let senderReport: UInt8 = 200
  static let receiverReport: UInt8 = 201
  static let sourceDescription: UInt8 = 202
  static let goodbye: UInt8 = 203
  static let transportFeedback: UInt8 = 205
  static let payloadFeedback: UInt8 = 206
  static let extendedReport: UInt8 = 207

  static let nackFormat: UInt8 = 1
  static let congestionFormat: UInt8 = 11
  static let transportWideFormat: UInt8 = 15
  static let pictureLossFormat: UInt8 = 1
  static let fullIntraFormat: UInt8 = 4
  static let applicationLayerFormat: UInt8 = 15
}

/// What a sender says about itself in a sender report.
public struct RTCPSenderInfo: Hashable, Sendable {
  public var ssrc: UInt32
  /// When the report left, on the sender's wall clock.
  public var ntp: NTPTime
  /// The same moment on the RTP clock of the stream.
  public var rtpTimestamp: UInt32
  public var packetCount: UInt32
  /// Payload bytes, headers and padding not counted.
  public var octetCount: UInt32

  public init(
    ssrc: UInt32, ntp: NTPTime, rtpTimestamp: UInt32, packetCount: UInt32, octetCount: UInt32
  ) {
    self.ssrc = ssrc
    self.ntp = ntp
    self.rtpTimestamp = rtpTimestamp
    self.packetCount = packetCount
    self.octetCount = octetCount
  }
}

/// An RTCP packet that this stack doesn't interpret.
@safe public struct RTCPRawPacket {
  public var packetType: UInt8
  /// The five bits beside the version: a count, subtype or feedback format.
  public var format: UInt8
  /// The whole packet with its four header bytes, padding not included.
  public var bytes: UnsafeRawBufferPointer
}
