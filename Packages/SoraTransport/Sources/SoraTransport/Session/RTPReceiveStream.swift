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

  let sendsNack: Bool
  var nack = NackGenerator()
  /// When the last key frame was asked for; another request waits for a round trip.
  var lastKeyFrameRequest: Instant?
  var keyFrameWanted = false

  init(
    _ section: RTPReceiveParameters, ssrc: UInt32, payload: RTPReceiveParameters.Payload
  ) {
    mid = section.mid
    kind = section.kind
    self.ssrc = ssrc
    sendsNack = section.sendsNack && section.kind == .video
    codecName = payload.codecName
    received = ReceiveStatistics(ssrc: ssrc, clockRate: payload.clockRate)
    senderReports = SenderReportTracker(clockRate: payload.clockRate)
    if kind == .video {
      jitterBuffer = VideoJitterBuffer()
      setFormats(of: section)
    }
  }

  /// Tells the jitter buffer what its payload types carry.
  func setFormats(of section: RTPReceiveParameters) {
    for payload in section.payloads where payload.associatedType == nil {
      jitterBuffer?.setFormat(
        RTPPayloadFormats.named(payload.codecName), payloadType: payload.type)
    }
  }

  /// Asks the sender for a key frame with the session's next report. From the loop.
  public func requestKeyFrame() { keyFrameWanted = true }
}
