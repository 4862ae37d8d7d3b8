public import SoraMedia
public import SoraSDP

/// The offer/answer machine of one peer connection (RFC 9429), without media and without a transport.
///
/// Everything shares one transport: the policy is "max-bundle", and RTCP is always multiplexed. The owner sets
/// the directions and tracks of transceivers, exchanges descriptions, reads ``session`` when it has changed,
/// and takes ``nextEvent()`` after each call. A call that throws leaves everything as it was.
///
/// Confined to its owner: not `Sendable`. Draws ids and SSRCs from the `RandomSource` it was given.
public final class JSEPNegotiator {
  /// May be changed between exchanges.
  public var configuration: NegotiationConfiguration
  public var signalingState: SignalingState { exchange.signalingState }
  /// Those that are not stopped, in order of creation.
  public var transceivers: [JSEPTransceiver] { transceiverSet.list }
  /// What the last completed exchange settled; nil before the first.
  public var session: NegotiatedSession? { exchange.inForce?.session }
  /// The sections of the peer's last offer that are turned down, and why.
  public internal(set) var rejectedSections: [NegotiationError.Rejected] = []
  /// Whether an offer of ours should have a data channel section. False again where the peer turns one down: it is asked once, and not with
  /// every offer from then on.
  public var wantsDataChannels = false
  /// Our candidates so far, each `candidate:...`; written into descriptions.
  public var localCandidates: [String] = []
  /// Whether ``localCandidates`` is complete.
  public var endOfLocalCandidates = false
  /// The CNAME of all our sources (RFC 8834 §4.9).
  public var cname: String { identifiers.cname }

  var identifiers: LocalIdentifiers
  var transceiverSet = TransceiverSet()
  var sections = MediaSections()
  var exchange = DescriptionExchange()
  var numbers = RTPSessionNumbers()
  private var sectionCodecs = SectionCodecs()
  var roles = TransportRoles()
  var remoteTracks = RemoteTracks()
  private var events: [NegotiationEvent] = []
  private var origin: SessionOrigin

  public init(configuration: NegotiationConfiguration, random: RandomSource) {
    self.configuration = configuration
    identifiers = LocalIdentifiers(random: random)
    origin = SessionOrigin(random: random)
  }

  // MARK: Descriptions

  /// Our description in force or under way, with the candidates so far.
  public var localDescription: SessionDescription? {
    guard var description = exchange.local else { return nil }
    writeCandidates(&description)
    return description
  }

  /// The peer's description in force or under way, with the candidates it added later.
  public var remoteDescription: SessionDescription? { exchange.remote }

  /// The next thing to tell the application, or nil.
  public func nextEvent() -> NegotiationEvent? { events.isEmpty ? nil : events.removeFirst() }

  /// Ends everything: no description can be made or applied any more.
  public func close() {
    guard signalingState != .closed else { return }
    for transceiver in transceivers { transceiver.close() }
    exchange.close()
    emit(.signalingStateChanged(.closed))
  }

  // MARK: Transceivers

  /// Adds a transceiver; it gets its section with the next offer of ours.
  /// - Parameters:
  ///   - kind: audio or video.
  ///   - direction: what it wants to do.
  ///   - trackID: the track to send; nil for none yet.
  ///   - streamIDs: the streams that the track belongs to.
  ///   - rids: simulcast layers to offer, lowest first; empty for one encoding.
  @discardableResult
  public func addTransceiver(
    _ kind: MediaKind, direction: MediaDirection = .sendrecv, trackID: String? = nil,
    streamIDs: [String] = [], rids: [String] = []
  ) -> JSEPTransceiver {
    let encodings = (rids.isEmpty ? [nil] : rids.map(Optional.some)).map {
      identifiers.makeEncoding(rid: $0)
    }
    let sender = SenderDescription(
      hasTrack: trackID != nil, trackID: trackID ?? identifiers.makeID(), streamIDs: streamIDs,
      encodings: encodings)
    return transceiverSet.add(
      kind, direction: direction, sender: sender, receiverTrackID: identifiers.makeID())
  }

  /// Gives a track to the first transceiver of its kind that never sent, or adds one (WebRTC §5.1 addTrack).
  @discardableResult
  public func addTrack(_ kind: MediaKind, trackID: String, streamIDs: [String]) -> JSEPTransceiver {
    guard let reusable = transceiverSet.reusable(kind) else {
      let transceiver = addTransceiver(kind, trackID: trackID, streamIDs: streamIDs)
      transceiver.isFromAddTrack = true
      return transceiver
    }
    reusable.isFromAddTrack = reusable.isFromAddTrack || reusable.mid == nil
    setTrack(of: reusable, trackID, streamIDs: streamIDs)
    return reusable
  }

  /// Attaches a track to a transceiver of the application's choice and lets it send.
  public func setTrack(of transceiver: JSEPTransceiver, _ trackID: String, streamIDs: [String]) {
    transceiver.sender.hasTrack = true
    transceiver.sender.trackID = trackID
    transceiver.sender.streamIDs = streamIDs
    transceiver.direction = MediaDirection(sends: true, receives: transceiver.direction.receives)
  }

