public import SoraCongestion
public import SoraMedia
public import SoraRTP

/// All RTP streams of one peer connection: packetizing, pacing, retransmission, reports, feedback, bandwidth.
///
/// Sans-I/O: plain packets come in from a `PeerTransport`, plain packets go out through an `RTPSessionOutput`, and
/// `nextDeadline` says when to call `poll`. Confined to what drives it.
public final class RTPSession {
  public struct Configuration: Sendable {
    /// Canonical name of the endpoint in RTCP (RFC 7022: random, one a session).
    public var cname: String
    public var wallClock: WallClock
    public var estimator: BandwidthEstimator.Configuration

    public init(
      cname: String, wallClock: WallClock,
      estimator: BandwidthEstimator.Configuration = BandwidthEstimator.Configuration()
    ) {
      self.cname = cname
      self.wallClock = wallClock
      self.estimator = estimator
    }
  }

  /// Packets that were dropped, by reason.
  public struct Dropped: Sendable, Equatable {
    public var malformedRTP = 0
    public var malformedRTCP = 0
    /// No section has this source, mid or payload type.
    public var unknownSource = 0
    /// More sources than `maximumSources`.
    public var tooManySources = 0
    /// Late packets of a source that said goodbye, was replaced, or whose section has gone.
    public var endedSource = 0
    /// Packets of a known source with a payload type that its section doesn't have.
    public var unknownPayloadType = 0
    /// Retransmissions without a packet inside: padding of the sender's, or too short.
    public var unusableRetransmission = 0
    /// Packets of sound with nothing in them.
    public var emptySound = 0
    /// RTCP packets of a type that nobody here reads.
    public var unknownRTCP = 0
    /// Requests for packets or key frames of a source that isn't sent.
    public var requestOfUnknownSource = 0
    /// Not sent: more waited than the pacer holds.
    public var pacerFull = 0
    /// Not sent again: asked for beyond the share of the estimate that retransmissions have.
    public var retransmissionBudget = 0
    /// Not sent: waited until newer packets took their place, or their stream ended.
    public var overtaken = 0
    /// Not sent: couldn't be built, as when header extensions leave no room.
    public var unsendable = 0

    public init() {}
  }

  public weak var delegate: (any RTPSessionDelegate)?
  public internal(set) var dropped = Dropped()
  public internal(set) var sendStreams: [RTPSendStream] = []
  public internal(set) var receiveStreams: [RTPReceiveStream] = []
  /// Video packets that no jitter buffer used, of streams that were and that are.
  public var videoPacketsDiscarded: VideoJitterBufferStatistics.Discarded {
    var sum = endedVideoDiscards
    for stream in receiveStreams {
      if let buffer = stream.jitterBuffer { sum += buffer.statistics.packetsDiscarded }
    }
    return sum
  }
  private var endedVideoDiscards = VideoJitterBufferStatistics.Discarded()
  /// Round-trip time of the newest report or feedback.
  public internal(set) var roundTrip: Duration?

  static let maximumSources = 256
  static let maximumRetired = 32
  let configuration: Configuration
  let random: RandomSource
  let output: any RTPSessionOutput
  let estimator: BandwidthEstimator
  let pacer: Pacer
  var retransmissions = RetransmissionBudget()
  var sent = SentPacketRing()
  var feedback = TransportFeedbackGenerator()
  var feedbackTimeline = TransportFeedbackTimeline()
  /// Reused for every feedback message.
  var packetResults: [PacketFeedback] = []
  var missing: [UInt16] = []
  /// Built for each retransmission and probe.
  var scratch = [UInt8](repeating: 0, count: 1500)
  var sections: [RTPReceiveParameters] = []
  /// Ids of header extensions over all sections, which BUNDLE keeps the same (RFC 8843 §9.2).
  var receiveExtensions = RTPHeaderExtensionMap()
  var sources: [UInt32: Source] = [:]
  /// Sources that ended lately.
  var retired: [(ssrc: UInt32, until: Instant)] = []
  /// Whether `roundTrip` comes from a report, which is better than what anything else measures.
  var hasReportedRoundTrip = false
  /// Reused for every report.
  var blocks: [RTCPReportBlock] = []
  var nextReport: Instant?
  var lastTarget = 0
  /// Slots of the send streams, so that a pacer token finds its stream; a slot is never used twice.
  var streamSlots: [RTPSendStream?] = []
  let reporterSSRC: UInt32

  /// What packets of a source are.
  enum Source {
    case media(RTPReceiveStream)
    case retransmission(of: RTPReceiveStream)
  }

  public init(configuration: Configuration, random: RandomSource, output: any RTPSessionOutput) {
    self.configuration = configuration
    self.random = random
    self.output = output
    estimator = BandwidthEstimator(configuration: configuration.estimator)
    pacer = Pacer(rate: configuration.estimator.start)
    lastTarget = configuration.estimator.start.bitsPerSecond
    reporterSSRC = UInt32(truncatingIfNeeded: random.next()) | 1
  }

  /// Bits a second that the network is believed to take.
  public var estimatedBitrate: Int { estimator.estimate.bitsPerSecond }

