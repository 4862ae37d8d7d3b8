import SoraCongestion
public import SoraDTLS
public import SoraDataChannel
public import SoraICE
public import SoraMedia
public import SoraRTP
import SoraSDP
public import SoraTransport
public import SoraWire

/// A whole peer connection without sockets, threads, clocks or codecs: descriptions and encoded frames in and out.
///
/// `RTCPeerConnection` drives one on a network loop; a simulation drives many in virtual time. Confined to its driver.
public final class PeerConnectionCore {
  public struct Configuration {
    public var certificate: DTLSCertificate
    public var dtls: any DTLSEndpointFactory
    public var wallClock: WallClock
    /// Bits per second that the bandwidth estimate starts at, and stays between.
    public var startBitrate = 1_000_000
    public var minimumBitrate = 50_000
    public var maximumBitrate = 30_000_000
    public var audioCodecs: [CodecCapability] = CodecCapability.audio
    /// Earlier packets that each audio packet repeats (RFC 2198) where the other side takes that, 0 to 4; nil sends one
    /// to those that prefer it.
    public var audioRedundancy: Int?
    public var videoCodecs: [CodecCapability] = [.vp8]
    /// Whether a section for data channels that the other side offers is taken; of channels of our own one always is.
    public var acceptsDataChannels = true
    /// As in `RTCSettings`.
    public var offersRepair = false
    public var offersFeedbackBySource = false
    public var ecn = ECNCodepoint.ect1
    public var data = DataChannelConfiguration()
    /// STUN and TURN servers, and which candidates are used.
    public var gathering = ICEGatherer.Configuration()
    /// ICE's patience and timers; which side controls is the descriptions' to say.
    public var ice = ICEAgent.Configuration(isControlling: false)

    public init(
      certificate: DTLSCertificate, dtls: any DTLSEndpointFactory, wallClock: WallClock
    ) {
      self.certificate = certificate
      self.dtls = dtls
      self.wallClock = wallClock
    }
  }

  public weak var delegate: (any PeerConnectionCoreDelegate)?
  public let transport: PeerTransport
  public let session: RTPSession
  /// The channels, where the other side has any.
  public let data: DataTransport
  public let negotiator: JSEPNegotiator
  /// The sections in use after the last exchange.
  public var media: [NegotiatedMedia] { negotiator.session?.media ?? [] }

  private var streams = TransceiverStreams()
  private var isStarted = false
  var gatheringState = ICEGatheringState.new
  /// As it was told last.
  public var snapshot: PeerConnectionSnapshot { published.snapshot }
  var published = PublishedSnapshot()
  var offerRequest = OfferRequest()
  /// What each sending transceiver gets of what the network takes.
  private(set) var bandwidth: SendBandwidth
  private let audioRedundancy: Int?
  /// Frames that came to `send` before the connection stood, or for a track that isn't sent.
  public private(set) var framesNotSent: UInt64 = 0
  /// Video frames and audio packets that came for a section that no transceiver has.
  public private(set) var mediaNotTaken: UInt64 = 0
  /// When the first description was set.
  private var started: Instant?

  public init(configuration: Configuration, random: RandomSource, sink: any DatagramSink) {
    var path = PeerTransport.Configuration(
      ice: configuration.ice,
      certificate: configuration.certificate, dtls: configuration.dtls)
    path.gathering = configuration.gathering
    transport = PeerTransport(configuration: path, random: random.fork(), sink: sink)
    let local = transport.ice.localParameters
    var negotiation = NegotiationConfiguration(
      iceUfrag: local.ufrag, icePassword: local.password,
      fingerprints: [SDPFingerprint(configuration.certificate.fingerprint)])
    negotiation.audioCodecs = configuration.audioCodecs
    negotiation.videoCodecs = configuration.videoCodecs
    negotiation.offersRepair = configuration.offersRepair
    negotiation.offersFeedbackBySource = configuration.offersFeedbackBySource
    negotiation.acceptsDataChannels = configuration.acceptsDataChannels
    negotiation.sctpPort = configuration.data.localPort
    negotiation.maximumMessageSize = UInt64(configuration.data.maximumMessageSize)
    negotiator = JSEPNegotiator(configuration: negotiation, random: random.fork())
    var sessionConfiguration = RTPSession.Configuration(
      cname: negotiator.cname, wallClock: configuration.wallClock)
    sessionConfiguration.ecn = configuration.ecn
    sessionConfiguration.estimator = BandwidthEstimator.Configuration(
      start: Bitrate(bitsPerSecond: configuration.startBitrate),
      minimum: Bitrate(bitsPerSecond: configuration.minimumBitrate),
      maximum: Bitrate(bitsPerSecond: configuration.maximumBitrate))
    session = RTPSession(
      configuration: sessionConfiguration, random: random.fork(), output: transport)
    bandwidth = SendBandwidth(
      start: Bitrate(bitsPerSecond: configuration.startBitrate),
      maximum: Bitrate(bitsPerSecond: configuration.maximumBitrate))
    data = DataTransport(
      configuration: configuration.data, random: random.fork(), transport: transport)
    audioRedundancy = configuration.audioRedundancy
    transport.delegate = self
    session.delegate = self
    data.delegate = self
  }

