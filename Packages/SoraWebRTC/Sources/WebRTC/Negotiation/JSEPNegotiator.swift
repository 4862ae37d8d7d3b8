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
  public internal(set) var signalingState = SignalingState.stable
  /// Those that are not stopped, in order of creation.
  public internal(set) var transceivers: [JSEPTransceiver] = []
  /// What the last completed exchange settled; nil before the first.
  public internal(set) var session: NegotiatedSession?
  /// The sections of the peer's last offer that are turned down, and why.
  public internal(set) var rejectedSections: [NegotiationError.Rejected] = []
  /// Whether an offer of ours should have a data channel section.
  public var wantsDataChannels = false
  /// Our candidates so far, each `candidate:...`; written into descriptions.
  public var localCandidates: [String] = []
  /// Whether ``localCandidates`` is complete.
  public var endOfLocalCandidates = false
  /// The CNAME of all our sources (RFC 8834 §4.9).
  public var cname: String { identifiers.cname }

  /// A section of the session, by m-line index.
  struct Slot {
    enum Use {
      case media(JSEPTransceiver)
      case data
      /// Rejected or stopped: the next offer may use it for something else.
      case free
    }

    var mid: String
    var kind: String
    var proto: String
    var formats: [String]
    var use: Use

    init(_ section: MediaDescription, mid: String, use: Use) {
      self.mid = mid
      kind = section.kind
      proto = section.proto
      formats = section.formats
      self.use = use
    }

    var transceiver: JSEPTransceiver? {
      if case .media(let transceiver) = use { transceiver } else { nil }
    }
  }

  /// What a rollback returns to.
  struct Snapshot {
    var slots: [Slot]
    var transceivers: [(JSEPTransceiver, JSEPTransceiver.Saved)]
    var numbers: RTPSessionNumbers
  }

  /// The description created last, with the use of each of its sections.
  struct Created {
    var kind: DescriptionKind
    var description: SessionDescription
    var uses: [Slot.Use]
  }

  var identifiers: LocalIdentifiers
  var slots: [Slot] = []
  var snapshot: Snapshot?
  var created: Created?
  /// Transceivers that the offer under way displaces; they stop with the answer.
  var displaced: [JSEPTransceiver] = []
  var currentLocal: SessionDescription?
  var currentRemote: SessionDescription?
  var pendingLocal: SessionDescription?
  var pendingRemote: SessionDescription?
  /// Whether the current local description is an offer.
  var currentLocalIsOffer = false
  var numbers = RTPSessionNumbers()
  private var sectionCodecs = SectionCodecs()
  var roles = TransportRoles()
  var remoteTracks = RemoteTracks()
  private var events: [NegotiationEvent] = []
  private var nextTransceiverID = 0
  private var origin: SessionOrigin

  public init(configuration: NegotiationConfiguration, random: RandomSource) {
    self.configuration = configuration
    identifiers = LocalIdentifiers(random: random)
    origin = SessionOrigin(random: random)
  }

  // MARK: Descriptions

  /// Our description in force or under way, with the candidates so far.
  public var localDescription: SessionDescription? {
    guard var description = pendingLocal ?? currentLocal else { return nil }
    writeCandidates(&description)
    return description
  }

  /// The peer's description in force or under way, with the candidates it added later.
  public var remoteDescription: SessionDescription? { pendingRemote ?? currentRemote }

  /// The next thing to tell the application, or nil.
  public func nextEvent() -> NegotiationEvent? { events.isEmpty ? nil : events.removeFirst() }

  /// Ends everything: no description can be made or applied any more.
  public func close() {
    guard signalingState != .closed else { return }
    for transceiver in transceivers {
      transceiver.currentDirection = nil
      transceiver.isStopped = true
    }
    setState(.closed)
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
    let transceiver = JSEPTransceiver(
      id: nextTransceiverID, kind: kind, direction: direction,
      sender: SenderDescription(
        hasTrack: trackID != nil, trackID: trackID ?? identifiers.makeID(), streamIDs: streamIDs,
        encodings: encodings),
      receiverTrackID: identifiers.makeID())
    nextTransceiverID += 1
    transceivers.append(transceiver)
    return transceiver
  }

  /// Gives a track to the first transceiver of its kind that never sent, or adds one (WebRTC §5.1 addTrack).
  @discardableResult
  public func addTrack(_ kind: MediaKind, trackID: String, streamIDs: [String]) -> JSEPTransceiver {
    let reusable = transceivers.first {
      $0.kind == kind && !$0.isStopping && !$0.isDisplaced && !$0.sender.hasTrack
        && !$0.hasEverSent
    }
    guard let reusable else {
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

  /// Stops a transceiver for good. Where it has a section, the next offer gives that up.
  public func stop(_ transceiver: JSEPTransceiver) {
    guard !transceiver.isStopped, !transceiver.isStopping else { return }
    transceiver.isStopping = true
    if transceiver.mid == nil && !transceiver.isDisplaced { finishStopping(transceiver) }
  }

  /// The transceiver of a section.
  public func transceiver(mid: String) -> JSEPTransceiver? {
    transceivers.first { $0.mid == mid }
  }

  /// Whether something waits for an offer of ours (WebRTC §4.7.3). Meaningful in the stable state.
  public var isNegotiationNeeded: Bool {
    guard signalingState == .stable else { return false }
    let hasData = slots.contains { if case .data = $0.use { true } else { false } }
    if wantsDataChannels && !hasData { return true }
    return transceivers.contains { transceiver in
      if transceiver.isStopping && !transceiver.isStopped { return true }
      guard let index = transceiver.mLineIndex, let local = currentLocal?.media[safe: index],
        let remote = currentRemote?.media[safe: index]
      else { return !transceiver.isStopped }
      let wanted = transceiver.direction
      if wanted.sends && local.direction.sends && local.msids != msids(of: transceiver) {
        return true
      }
      if currentLocalIsOffer {
        return local.direction != wanted && remote.direction.reversed != wanted
      }
      return local.direction != wanted.intersection(remote.direction.reversed)
    }
  }

  // MARK: Candidates

  /// Takes a candidate of the peer that arrived apart from its description. An empty text ends the candidates.
  /// - Returns: whether it is for our transport and should be given to ICE.
  public func addRemoteCandidate(_ text: String, mid: String? = nil, mLineIndex: Int? = nil)
    throws(NegotiationError) -> Bool
  {
    guard var remote = remoteDescription else {
      throw .invalidState(operation: "addRemoteCandidate", state: signalingState)
    }
    let index: Int
    if let mid, !mid.isEmpty {
      guard let found = remote.index(ofMid: mid) else { throw .unknownSection("\"\(mid)\"") }
      index = found
    } else {
      index = mLineIndex ?? 0
    }
    guard remote.media.indices.contains(index) else { throw .unknownSection("\(index)") }
    guard !remote.media[index].isRejected else { return false }
    if text.isEmpty {
      remote.media[index].endOfCandidates = true
    } else if remote.media[index].candidates.count < SessionTransport.maximumCandidates {
      let body = text.hasPrefix("a=") ? String(text.dropFirst(2)) : text
      guard !remote.media[index].candidates.contains(body) else { return true }
      remote.media[index].append(
        attribute: "candidate",
        body.hasPrefix("candidate:") ? String(body.dropFirst(10)) : body)
    } else {
      return false
    }
    if pendingRemote != nil { pendingRemote = remote } else { currentRemote = remote }
    return true
  }

  // MARK: For the other files of the negotiator

  func emit(_ event: NegotiationEvent) { events.append(event) }

  func setState(_ state: SignalingState) {
    guard signalingState != state else { return }
    signalingState = state
    emit(.signalingStateChanged(state))
  }

  func finishStopping(_ transceiver: JSEPTransceiver) {
    guard !transceiver.isStopped else { return }
    transceiver.isStopped = true
    transceiver.isStopping = false
    transceiver.mid = nil
    transceiver.mLineIndex = nil
    transceiver.currentDirection = nil
    transceiver.isDisplaced = false
    transceiver.isRemoteSending = false
    transceiver.receiver.streamIDs = []
    transceivers.removeAll { $0 === transceiver }
    emit(.transceiverStopped(transceiver))
  }

  /// A new description with our session lines; each has a higher version (RFC 9429 §5.2.2).
  func makeSessionPart() -> SessionDescription {
    SessionDescription(origin: origin.next())
  }

  /// The mid for a new section: the lowest number that no section has.
  func makeMid(avoiding used: inout Set<String>) -> String {
    var number = 0
    while !used.insert("\(number)").inserted { number += 1 }
    return "\(number)"
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
      ?? capabilities(transceiver.kind)
  }

  func capabilities(_ kind: MediaKind) -> [CodecCapability] {
    kind == .audio ? configuration.audioCodecs : configuration.videoCodecs
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

  func extensionURIs(_ kind: MediaKind) -> [String] {
    kind == .audio ? configuration.audioExtensions : configuration.videoExtensions
  }
}

extension MediaDescription {
  /// Port 0 means rejected, unless the section lives on the transport of its group (RFC 9143 §6).
  var isRejected: Bool { port == 0 && !isBundleOnly }
}

extension Array {
  subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
