public import SoraCongestion
public import SoraMedia
public import SoraRTP
public import SoraWire

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
    /// What packets leave as whose feedback tells of marks (`.bySource`), where the path carries them.
    public var ecn: ECNCodepoint

    public init(
      cname: String, wallClock: WallClock,
      estimator: BandwidthEstimator.Configuration = BandwidthEstimator.Configuration(),
      ecn: ECNCodepoint = .ect1
    ) {
      self.cname = cname
      self.wallClock = wallClock
      self.estimator = estimator
      self.ecn = ecn
    }
  }

  /// Packets that were dropped, by reason.
  public struct Dropped: Sendable, Equatable {
    public var malformedRTP = 0
    public var malformedRTCP = 0
    /// No section has this source, mid or payload type.
    public var unknownSource = 0
    /// More sources than a session takes.
    public var tooManySources = 0
    /// Late packets of a source that said goodbye, was replaced, or whose section has gone.
    public var endedSource = 0
    /// Packets of a known source with a payload type that its section doesn't have.
    public var unknownPayloadType = 0
    /// Retransmissions without a packet inside: padding of the sender's, or too short.
    public var unusableRetransmission = 0
    /// Packets of sound with nothing in them.
    public var emptySound = 0
    /// Packets of telephone events that aren't made of whole reports.
    public var malformedTelephoneEvent = 0
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

    fileprivate mutating func count(_ refusal: RTPDemultiplexer.Refusal) {
      switch refusal {
      case .ended: endedSource += 1
      case .tooMany: tooManySources += 1
      case .unknown: unknownSource += 1
      }
    }
  }

  public weak var delegate: (any RTPSessionDelegate)?
  public var dropped: Dropped {
    var dropped = counted
    dropped.malformedRTCP = rtcp.dropped.malformed
    dropped.unknownRTCP = rtcp.dropped.unknown
    dropped.requestOfUnknownSource = rtcp.dropped.requestOfUnknownSource
    dropped.pacerFull = controller.statistics.pacerFull
    dropped.retransmissionBudget = controller.statistics.retransmissionsRefused
    return dropped
  }
  /// Those that the session itself counts.
  var counted = Dropped()
  public var sendStreams: [RTPSendStream] { sending.streams }
  public var receiveStreams: [RTPReceiveStream] { receiving.streams }
  /// Video packets that no jitter buffer used, of streams that were and that are.
  public var videoPacketsDiscarded: VideoJitterBufferStatistics.Discarded {
    receiving.videoPacketsDiscarded
  }
  /// Round-trip time of the newest report, or of whatever else measured one before the first.
  public var roundTrip: Duration? { rtcp.roundTrip }
  /// Round trips that were measured without sending media (RFC 3611 §4.4).
  public var referencedRoundTrips: ReferencedRoundTrips { rtcp.referencedRoundTrips }

  private let configuration: Configuration
  private let random: RandomSource
  let output: any RTPSessionOutput
  let controller: SendController
  let rtcp: RTCPEngine
  /// Built for each retransmission and probe.
  var scratch = [UInt8](repeating: 0, count: 1500)
  private(set) var sending = SendStreamTable()
  private(set) var receiving = RTPDemultiplexer()
  private(set) var receiveExtensions = RTPHeaderExtensionMap()
  private var target: EncoderTarget

  public init(configuration: Configuration, random: RandomSource, output: any RTPSessionOutput) {
    self.configuration = configuration
    self.random = random
    self.output = output
    controller = SendController(
      configuration: SendController.Configuration(
        estimator: configuration.estimator, ecn: configuration.ecn))
    rtcp = RTCPEngine(
      cname: configuration.cname, controller: controller, random: random, output: output,
      wallClock: configuration.wallClock)
    target = EncoderTarget(start: configuration.estimator.start)
    rtcp.delegate = self
  }

  /// Bits a second that the network is believed to take.
  public var estimatedBitrate: Int { controller.estimate.bitsPerSecond }

  /// What is known of ECN marks on the path.
  public var ecnState: ECNValidation.State { controller.ecnState }

  /// Bits a second that the application can use at most; the path isn't probed for more.
  public func setMaximumBitrate(_ bitsPerSecond: Int, at now: Instant) {
    controller.setMaximum(Bitrate(bitsPerSecond: bitsPerSecond), at: now)
    applyEstimate(at: now)
  }

  // MARK: Streams

  /// Starts a stream to send; nil when this stack has no payload format for its codec.
  public func addSendStream(_ parameters: RTPSendParameters) -> RTPSendStream? {
    guard
      let stream = RTPSendStream(
        parameters, index: sending.nextIndex, cname: configuration.cname, random: random)
    else { return nil }
    if receiving[parameters.ssrc] != nil { stream.change(ssrc: freeSSRC()) }
    sending.add(stream)
    nameFeedback()
    return stream
  }

  /// Takes over the outcome of a later negotiation for a stream.
  public func update(_ stream: RTPSendStream, _ parameters: RTPSendParameters) {
    stream.update(parameters, random: random)
  }

  /// Ends a stream with a BYE (RFC 3550 §6.6).
  public func removeSendStream(_ stream: RTPSendStream) {
    guard sending.remove(stream) else { return }
    controller.forget(stream: stream.index)
    controller.forget(ssrc: stream.parameters.ssrc)
    if let rtx = stream.parameters.rtx { controller.forget(ssrc: rtx.ssrc) }
    nameFeedback()
    rtcp.sendGoodbye(of: stream.sender)
  }

  /// Feedback comes from a source of ours where there is one.
  private func nameFeedback() {
    rtcp.feedbackSSRC = sendStreams.first?.parameters.ssrc ?? rtcp.reporterSSRC
  }

  // MARK: Collisions

  /// The peer sends from a source that is one of ours, too: ours ends with a BYE and goes on under another identifier
  /// (RFC 3550 §8.2).
  private func resolveCollision(over ssrc: UInt32) {
    if ssrc == rtcp.reporterSSRC { rtcp.reporterSSRC = freeSSRC() }
    for stream in sendStreams {
      if stream.parameters.ssrc == ssrc {
        rtcp.sendGoodbye(of: stream.sender)
        controller.forget(ssrc: ssrc)
        stream.change(ssrc: freeSSRC())
        delegate?.session(self, changedSSRCOf: stream, from: ssrc)
      } else if stream.parameters.rtx?.ssrc == ssrc {
        controller.forget(ssrc: ssrc)
        stream.change(rtxSSRC: freeSSRC())
        delegate?.session(self, changedSSRCOf: stream, from: ssrc)
      }
    }
    nameFeedback()
  }

  /// Whether a source identifier is one of ours.
  private func isOurs(_ ssrc: UInt32) -> Bool {
    ssrc == rtcp.reporterSSRC || sending.sends(from: ssrc)
  }

  /// A source identifier that nobody uses.
  private func freeSSRC() -> UInt32 {
    while true {
      let ssrc = UInt32(truncatingIfNeeded: random.next())
      if ssrc != 0, receiving[ssrc] == nil, !isOurs(ssrc) { return ssrc }
    }
  }

  /// Sets what may be received from now on. Streams of sections that are gone end.
  public func setReceiveSections(_ sections: [RTPReceiveParameters], at now: Instant) {
    receiveExtensions = sections.extensions
    rtcp.feedbackKind = sections.feedback
    rtcp.sendsReferenceTime = sections.contains(where: \.sendsReferenceTime)
    for stream in receiving.setSections(sections, at: now) { forgetArrivals(of: stream) }
  }

  /// Finds out what a source is that was never seen; nil, counted, where nobody takes its packets.
  func newSource(
    _ header: RTPHeader, _ values: RTPHeaderExtensions, at now: Instant
  ) -> RTPDemultiplexer.Source? {
    do throws(RTPDemultiplexer.Refusal) {
      let match = try receiving.match(header, values, at: now)
      if isOurs(header.ssrc) { resolveCollision(over: header.ssrc) }
      let (source, replaced) = try receiving.admit(header, values, as: match, at: now)
      for stream in replaced { forgetArrivals(of: stream) }
      if case .media(let stream) = source, let roundTrip { stream.setRoundTrip(roundTrip) }
      return source
    } catch {
      counted.count(error)
      return nil
    }
  }

  private func forgetArrivals(of stream: RTPReceiveStream) {
    rtcp.forgetArrivals(of: stream.ssrc)
    if let rtx = stream.rtxSSRC { rtcp.forgetArrivals(of: rtx) }
  }

  // MARK: Sending

  /// Cuts a frame into packets and lets the pacer send them.
  ///
  /// - Parameters:
  ///   - frame: the frame, whole.
  ///   - stream: the stream it belongs to.
  ///   - level: loudness of an audio packet, where it is known.
  ///   - now: the present time.
  public func send(
    _ frame: EncodedFrame, on stream: RTPSendStream, level: RTPAudioLevel? = nil, at now: Instant
  ) {
    let priority: Pacer.Priority = stream.parameters.kind == .audio ? .audio : .video
    if priority == .video, frame.isKeyFrame { discardStale(of: stream, at: now) }
    stream.packetize(frame, level: level, at: now) { token, size in
      if !controller.enqueue(token, size: size, priority: priority, at: now) {
        stream.sender.counters.packetsDropped &+= 1
      }
    }
    if priority == .video, frame.isKeyFrame { controller.keyFrameQueued() }
    controller.drain(self, at: now)
  }

  /// Tells the encoders what the network leaves them.
  private func applyEstimate(at now: Instant) {
    let bitrate = EncoderTarget.bitrate(
      available: controller.available(at: now), waiting: controller.waiting(at: now),
      repairShare: sendStreams.reduce(0) { max($0, $1.repair?.share ?? 0) })
    guard target.change(to: bitrate) else { return }
    delegate?.session(self, changedTargetBitrate: bitrate, at: now)
  }

  /// The path is gone; another may come.
  public func pathLost() { controller.pathLost() }

  // MARK: Driving

  /// Lets timers run: pacing, reports, requests for lost packets, feedback, frames that are due.
  public func poll(at now: Instant) {
    releaseFrames(at: now)
    endSilentTones(at: now)
    playTones(at: now)
    for stream in receiveStreams { rtcp.sendRequests(of: stream.receiver, at: now) }
    for stream in sendStreams { demandKeyFrame(of: stream, at: now) }
    rtcp.sendFeedback(at: now)
    if hasStreams, rtcp.areReportsDue(at: now) { sendReports(at: now) }
    controller.poll(at: now)
    applyEstimate(at: now)
    controller.drain(self, at: now)
  }

  private var hasStreams: Bool { !sendStreams.isEmpty || !receiveStreams.isEmpty }

  private func sendReports(at now: Instant) {
    rtcp.sendReports(
      receivers: { visit in for stream in receiveStreams { visit(stream.receiver) } },
      senders: { visit in for stream in sendStreams { visit(stream.sender) } }, at: now
    ) { sender in
      sending.stream(of: sender)?.senderInfo(wallClock: configuration.wallClock, at: now)
    }
  }

  /// When `poll` wants to be called next.
  public var nextDeadline: Instant? {
    var deadline = earliest(controller.nextDeadline, rtcp.nextDeadline(reports: hasStreams))
    for stream in sendStreams {
      deadline = earliest(deadline, stream.keyFrameDemand.deadline)
      deadline = earliest(deadline, stream.tones?.nextDeadline)
    }
    for stream in receiveStreams {
      deadline = earliest(deadline, stream.receiver.nextDeadline(roundTrip: roundTrip))
      deadline = earliest(deadline, stream.jitterBuffer?.nextDeadline)
      deadline = earliest(deadline, stream.tones.nextDeadline)
    }
    return deadline
  }

  // MARK: RTCP

  /// Takes one plain compound RTCP packet from the transport. What is broken in it is counted and left out.
  public func receiveRTCP(_ packet: UnsafeRawBufferPointer, at now: Instant) {
    unsafe rtcp.receive(packet, at: now)
  }

  /// Takes a round-trip time from elsewhere, such as ICE's checks; reports know better once there are any.
  public func noteRoundTrip(_ measured: Duration) {
    if rtcp.note(roundTrip: measured) { roundTripChanged(to: measured) }
  }

  /// Tells the owner that the receiver wants a key frame, if it is time for it.
  private func demandKeyFrame(of stream: RTPSendStream, at now: Instant) {
    guard stream.keyFrameDemand.take(at: now) else { return }
    delegate?.session(self, wantsKeyFrameOn: stream, at: now)
  }
}