  // MARK: Descriptions

  /// RFC 8445 §6.1.1: the offerer of the first exchange controls, from its offer on. The answerer's checks come before the
  /// answer does, and would meet a conflict otherwise.
  func begin(isOfferer: Bool, at now: Instant) {
    if started == nil { started = now }
    if !isStarted { transport.ice.isControlling = isOfferer }
  }

  /// When the connection came to which point of its making; it starts with the first description that is set.
  public var timeline: ConnectionTimeline {
    var timeline = transport.statistics.timeline
    timeline.started = started
    return timeline
  }

  /// What was lost here, by reason, from the datagram to the frame; those that occurred.
  public var drops: [PacketDrop] {
    transport.drops + session.drops + data.report.drops
      + PacketDrop.list(
        .connection, ["framesNotSent": framesNotSent, "mediaNotTaken": mediaNotTaken])
  }

  /// Our description with the candidates so far.
  public var localDescription: String? { negotiator.localDescription?.text }
  /// The other side's description with the candidates so far.
  public var remoteDescription: String? { negotiator.remoteDescription?.text }

  /// Adds a candidate that came apart from a description. Empty text ends the candidates.
  ///
  /// - Throws: `NegotiationError.unreadableCandidate` for a line that breaks the grammar, and then nothing changes.
  public func addRemoteCandidate(
    _ text: String, mid: String? = nil, mLineIndex: Int? = nil, at now: Instant
  ) throws(NegotiationError) {
    let candidate = text.isEmpty ? nil : try Self.candidate(text)
    guard try negotiator.addRemoteCandidate(text, mid: mid, mLineIndex: mLineIndex) else { return }
    published.invalidate()
    if let candidate {
      transport.addRemoteCandidate(candidate, at: now)
    } else {
      transport.endOfRemoteCandidates(at: now)
    }
    publish(at: now)
  }

  private static func candidate(_ text: String) throws(NegotiationError) -> ICECandidate {
    do throws(ICEError) {
      return try ICECandidate(parsing: text)
    } catch {
      throw .unreadableCandidate(text, error)
    }
  }

  // MARK: Media

  /// The streams that a transceiver sends, one an encoding.
  public func sendStreams(transceiverID: Int) -> [RTPSendStream] {
    streams.sent(transceiverID: transceiverID)
  }

  /// The stream that a transceiver receives, once packets have come.
  public func receiveStream(transceiverID: Int) -> RTPReceiveStream? {
    session.receiveStreams.first { streams.receiver(mid: $0.mid) == transceiverID }
  }

  /// Sends an encoded frame of a transceiver's track. Frames before the connection stands are dropped.
  public func send(
    _ frame: EncodedFrame, transceiverID: Int, rid: String? = nil, level: RTPAudioLevel? = nil,
    at now: Instant
  ) {
    guard transport.isWritable,
      let stream = streams[TransceiverStreams.Encoding(transceiverID: transceiverID, rid: rid)]
    else {
      framesNotSent &+= 1
      return
    }
    transport.advance(to: now)
    session.send(frame, on: stream, level: level, at: now)
  }

  /// When a received frame was captured, on its sender's wall clock, since 1970; nil before the sender's first report.
  public func captureTime(of rtpTimestamp: UInt32, transceiverID: Int) -> Duration? {
    receiveStream(transceiverID: transceiverID)?.senderReports.captureTime(of: rtpTimestamp).map {
      .nanoseconds($0.unixNanoseconds)
    }
  }

  /// Asks the sender of a received video for a key frame.
  public func requestKeyFrame(transceiverID: Int, at now: Instant) {
    receiveStream(transceiverID: transceiverID)?.requestKeyFrame()
    session.poll(at: now)
  }

  /// Says what the source of a sent video gives that isn't encoded here, in bits per second; 0 where that is over. The path is probed up to
  /// there, within the other side's limit and `Configuration.maximumBitrate`.
  public func setSourceBitrate(_ bitsPerSecond: Int, transceiverID: Int, at now: Instant) {
    let before = bandwidth.useful
    bandwidth.setSourceRate(Bitrate(bitsPerSecond: max(0, bitsPerSecond)), id: transceiverID)
    guard bandwidth.useful != before else { return }
    session.setMaximumBitrate(bandwidth.useful.bitsPerSecond, at: now)
    session.poll(at: now)
  }

