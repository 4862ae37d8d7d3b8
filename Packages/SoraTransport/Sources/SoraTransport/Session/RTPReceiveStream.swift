public import SoraMedia
public import SoraRTP

/// One incoming stream: counts, asks for what is missing, and puts video frames together.
///
/// Made by the session when a source first appears; confined as the session is.
public final class RTPReceiveStream {
  /// Counters with the names of W3C `RTCInboundRtpStreamStats`, beside those of `ReceiveStatistics`.
  public struct Statistics: Sendable, Equatable {
    public var nackCount: UInt64 = 0
    public var pliCount: UInt64 = 0
    /// Packets with a payload type that wasn't negotiated, or a payload that can't be read.
    public var packetsDiscarded: UInt64 = 0
    /// Retransmissions whose original had come already, or that were empty.
    public var retransmissionsDiscarded: UInt64 = 0
    public var framesReceived: UInt64 = 0
    public var keyFramesReceived: UInt64 = 0
  }

  public let mid: String
  public let kind: MediaKind
  public let ssrc: UInt32
  public internal(set) var rtxSSRC: UInt32?
  public internal(set) var statistics = Statistics()
  public internal(set) var received: ReceiveStatistics
  public internal(set) var senderReports: SenderReportTracker
  public internal(set) var remoteClock = RemoteClock()
  /// Video only: reorders packets and completes frames.
  public internal(set) var jitterBuffer: VideoJitterBuffer?
  /// The codec that frames are in: of the newest packet.
  public internal(set) var codecName: String
  public internal(set) var lastAudioLevel: RTPAudioLevel?

  private(set) var sendsNack: Bool
  var nack = NackGenerator()
  /// What became of lost packets.
  public var nackStatistics: NackGenerator.Statistics { nack.statistics }
  /// What the payload types of the section carry.
  private(set) var payloads: [RTPReceiveParameters.Payload] = []
  /// The payload type that `codecName` is of.
  private var newestPayloadType: UInt8
  /// When the last key frame was asked for; another request waits for a round trip.
  var lastKeyFrameRequest: Instant?
  /// Requests since the last key frame came.
  var unansweredRequests = 0
  /// Stays until a key frame comes: a request can get lost.
  var keyFrameWanted = false

  init(
    _ section: RTPReceiveParameters, ssrc: UInt32, payload: RTPReceiveParameters.Payload
  ) {
    mid = section.mid
    kind = section.kind
    self.ssrc = ssrc
    sendsNack = section.sendsNack && section.kind == .video
    codecName = payload.codecName
    newestPayloadType = payload.type
    received = ReceiveStatistics(ssrc: ssrc, clockRate: payload.clockRate)
    senderReports = SenderReportTracker(clockRate: payload.clockRate)
    if kind == .video { jitterBuffer = VideoJitterBuffer() }
    setFormats(of: section)
  }

  /// Takes over what the payload types carry.
  func setFormats(of section: RTPReceiveParameters) {
    sendsNack = section.sendsNack && section.kind == .video
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

  func setRoundTrip(_ roundTrip: Duration) {
    nack.setRoundTrip(roundTrip)
    jitterBuffer?.setRoundTrip(roundTrip)
  }

  /// Asks the sender for a key frame with the session's next `poll`, and again until one comes. From the loop.
  public func requestKeyFrame() { keyFrameWanted = true }

  /// How long an answer to a request for a key frame is waited for: two round trips, and longer of a sender that
  /// doesn't answer.
  func keyFrameRequestInterval(roundTrip: Duration?) -> Duration {
    let base = max((roundTrip ?? .milliseconds(100)) * 2, .milliseconds(200))
    return min(base, .seconds(1)) * (unansweredRequests > 5 ? 5 : 1)
  }

  /// When the next request is due; nil where none is wanted.
  func keyFrameDeadline(roundTrip: Duration?) -> Instant? {
    guard keyFrameWanted else { return nil }
    guard let lastKeyFrameRequest else { return .zero }
    return lastKeyFrameRequest + keyFrameRequestInterval(roundTrip: roundTrip)
  }
}