extension RTPSession: RTCPEngineDelegate {
  public func trackSender(ssrc: UInt32) -> RTPTrackSender? {
    sending.stream(ssrc: ssrc)?.sender
  }

  public func trackReceiver(ssrc: UInt32) -> RTPTrackReceiver? {
    receiving.stream(ssrc: ssrc)?.receiver
  }

  public func storedPacket(
    _ number: UInt16, of sender: RTPTrackSender
  ) -> (token: PacketToken, size: Int)? {
    guard let stream = sending.stream(of: sender),
      let packet = unsafe stream.history.stored(sequenceNumber: number)
    else { return nil }
    return (
      PacketToken(stream: stream.index, number: number, isRetransmission: true), packet.count
    )
  }

  /// The receiver asks for a key frame itself where it needs one.
  public func repairRefused(of number: UInt16, from sender: RTPTrackSender) {}

  public func keyFrameWanted(of sender: RTPTrackSender, at now: Instant) {
    guard let stream = sending.stream(of: sender) else { return }
    stream.keyFrameDemand.ask(roundTrip: roundTrip, at: now)
    demandKeyFrame(of: stream, at: now)
  }

  public func bandwidthChanged(at now: Instant) {
    applyEstimate(at: now)
    controller.drain(self, at: now)
  }