  /// Bits a second that the application can use at most; the path isn't probed for more.
  public func setMaximumBitrate(_ bitsPerSecond: Int, at now: Instant) {
    estimator.setMaximum(Bitrate(bitsPerSecond: bitsPerSecond), at: now)
    applyEstimate(at: now)
  }

  // MARK: Streams

  /// Starts a stream to send; nil when this stack has no payload format for its codec.
  public func addSendStream(_ parameters: RTPSendParameters) -> RTPSendStream? {
    guard
      let stream = RTPSendStream(parameters, index: streamSlots.count, random: random)
    else { return nil }
    sendStreams.append(stream)
    streamSlots.append(stream)
    return stream
  }

  /// Takes over the outcome of a later negotiation for a stream.
  public func update(_ stream: RTPSendStream, _ parameters: RTPSendParameters) {
    stream.update(parameters, random: random)
  }

  /// Ends a stream with a BYE (RFC 3550 §6.6).
  public func removeSendStream(_ stream: RTPSendStream) {
    guard let position = sendStreams.firstIndex(where: { $0 === stream }) else { return }
    sendStreams.remove(at: position)
    streamSlots[stream.index] = nil
    output.sendRTCP(capacity: 64) { buffer in
      var writer = RTCPWriter(into: buffer)
      guard (try? writer.receiverReport(sender: stream.parameters.ssrc)) != nil,
        (try? writer.goodbye(ssrc: stream.parameters.ssrc)) != nil
      else { return 0 }
      return writer.count
    }
  }

  /// Sets what may be received from now on. Streams of sections that are gone end.
  public func setReceiveSections(_ sections: [RTPReceiveParameters], at now: Instant) {
    let before = self.sections
    self.sections = sections
    receiveExtensions = RTPHeaderExtensionMap()
    for section in sections {
      for kind in RTPHeaderExtensionKind.allCases where receiveExtensions[kind] == nil {
        receiveExtensions[kind] = section.extensions[kind]
      }
    }
    for stream in receiveStreams {
      guard let section = sections.first(where: { $0.mid == stream.mid }) else {
        remove(stream, at: now)
        continue
      }
      if section != before.first(where: { $0.mid == stream.mid }) { stream.setFormats(of: section) }
    }
  }

  func remove(_ stream: RTPReceiveStream, at now: Instant) {
    retire(stream.ssrc, at: now)
    if let rtx = stream.rtxSSRC { retire(rtx, at: now) }
    if let buffer = stream.jitterBuffer { endedVideoDiscards += buffer.statistics.packetsDiscarded }
    receiveStreams.removeAll { $0 === stream }
    sources = sources.filter { _, source in
      switch source {
      case .media(let other), .retransmission(let other): other !== stream
      }
    }
  }

  // MARK: Sending

  /// Cuts a frame into packets and lets the pacer send them.
  ///
  /// - Parameter level: loudness of an audio packet, where it is known.
  public func send(
    _ frame: EncodedFrame, on stream: RTPSendStream, level: RTPAudioLevel? = nil, at now: Instant
  ) {
    let priority: Pacer.Priority = stream.parameters.kind == .audio ? .audio : .video
    stream.packetize(frame, level: level, at: now) { number, size in
      let token = PacketToken(stream: stream.index, number: number, isRetransmission: false)
      if !pacer.enqueue(size: size, priority: priority, token: token.value, at: now) {
        stream.statistics.packetsDropped &+= 1
        dropped.pacerFull += 1
      }
    }
    sendPaced(at: now)
  }

  // MARK: Driving

  /// Lets timers run: pacing, reports, requests for lost packets, feedback, frames that are due.
  public func poll(at now: Instant) {
    releaseFrames(at: now)
    requestMissing(at: now)
    demandOwedKeyFrames(at: now)
    sendFeedback(at: now)
    sendReports(at: now)
    pollEstimator(at: now)
    sendPaced(at: now)
  }

  /// When `poll` wants to be called next.
  public var nextDeadline: Instant? {
    var deadline = earliest(pacer.nextDeadline, feedback.nextDeadline)
    deadline = earliest(deadline, estimator.nextDeadline)
    if !sendStreams.isEmpty || !receiveStreams.isEmpty {
      deadline = earliest(deadline, nextReport ?? .zero)
    }
    for stream in sendStreams where stream.owesKeyFrame {
      deadline = earliest(deadline, (stream.lastKeyFrameDemand ?? .zero) + Self.keyFrameInterval)
    }
    for stream in receiveStreams {
      deadline = earliest(deadline, stream.keyFrameDeadline(roundTrip: roundTrip))
      if stream.sendsNack { deadline = earliest(deadline, stream.nack.nextDeadline) }
      deadline = earliest(deadline, stream.jitterBuffer?.nextDeadline)
    }
    return deadline
  }
}

/// What the pacer hands back: which stored packet of which stream.
struct PacketToken {
  let value: Int

  init(stream: Int, number: UInt16, isRetransmission: Bool) {
    value = stream << 17 | (isRetransmission ? 1 << 16 : 0) | Int(number)
  }

  init(_ value: Int) { self.value = value }

  var stream: Int { value >> 17 }
  var isRetransmission: Bool { value & 1 << 16 != 0 }
  var number: UInt16 { UInt16(truncatingIfNeeded: value) }
}
