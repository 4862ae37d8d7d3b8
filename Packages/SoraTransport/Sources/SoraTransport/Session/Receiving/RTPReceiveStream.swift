public import SoraMedia
public import SoraRTP
import SoraWire

/// One incoming stream of a client: what every received source has, and the frames that its packets make.
///
/// Made by the session when a source first appears; confined as the session is.
public final class RTPReceiveStream {
  /// Counters with the names of W3C `RTCInboundRtpStreamStats`, beside those of `ReceiveStatistics`.
  public struct Statistics: Sendable, Equatable {
    public var nackCount: UInt64 = 0
    public var pliCount: UInt64 = 0
    /// Packets whose IP header said that they are L4S's, and that they had met congestion; retransmissions among them.
    public var packetsReceivedWithECT1: UInt64 = 0
    public var packetsReceivedWithCE: UInt64 = 0
    /// Packets with a payload type that wasn't negotiated, or a payload that can't be read.
    public var packetsDiscarded: UInt64 = 0
    /// Retransmissions whose original had come already, or that were empty.
    public var retransmissionsDiscarded: UInt64 = 0
    /// Repair packets; those of sound inside its codec aren't seen here.
    public var fec = FECDecoder.Statistics()
    public var framesReceived: UInt64 = 0
    public var keyFramesReceived: UInt64 = 0

    mutating func count(_ ecn: ECNCodepoint) {
      switch ecn {
      case .ect1: packetsReceivedWithECT1 &+= 1
      case .congestionExperienced: packetsReceivedWithCE &+= 1
      case .ect0, .notECT: break
      }
    }
  }

  public let mid: String
  /// The layer of the section that it is (RFC 8852); nil where the section has only one stream.
  public let rid: String?
  public let receiver: RTPTrackReceiver
  public internal(set) var rtxSSRC: UInt32?
  /// Video only: reorders packets and completes frames.
  public internal(set) var jitterBuffer: VideoJitterBuffer?
  /// The codec that frames are in: of the newest packet.
  public private(set) var codecName: String
  public internal(set) var lastAudioLevel: RTPAudioLevel?
  /// What the stream itself counts; requests are the receiver's.
  var counted = Statistics()

  /// What a payload type is for.
  enum Role {
    case media, retransmission
    /// A video's packets and repair packets inside RED.
    case red
    case repair
    /// Keys of a telephone among the audio.
    case telephoneEvent
  }

  /// The keys that the packets tell of.
  var tones = TelephoneEventReceiver()

  /// Makes lost packets anew, where repair packets were negotiated.
  private(set) var fec: FECDecoder?
  private(set) var roles: [Role] = []
  /// What the payload types of the section carry.
  private(set) var payloads: [RTPReceiveParameters.Payload] = []
  /// The payload type that `codecName` is of.
  private var newestPayloadType: UInt8

  init(
    _ section: RTPReceiveParameters, rid: String? = nil, ssrc: UInt32,
    payload: RTPReceiveParameters.Payload
  ) {
    mid = section.mid
    self.rid = rid
    receiver = RTPTrackReceiver(
      kind: section.kind, ssrc: ssrc, clockRate: payload.clockRate, sendsNack: section.sendsNack)
    codecName = payload.codecName
    newestPayloadType = payload.type
    if section.kind == .video { jitterBuffer = VideoJitterBuffer() }
    setFormats(of: section)
  }

  public var kind: MediaKind { receiver.kind }
  public var ssrc: UInt32 { receiver.ssrc }
  public var received: ReceiveStatistics { receiver.received }
  public var senderReports: SenderReportTracker { receiver.senderReports }
  public var remoteClock: RemoteClock { receiver.remoteClock }
  /// What became of lost packets.
  public var nackStatistics: NackGenerator.Statistics { receiver.nackStatistics }
  public var statistics: Statistics {
    var statistics = counted
    statistics.nackCount = receiver.statistics.nackCount
    statistics.pliCount = receiver.statistics.pliCount
    if let fec { statistics.fec = fec.statistics }
    return statistics
  }