  public func sourceEnded(ssrc: UInt32, at now: Instant) {
    guard let stream = receiving.stream(ssrc: ssrc) else { return }
    receiving.remove(stream, at: now)
    forgetArrivals(of: stream)
  }

  public func sourceCollided(ssrc: UInt32) { resolveCollision(over: ssrc) }

  public func roundTripChanged(to roundTrip: Duration) {
    for stream in receiveStreams { stream.setRoundTrip(roundTrip) }
  }
}

/// What comes out of an `RTPSession`. Called on the loop that drives it, inside its calls.
public protocol RTPSessionDelegate: AnyObject {
  /// A complete video frame, in decoding order.
  func session(
    _ session: RTPSession, received frame: EncodedFrame, on stream: RTPReceiveStream,
    at now: Instant)
  /// One audio packet, in arrival order. The payload is lent for the call.
  func session(
    _ session: RTPSession, receivedAudio payload: UnsafeRawBufferPointer, header: RTPHeader,
    on stream: RTPReceiveStream, at now: Instant)
  /// The receiver of a stream of ours asks for a key frame (PLI or FIR).
  func session(_ session: RTPSession, wantsKeyFrameOn stream: RTPSendStream, at now: Instant)
  /// The estimated bandwidth for all media together changed; bits a second.
  func session(
    _ session: RTPSession, changedTargetBitrate bitsPerSecond: Int, at now: Instant)
  /// The peer uses the source identifier of a stream of ours, which has another now (RFC 3550 §8.2). The next description should name
  /// it; until then the mid in its packets tells the peer what they are.
  func session(_ session: RTPSession, changedSSRCOf stream: RTPSendStream, from ssrc: UInt32)
  /// A key of a telephone begins or ends that the peer tells of (RFC 4733). Its duration counts in ticks of the stream's clock.
  func session(
    _ session: RTPSession, received change: TelephoneEventReceiver.Change,
    on stream: RTPReceiveStream, at now: Instant)
  /// A key that was to be played begins, or a pause (`,`); nil once all have been.
  func session(
    _ session: RTPSession, plays key: Character?, remaining: String, on stream: RTPSendStream,
    at now: Instant)
}

extension RTPSessionDelegate {
  public func session(
    _ session: RTPSession, received change: TelephoneEventReceiver.Change,
    on stream: RTPReceiveStream, at now: Instant
  ) {}
  public func session(
    _ session: RTPSession, plays key: Character?, remaining: String, on stream: RTPSendStream,
    at now: Instant
  ) {}
  public func session(
    _ session: RTPSession, changedSSRCOf stream: RTPSendStream, from ssrc: UInt32
  ) {}
}