  // MARK: Driving

  /// Takes one datagram of the sockets, and how it was marked. The memory is lent for the call.
  public func receive(
    _ bytes: UnsafeMutableRawBufferPointer, from remote: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint = .notECT,
    at now: Instant
  ) {
    unsafe transport.receive(bytes, from: remote, on: local, ecn: ecn, at: now)
  }

  /// Lets timers run.
  public func poll(at now: Instant) {
    transport.poll(at: now)
    data.poll(at: now)
    guard transport.isWritable else { return }
    if let roundTrip = transport.ice.selectedPair?.roundTripTime {
      session.noteRoundTrip(roundTrip)
    }
    session.poll(at: now)
  }

  /// When `poll` wants to be called next.
  public var nextDeadline: Instant? {
    let deadline = earliest(transport.nextDeadline, data.nextDeadline)
    return transport.isWritable ? earliest(deadline, session.nextDeadline) : deadline
  }

  /// Ends the connection: BYE for every stream, then close_notify.
  public func close(at now: Instant) {
    // In the order they were made, so that every run sends the same.
    for stream in session.sendStreams { session.removeSendStream(stream) }
    streams.removeSent()
    data.close(at: now)
    transport.close(at: now)
    negotiator.close()
    published.invalidate()
    drain(at: now)
    publish(at: now)
  }

  // MARK: Moving on

  /// Carries the negotiator's outcome to the transport, the session and the owner.
  func drain(at now: Instant) {
    // Its callers say that the snapshot is stale: what has changed is told with the first event, and not with each of hundreds.
    while let event = negotiator.nextEvent() {
      switch event {
      case .signalingStateChanged(let state): tell(.signalingStateChanged(state), at: now)
      case .streamAdded(let id): tell(.streamAdded(id: id), at: now)
      case .trackAdded(let transceiver, let ids):
        tell(.trackAdded(transceiverID: transceiver.id, streamIDs: ids), at: now)
      case .trackRemoved(let transceiver, let ids):
        tell(.trackRemoved(transceiverID: transceiver.id, streamIDs: ids), at: now)
      case .streamRemoved(let id): tell(.streamRemoved(id: id), at: now)
      case .rolledBack:
        transport.rollBackICE(at: now)
        published.invalidate()
      case .remoteICERestarted:
        transport.restartICE(at: now)
        adoptCandidates()
        published.invalidate()
      case .negotiated:
        apply(at: now)
        published.invalidate()
        tell(.negotiated(media), at: now)
      case .transceiverAdded, .directionChanged, .transceiverStopped: break
      }
    }
  }

  private func apply(at now: Instant) {
    guard let negotiated = negotiator.session else { return }
    applySending(negotiated.media)
    bandwidth.setMedia(negotiated.media, at: now)
    session.setMaximumBitrate(bandwidth.useful.bitsPerSecond, at: now)
    applyReceiving(negotiated.media, at: now)
    if negotiated.data == nil, !negotiator.wantsDataChannels { refuseDataChannels(at: now) }
    guard let transport = negotiated.transport else { return }
    start(transport, at: now)
    if let section = negotiated.data { start(section, over: transport, at: now) }
  }

  private func start(_ remote: NegotiatedTransport, at now: Instant) {
    if !isStarted {
      isStarted = true
      transport.ice.isControlling = remote.isControlling
    }
    transport.start(
      PeerTransport.RemoteDescription(
        ice: remote.remote, fingerprint: remote.remoteFingerprint,
        localRole: remote.setup == .passive ? .server : .client),
      at: now)
    for text in remote.remoteCandidates {
      do throws(NegotiationError) {
        transport.addRemoteCandidate(try Self.candidate(text), at: now)
      } catch {
        // The others may do: a description isn't refused for one of its candidates.
        tell(.remoteCandidateUnusable(error), at: now)
      }
    }
    if remote.endOfRemoteCandidates { transport.endOfRemoteCandidates(at: now) }
  }

  private func applySending(_ media: [NegotiatedMedia]) {
    var wanted: [TransceiverStreams.Encoding: RTPSendParameters] = [:]
    // Streams draw randomness when they are made: the order is the description's, never a dictionary's.
    var order: [TransceiverStreams.Encoding] = []
    for section in media {
      guard let send = section.send else { continue }
      for encoding in send.encodings where !encoding.isPausedByPeer {
        let key = TransceiverStreams.Encoding(
          transceiverID: section.transceiverID, rid: encoding.rid)
        let parameters = RTPSendParameters(
          section, send, encoding, audioRedundancy: audioRedundancy)
        if wanted.updateValue(parameters, forKey: key) == nil { order.append(key) }
      }
    }
    for stream in session.sendStreams {
      guard let key = streams.encoding(of: stream) else { continue }
      if let parameters = wanted[key],
        parameters.ssrc == stream.describedSSRC || parameters.ssrc == stream.parameters.ssrc,
        parameters.codecName == stream.parameters.codecName
      {
        session.update(stream, parameters)
        wanted[key] = nil
      } else {
        session.removeSendStream(stream)
        streams.remove(key)
      }
    }
    for key in order {
      guard let parameters = wanted[key], let stream = session.addSendStream(parameters) else {
        continue
      }
      streams.add(stream, for: key)
    }
  }

