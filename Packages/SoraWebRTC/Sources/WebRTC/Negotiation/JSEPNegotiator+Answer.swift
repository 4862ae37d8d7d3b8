import SoraMedia
public import SoraSDP

/// Judging an offer and making an answer (RFC 9429 §5.3, §5.10).
extension JSEPNegotiator {
  /// What becomes of a section of the peer's offer.
  enum Decision {
    case media(MediaKind)
    case data
    case rejected(SectionRejection)
    /// The peer itself rejects it.
    case unused
  }

  /// Judges each section, and tells which are turned down. Throws where the offer holds sections in use and none can be
  /// accepted.
  func decide(
    _ offer: SessionDescription
  ) throws(NegotiationError) -> (decisions: [Decision], rejected: [NegotiationError.Rejected]) {
    let inUse = offer.media.count { !$0.isRejected }
    let bundle = offer.bundle.map { Set($0) }
    var decisions: [Decision] = []
    var rejected: [NegotiationError.Rejected] = []
    var accepted = 0
    for (index, section) in offer.media.enumerated() {
      let isAlone = bundle == nil && inUse == 1
      let isBundled = isAlone || section.mid.map { bundle?.contains($0) ?? false } ?? false
      let decision = decide(section, isBundled: isBundled)
      decisions.append(decision)
      switch decision {
      case .media, .data: accepted += 1
      case .rejected(let reason):
        rejected.append(
          .init(index: index, kind: section.kind, mid: section.mid, reason: reason))
      case .unused: break
      }
    }
    // What is rejected of itself is no failure: when everybody has left, nothing is in use.
    if accepted == 0, inUse > 0 { throw .nothingAcceptable(rejected) }
    return (decisions, rejected)
  }

  private func decide(_ section: MediaDescription, isBundled: Bool) -> Decision {
    if section.isRejected { return .unused }
    if section.kind == "application" {
      // RFC 8841 §4; the older DTLS/SCTP with sctpmap is not spoken any more.
      guard section.proto == "UDP/DTLS/SCTP" || section.proto == "TCP/DTLS/SCTP",
        section.formats.first == "webrtc-datachannel"
      else { return .rejected(.unsupportedProtocol(section.proto)) }
      guard configuration.acceptsDataChannels || wantsDataChannels else {
        return .rejected(.dataChannelsNotAccepted)
      }
      return isBundled ? .data : .rejected(.notBundled)
    }
    guard let kind = section.mediaKind else { return .rejected(.unsupportedKind(section.kind)) }
    // RFC 9429 §5.1.2 lists the profiles that mean the same; DTLS is required by the fingerprint anyway.
    guard section.proto.hasSuffix("RTP/SAVPF") || section.proto.hasSuffix("RTP/SAVP") else {
      return .rejected(.unsupportedProtocol(section.proto))
    }
    guard isBundled else { return .rejected(.notBundled) }
    guard section.rtcpMux else { return .rejected(.noRTCPMux) }
    let supported = capabilities(kind)
    let matches = matches(in: section, supported)
    guard !matches.isEmpty else {
      return .rejected(
        .noCommonCodec(
          offered: section.codecs.prefix(32).map(\.description), supported: supported.map(\.label)))
    }
    return .media(kind)
  }

  /// Answers the peer's offer that was applied last.
  ///
  /// Payload types and header extension ids are those of the offer. Nothing changes until the answer is applied
  /// with ``setLocalDescription(_:_:)``.
  public func createAnswer() throws(NegotiationError) -> SessionDescription {
    guard signalingState == .haveRemoteOffer, let offer = exchange.remoteOffer else {
      throw .invalidState(operation: "createAnswer", state: signalingState)
    }
    let setup = try roles.answer(to: offer, preferred: configuration.answerSetup)
    var description = makeSessionPart()
    var uses: [MediaSection.Use] = []
    var accepted: Set<String> = []
    for (slot, section) in zip(sections.list, offer.media) {
      var answer: MediaDescription?
      switch slot.use {
      case .media(let transceiver):
        answer = answerSection(transceiver, to: section, mid: slot.mid, setup: setup)
      case .data:
        answer = dataSection(mid: slot.mid, proto: section.proto, setup: setup)
      case .free: break
      }
      if let answer {
        description.media.append(answer)
        uses.append(slot.use)
        accepted.insert(slot.mid)
      } else {
        description.media.append(
          rejectedSection(
            kind: section.kind, proto: section.proto, formats: section.formats,
            mid: section.mid))
        uses.append(.free)
      }
    }
    // RFC 9143 §7.3: the answer's group holds what is accepted, in the order of the offer's group.
    let bundle = offer.bundle.map { group in group.filter { accepted.contains($0) } } ?? []
    let allowMixed =
      offer.allowsMixedExtensions || offer.media.contains { $0.allowsMixedExtensions }
    finish(&description, bundle: bundle, allowMixed: allowMixed)
    exchange.create(.answer, description, uses: uses)
    return description
  }

  private func answerSection(
    _ transceiver: JSEPTransceiver, to offer: MediaDescription, mid: String, setup: SDPSetup
  ) -> MediaDescription? {
    guard !transceiver.isStopping, !transceiver.isStopped else { return nil }
    let preferences = capabilities(transceiver)
    var matches = matches(in: offer, preferences)
    guard !matches.isEmpty else { return nil }
    if transceiver.codecPreferences != nil {
      let rank = { (match: CodecMatch) in preferences.firstIndex(of: match.capability) ?? .max }
      matches.sort { rank($0) < rank($1) }
    }
    let direction: MediaDirection
    (matches, direction) = Self.narrowed(
      matches, transceiver.direction.intersection(offer.direction.reversed)
    ) { $0.capability }
    let supported = extensionURIs(transceiver.kind)
    var seen: Set<String> = []
    let extensions: [SDPExtension] = offer.extensions.compactMap { item in
      guard (1...14).contains(item.id), supported.contains(item.uri),
        seen.insert(item.uri).inserted
      else { return nil }
      return SDPExtension(id: item.id, direction: item.direction?.reversed, uri: item.uri)
    }
    var simulcast = SimulcastLines()
    if direction.sends, configuration.sendsSimulcast {
      simulcast.send = offer.simulcastLayers(.recv).map { layer in
        let own = transceiver.sender.encodings.first { $0.rid == layer.rid }
        return SDPSimulcast.Format(
          rid: layer.rid, isPaused: layer.isPaused || !(own?.isActive ?? true))
      }
    }
    if direction.receives, configuration.receivesSimulcast {
      simulcast.receive = offer.simulcastLayers(.send)
    }
    var codecs = matches.flatMap(\.answer)
    if transceiver.kind == .video, configuration.acceptsRepair {
      codecs += NegotiatedRepair.answer(to: offer.codecs)
    }
    let feedback = SectionFeedback(offer).intersection(
      SectionFeedback(referenceTimes: configuration.usesReferenceTimes, bySource: true))
    return mediaSection(
      transceiver, mid: mid, proto: offer.proto, direction: direction,
      codecs: codecs, extensions: extensions, setup: setup,
      simulcast: simulcast, reducedSizeRTCP: offer.rtcpReducedSize, feedback: feedback)
  }
}