  /// Takes the track away; the transceiver no longer sends after the next exchange (WebRTC §5.1 removeTrack).
  public func removeTrack(of transceiver: JSEPTransceiver) {
    guard transceiver.sender.hasTrack else { return }
    transceiver.sender.hasTrack = false
    transceiver.direction = MediaDirection(sends: false, receives: transceiver.direction.receives)
  }

  /// Stops a transceiver for good. Where it has a section, or an offer that was made and isn't set gives it one, the next offer gives that
  /// up.
  public func stop(_ transceiver: JSEPTransceiver) {
    guard !transceiver.isStopped, !transceiver.isStopping else { return }
    transceiver.isStopping = true
    if !exchange.hasCreated(transceiver) { finishStoppingWithoutSection() }
  }

  /// The transceiver of a section.
  public func transceiver(mid: String) -> JSEPTransceiver? {
    transceiverSet[mid: mid]
  }

  /// Whether something waits for an offer of ours (WebRTC §4.7.3). Meaningful in the stable state.
  public var isNegotiationNeeded: Bool {
    guard signalingState == .stable else { return false }
    if wantsDataChannels && !sections.hasData { return true }
    return transceivers.contains { transceiver in
      if transceiver.isStopping && !transceiver.isStopped { return true }
      guard let index = transceiver.mLineIndex, let agreement = exchange.inForce,
        let local = agreement.local.media[safe: index],
        let remote = agreement.remote.media[safe: index]
      else { return !transceiver.isStopped }
      if transceiver.direction.sends, local.direction.sends, local.msids != transceiver.sender.msids
      {
        return true
      }
      return agreement.isLocalOffer
        ? isNewOffer(transceiver, local, remote) : isNewAnswer(transceiver, local, remote)
    }
  }

  /// Whether another offer of ours would ask for another direction than the last one did, and than the peer chose.
  private func isNewOffer(
    _ transceiver: JSEPTransceiver, _ local: MediaDescription, _ remote: MediaDescription
  ) -> Bool {
    let (_, wanted) = Self.narrowed(capabilities(transceiver), transceiver.direction) { $0 }
    return local.direction != wanted && remote.direction.reversed != wanted
  }

  /// Whether another answer to the peer's offer would have another direction.
  private func isNewAnswer(
    _ transceiver: JSEPTransceiver, _ local: MediaDescription, _ remote: MediaDescription
  ) -> Bool {
    let wanted = transceiver.direction.intersection(remote.direction.reversed)
    guard local.direction != wanted else { return false }
    // What the offered codecs don't serve can't be had by asking again.
    let matches = matches(in: remote, capabilities(transceiver))
    let possible = Self.narrowed(matches, wanted) { $0.capability }.1
    return matches.isEmpty || local.direction != possible
  }

  // MARK: Candidates

  /// Takes a candidate of the peer that arrived apart from its description. An empty text ends the candidates.
  /// - Returns: whether it is for our transport and should be given to ICE.
  public func addRemoteCandidate(_ text: String, mid: String? = nil, mLineIndex: Int? = nil)
    throws(NegotiationError) -> Bool
  {
    try exchange.addRemoteCandidate(text, mid: mid, mLineIndex: mLineIndex)
  }

  // MARK: For the other files of the negotiator

  func emit(_ event: NegotiationEvent) { events.append(event) }

  /// Ends those that were to stop and that no section stands for any more: no offer would speak of them.
  func finishStoppingWithoutSection() {
    for transceiver in transceivers
    where transceiver.isStopping && transceiver.mid == nil && !transceiver.negotiation.isDisplaced {
      finishStopping(transceiver)
    }
  }

  /// Ends a transceiver whose section, if it had one, is given up.
  func finishStopping(_ transceiver: JSEPTransceiver) {
    if transceiverSet.retire(transceiver) { emit(.transceiverStopped(transceiver)) }
  }

  /// A new description with our session lines; each has a higher version (RFC 9429 §5.2.2).
  func makeSessionPart() -> SessionDescription {
    SessionDescription(origin: origin.next())
  }

  /// The codecs of `section` that are in `capabilities`.
  func matches(in section: MediaDescription, _ capabilities: [CodecCapability]) -> [CodecMatch] {
    CodecMatch.all(
      in: sectionCodecs.codecs(of: section), capabilities: capabilities,
      rules: configuration.formatRules)
  }

  /// The sections that were read aren't those of the next exchange.
  func forgetSections() { sectionCodecs.forget() }

  func capabilities(_ transceiver: JSEPTransceiver) -> [CodecCapability] {
    transceiver.codecPreferences?.filter { $0.kind == transceiver.kind }
      ?? configuration.codecs(transceiver.kind)
  }

  /// The codecs that a section of the wanted direction can use. Where there is none, the section does less: receiving
  /// comes before sending.
  static func narrowed<Codec>(
    _ codecs: [Codec], _ wanted: MediaDirection, _ capability: (Codec) -> CodecCapability
  ) -> ([Codec], MediaDirection) {
    for limit in [MediaDirection.sendrecv, .recvonly, .sendonly] {
      let direction = wanted.intersection(limit)
      let usable = codecs.filter { capability($0).serves(direction) }
      if !usable.isEmpty { return (usable, direction) }
    }
    return (codecs, .inactive)
  }
}
