import SoraMedia
import SoraRTP

/// One outgoing stream: cuts frames into packets, keeps them for retransmission, and counts.
///
/// Made by `RTPSession.addSendStream`; confined as the session is.
public final class RTPSendStream {
  /// Counters with the names of W3C `RTCOutboundRtpStreamStats`.
  public struct Statistics: Sendable, Equatable {
    public var packetsSent: UInt64 = 0
    /// Payload bytes, headers and padding left out.
    public var bytesSent: UInt64 = 0
    public var headerBytesSent: UInt64 = 0
    public var retransmittedPacketsSent: UInt64 = 0
    public var retransmittedBytesSent: UInt64 = 0
    public var framesSent: UInt64 = 0
    public var keyFramesSent: UInt64 = 0
    public var nackCount: UInt64 = 0
    public var pliCount: UInt64 = 0
    public var firCount: UInt64 = 0
    /// Time that packets spent in the pacer, summed.
    public var totalPacketSendDelay: Duration = .zero
    /// Packets that were cut but never sent: the transport wasn't writable, or the pacer was full.
    public var packetsDropped: UInt64 = 0
  }

  /// What the receiver last reported.
  public struct RemoteReport: Sendable, Equatable {
    public var fractionLost = 0.0
    public var packetsLost: Int64 = 0
    /// Seconds.
    public var jitter = 0.0
    public var roundTrip: Duration?
    public var reports: UInt64 = 0
  }

  public internal(set) var parameters: RTPSendParameters
  public internal(set) var statistics = Statistics()
  public internal(set) var remote = RemoteReport()
  /// Bytes of a packet at most, before SRTP: what fits an IPv6 path of 1,280 bytes with room to spare.
  static let maximumPacket = 1180

  /// Position in the session; part of the pacer's tokens.
  let index: Int
  let history: PacketHistory
  /// The mid and rid as packets carry them.
  private(set) var mid: RTPExtensionText?
  private(set) var rid: RTPExtensionText?
  var rtxSequenceNumber: UInt16
  /// The number of the packet that left last.
  var lastSent: UInt16?
  var firSequenceNumber: UInt8?
  private let payloader: any RTPPayloader
  private var sequenceNumber: UInt16
  private let timestampOffset: UInt32
  /// The last frame's place on both clocks, for sender reports.
  private(set) var lastFrame: (rtpTimestamp: UInt32, timestamp: Instant)?
  private(set) var octetCount: UInt32 = 0
  /// The mid rides along until the receiver has shown that it knows the source (RFC 8843 §9.2).
  private var isKnownToReceiver = false

  init?(_ parameters: RTPSendParameters, index: Int, random: RandomSource) {
    guard let format = RTPPayloadFormats.named(parameters.codecName) else { return nil }
    self.parameters = parameters
    self.index = index
    payloader = format.makePayloader(random: random)
    // RFC 3550 §5.1: both start at random; the low half keeps the first wrap away from loss of the first packets.
    sequenceNumber = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    rtxSequenceNumber = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    timestampOffset = UInt32(truncatingIfNeeded: random.next())
    mid = RTPExtensionText(parameters.mid)
    rid = parameters.rid.flatMap { RTPExtensionText($0) }
    history = PacketHistory(capacity: parameters.kind == .audio ? 128 : 1024)
  }

  /// Takes over the outcome of a later negotiation.
  func update(_ parameters: RTPSendParameters) {
    self.parameters = parameters
    mid = RTPExtensionText(parameters.mid)
    rid = parameters.rid.flatMap { RTPExtensionText($0) }
  }

  /// Cuts a frame into packets in the history.
  ///
  /// - Parameter enqueue: called for each packet with its sequence number and size.
  func packetize(
    _ frame: EncodedFrame, level: RTPAudioLevel?, at now: Instant,
    enqueue: (_ sequenceNumber: UInt16, _ size: Int) -> Void
  ) {
    var values = RTPHeaderExtensions()
    values.transportSequenceNumber = 0
    values.absSendTime = 0
    values.audioLevel = level
    if !isKnownToReceiver {
      values.mid = mid
      values.rid = rid
    }
    if parameters.kind == .video, frame.rotation != .none { values.videoOrientation = frame.rotation }
    let timestamp = frame.rtpTimestamp &+ timestampOffset
    // 12 bytes of header and at most 36 of extensions; a packet's retransmission is two bytes longer.
    let maximumPayload = Self.maximumPacket - 50
    guard payloader.begin(frame, maximumPayload: maximumPayload) > 0 else { return }
    while true {
      let number = sequenceNumber
      let slot = history.reserve(sequenceNumber: number)
      var writer = RTPPacketWriter(into: slot)
      let header = RTPHeader(
        payloadType: parameters.payloadType, sequenceNumber: number, timestamp: timestamp,
        ssrc: parameters.ssrc)
      guard (try? writer.writeHeader(header, extensions: values, map: parameters.extensions)) != nil
      else { return }
      guard let part = payloader.next(into: writer.free) else { break }
      writer.advance(by: part.count)
      RTPPacket.setMarker(part.marker, in: slot)
      history.commit(sequenceNumber: number, count: writer.count, at: now)
      sequenceNumber &+= 1
      enqueue(number, writer.count)
    }
    lastFrame = (timestamp, frame.timestamp)
    statistics.framesSent &+= 1
    if frame.isKeyFrame { statistics.keyFramesSent &+= 1 }
  }

  func countSent(_ count: Int, payload: Int, isRetransmission: Bool) {
    statistics.packetsSent &+= 1
    statistics.bytesSent &+= UInt64(payload)
    statistics.headerBytesSent &+= UInt64(count - payload)
    if isRetransmission {
      statistics.retransmittedPacketsSent &+= 1
      statistics.retransmittedBytesSent &+= UInt64(payload)
    } else {
      octetCount &+= UInt32(truncatingIfNeeded: payload)
    }
  }

  /// The sender's part of a sender report (RFC 3550 §6.4.1); nil before the first frame.
  func senderInfo(wallClock: WallClock, at now: Instant) -> RTCPSenderInfo? {
    guard let lastFrame, statistics.packetsSent > 0 else { return nil }
    let elapsed = now.nanoseconds(since: lastFrame.timestamp)
    let ticks =
      elapsed / 1_000_000 * Int64(parameters.clockRate) / 1000
    return RTCPSenderInfo(
      ssrc: parameters.ssrc, ntp: wallClock.ntp(at: now),
      rtpTimestamp: lastFrame.rtpTimestamp &+ UInt32(truncatingIfNeeded: ticks),
      packetCount: UInt32(truncatingIfNeeded: statistics.packetsSent
        &- statistics.retransmittedPacketsSent),
      octetCount: octetCount)
  }

  /// A report block about this stream arrived.
  func received(_ block: RTCPReportBlock, at now: Instant, wallClock: WallClock) {
    isKnownToReceiver = true
    remote.reports &+= 1
    remote.fractionLost = Double(block.fractionLost) / 256
    remote.packetsLost = Int64(block.cumulativeLost)
    remote.jitter = Double(block.jitter) / Double(max(1, parameters.clockRate))
    if let roundTrip = block.roundTrip(at: wallClock.ntp(at: now)) { remote.roundTrip = roundTrip }
  }
}