  private func applyReceiving(_ media: [NegotiatedMedia], at now: Instant) {
    streams.setReceivers(media)
    let sections = media.compactMap { section in
      section.receive.map { RTPReceiveParameters(section, $0) }
    }
    session.setReceiveSections(sections, at: now)
  }
}

extension PeerConnectionCore: RTPSessionDelegate {
  public func session(
    _ session: RTPSession, received frame: EncodedFrame, on stream: RTPReceiveStream,
    at now: Instant
  ) {
    guard let id = streams.receiver(mid: stream.mid) else {
      mediaNotTaken &+= 1
      return
    }
    delegate?.core(
      self, receivedVideo: frame, codec: stream.codecName, transceiverID: id, at: now)
  }

  public func session(
    _ session: RTPSession, receivedAudio payload: UnsafeRawBufferPointer, header: RTPHeader,
    on stream: RTPReceiveStream, at now: Instant
  ) {
    guard let id = streams.receiver(mid: stream.mid) else {
      mediaNotTaken &+= 1
      return
    }
    unsafe delegate?.core(
      self, receivedAudio: payload, header: header, transceiverID: id, at: now)
  }

  public func session(
    _ session: RTPSession, wantsKeyFrameOn stream: RTPSendStream, at now: Instant
  ) {
    guard let id = streams.encoding(of: stream)?.transceiverID else { return }
    tell(.keyFrameWanted(transceiverID: id), at: now)
  }

  public func session(
    _ session: RTPSession, changedSSRCOf stream: RTPSendStream, from ssrc: UInt32
  ) {
    guard let id = streams.encoding(of: stream)?.transceiverID else { return }
    let parameters = stream.parameters
    negotiator.setSources(
      parameters.ssrc, rtx: parameters.rtx?.ssrc, rid: parameters.rid, transceiverID: id)
    published.invalidate()
  }

  public func session(
    _ session: RTPSession, received change: TelephoneEventReceiver.Change,
    on stream: RTPReceiveStream, at now: Instant
  ) {
    guard let id = streams.receiver(mid: stream.mid) else {
      mediaNotTaken &+= 1
      return
    }
    let event = RTCDtmfEvent(change, clockRate: stream.receiver.received.clockRate)
    tell(.keyReceived(event, transceiverID: id), at: now)
  }

  public func session(
    _ session: RTPSession, plays key: Character?, remaining: String, on stream: RTPSendStream,
    at now: Instant
  ) {
    guard let id = streams.encoding(of: stream)?.transceiverID else { return }
    tell(.keyPlayed(key, remaining: remaining, transceiverID: id), at: now)
  }

  public func session(
    _ session: RTPSession, changedTargetBitrate bitsPerSecond: Int, at now: Instant
  ) {
    bandwidth.setTarget(Bitrate(bitsPerSecond: bitsPerSecond), at: now)
    tell(.targetBitrateChanged(bitsPerSecond), at: now)
  }
}

extension PeerConnectionCore: DataTransportDelegate {
  public func data(_ data: DataTransport, event: DataChannelEvent, at now: Instant) {
    delegate?.core(self, data: event, at: now)
  }
}

/// Takes what a `PeerConnectionCore` gives. Called on the loop that drives the core, inside its calls.
public protocol PeerConnectionCoreDelegate: AnyObject {
  func core(_ core: PeerConnectionCore, event: PeerConnectionEvent, at now: Instant)
  /// A complete video frame of a transceiver's receiver, in decoding order.
  func core(
    _ core: PeerConnectionCore, receivedVideo frame: EncodedFrame, codec: String,
    transceiverID: Int, at now: Instant)
  /// One audio packet of a transceiver's receiver, in arrival order. The payload is lent for the call.
  func core(
    _ core: PeerConnectionCore, receivedAudio payload: UnsafeRawBufferPointer, header: RTPHeader,
    transceiverID: Int, at now: Instant)
  /// What happens to data channels.
  func core(_ core: PeerConnectionCore, data event: DataChannelEvent, at now: Instant)
}

extension PeerConnectionCoreDelegate {
  public func core(_ core: PeerConnectionCore, data event: DataChannelEvent, at now: Instant) {}
}