  /// Takes over what the payload types carry.
  func setFormats(of section: RTPReceiveParameters) {
    receiver.sendsNack = section.sendsNack
    let hasRetransmissions = section.payloads.contains { $0.associatedType != nil }
    receiver.setRepair(inPlace: !hasRetransmissions, longestUse: longestUse)
    for old in payloads where section.payload(old.type) == nil {
      jitterBuffer?.setFormat(nil, payloadType: old.type)
    }
    for payload in section.payloads where payload.associatedType == nil {
      // A format that stays keeps what it has learned of the stream, such as parameter sets.
      guard !payloads.contains(payload) else { continue }
      jitterBuffer?.setFormat(
        RTPPayloadFormats.named(payload.codecName, parameters: payload.formatParameters),
        payloadType: payload.type)
    }
    payloads = section.payloads
    roles = payloads.map { payload in
      if payload.associatedType != nil { return .retransmission }
      guard kind == .video else {
        return payload.codecName.lowercased() == TelephoneEvent.encodingName
          ? .telephoneEvent : .media
      }
      return payload.isRED ? .red : payload.repairFormat != nil ? .repair : .media
    }
    let formats = payloads.compactMap(\.repairFormat)
    if let fec, formats.contains(fec.format) { return }
    fec = formats.first.map { FECDecoder(format: $0, ssrc: ssrc) }
  }

  /// The decoder of repair packets of a payload type; nil for another layout than before. Where both were agreed on, the first packet
  /// decides.
  func repairDecoder(_ index: Int) -> FECDecoder? {
    guard let format = payloads[index].repairFormat else { return nil }
    if let fec, fec.format != format, fec.statistics.fecPacketsReceived == 0 {
      self.fec = FECDecoder(format: format, ssrc: ssrc)
    }
    return fec?.format == format ? fec : nil
  }

  /// Where `payloads` has a type.
  func payloadIndex(_ type: UInt8) -> Int? {
    for index in payloads.indices where payloads[index].type == type { return index }
    return nil
  }

  /// A packet of a payload type arrived, which may be another codec's than before.
  func noteCodec(_ index: Int) {
    let type = payloads[index].type
    guard type != newestPayloadType else { return }
    newestPayloadType = type
    codecName = payloads[index].codecName
  }

  /// A sound's playout delay where nobody says otherwise: as much as conversation bears (ITU-T G.114).
  private static let usualPlayoutDelay = Duration.milliseconds(150)
  private var playoutDelay = usualPlayoutDelay

  /// How long sound waits from its arrival to its playout: packets that would come later aren't asked for. From the loop.
  public func setPlayoutDelay(_ delay: Duration) {
    guard kind == .audio, delay != playoutDelay else { return }
    playoutDelay = delay
    receiver.setRepair(
      inPlace: !payloads.contains { $0.associatedType != nil }, longestUse: longestUse)
  }

  /// The video's jitter buffer tells itself what it doesn't need any more.
  private var longestUse: Duration? { kind == .audio ? playoutDelay : nil }

  func setRoundTrip(_ roundTrip: Duration) {
    receiver.setRoundTrip(roundTrip)
    jitterBuffer?.setRoundTrip(roundTrip)
  }

  /// Asks the sender for a key frame with the session's next `poll`, and again until one comes. From the loop.
  public func requestKeyFrame() { receiver.keyFrames.askUntilAnswered() }
}

extension RTPReceiveParameters.Payload {
  fileprivate var isRED: Bool { codecName.lowercased() == "red" }

  /// How repair packets of this payload type are laid out; nil for other payload types.
  var repairFormat: FECFormat? {
    switch codecName.lowercased() {
    case "ulpfec": .uneven
    case "flexfec-03": .flexible03
    default: nil
    }
  }
}
