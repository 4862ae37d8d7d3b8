import SoraICE
import SoraMedia
public import SoraSDP

/// Applying the peer's descriptions (RFC 9429 §5.6, §5.10, §5.11).
extension JSEPNegotiator {
  /// Applies an offer or an answer of the peer.
  ///
  /// An offer that crosses one of ours, or replaces the peer's own unanswered one, rolls that back first.
  public func setRemoteDescription(_ kind: DescriptionKind, _ description: SessionDescription)
    throws(NegotiationError)
  {
    try exchange.checkSetting(kind, of: .remote)
    do { try description.validate() } catch { throw .malformed(error) }
    switch kind {
    case .offer: try applyRemoteOffer(description)
    case .answer: try applyRemoteAnswer(description)
    }
  }

  // MARK: Offer

  private func applyRemoteOffer(_ offer: SessionDescription) throws(NegotiationError) {
    try (exchange.rollbackPoint?.sections ?? sections).check(offer)
    let review = OfferReview(
      configuration: configuration,
      acceptsDataChannels: configuration.acceptsDataChannels || wantsDataChannels)
    let (decisions, rejected) = try review.decide(offer, matches: matches(in:_:))
    let accepted = offer.media.indices.filter { index in
      switch decisions[index] {
      case .media, .data: true
      case .rejected, .unused: false
      }
    }
    var credentials: ICEParameters?
    if !accepted.isEmpty {
      let parameters = try SessionTransport.parameters(of: offer, sections: accepted)
      credentials = parameters.ice
      _ = try roles.answer(to: offer, preferred: configuration.answerSetup)
    }

    if signalingState != .stable {
      returnToStable()
      emit(.signalingStateChanged(.stable))
      emit(.rolledBack)
    }
    let before = rollbackPoint()
    numbers.learn(offer)
    for (index, section) in offer.media.enumerated() {
      take(section, index: index, decision: decisions[index])
    }
    exchange.begin(.remote, offer, rollback: before)
    finishStoppingWithoutSection()
    rejectedSections = rejected
    emit(.signalingStateChanged(.haveRemoteOffer))
    publishRemoteTracks()
    if let old = session?.transport, let credentials,
      (credentials.ufrag, credentials.password) != (old.remote.ufrag, old.remote.password)
    {
      emit(.remoteICERestarted)
    }
  }

  private func take(_ section: MediaDescription, index: Int, decision: OfferReview.Decision) {
    let old = sections[index]
    let mid = section.mid ?? old?.mid ?? ""
    switch decision {
    case .data: sections.set(index, to: section, mid: mid, use: .data)
    case .rejected, .unused: sections.set(index, to: section, mid: mid, use: .free)
    case .media(let kind):
      let transceiver: JSEPTransceiver
      if let known = old?.transceiver, known.mid == mid, known.kind == kind, !known.isStopped {
        transceiver = known
      } else {
        // The section may be new, or one that the peer took away from another transceiver.
        transceiver = associate(kind, peerReceives: section.direction.receives)
      }
      sections.set(index, to: section, mid: mid, use: .media(transceiver))
      learnPayloadTypes(transceiver, section)
      if configuration.sendsSimulcast {
        transceiver.sender.adopt(section.simulcastLayers(.recv)) {
          identifiers.makeEncoding(rid: nil)
        }
      }
      noteReceiver(transceiver, section)
    }
  }

  /// RFC 9429 §5.10: a transceiver that waits for a section, where the peer would receive its track, else a new one.
  private func associate(_ kind: MediaKind, peerReceives: Bool) -> JSEPTransceiver {
    if peerReceives, let waiting = transceiverSet.associable(kind) { return waiting }
    let transceiver = addTransceiver(kind, direction: .recvonly)
    transceiver.isFromRemoteOffer = true
    emit(.transceiverAdded(transceiver))
    return transceiver
  }

  private func learnPayloadTypes(_ transceiver: JSEPTransceiver, _ section: MediaDescription) {
    let matches = matches(in: section, capabilities(transceiver))
    transceiver.negotiation.forgetPayloadTypes()
    transceiver.negotiation.learn(matches)
    for match in matches { numbers.learn(match.capability, match.payloadTypes) }
  }

  // MARK: Answer

  private func applyRemoteAnswer(_ answer: SessionDescription) throws(NegotiationError) {
    guard let offer = exchange.localOffer else { return }
    guard answer.media.count == offer.media.count else {
      throw .sectionMismatch(
        index: min(answer.media.count, offer.media.count),
        detail: "the answer must have as many sections as the offer, \(offer.media.count)")
    }
    var setup: SDPSetup?
    let inUse = answer.media.indices.filter { !answer.media[$0].isRejected }
    for (index, pair) in zip(offer.media, answer.media).enumerated() {
      let (offered, answered) = pair
      if answered.isRejected { continue }
      guard offered.kind == answered.kind, answered.mid == nil || answered.mid == offered.mid else {
        throw .sectionMismatch(
          index: index, detail: "the answer has another kind or mid than the offer")
      }
      if offered.isRejected {
        throw .sectionMismatch(
          index: index, detail: "the offer gave it up and the answer accepts it")
      }
      guard inUse.count == 1 || answer.bundle?.contains(offered.mid ?? "") == true else {
        throw .sectionMismatch(
          index: index, detail: "the answer leaves it out of the BUNDLE group: one transport only")
      }
      setup = try TransportRoles.opposite(of: answered.setup ?? answer.setup ?? .active)
      guard let kind = answered.mediaKind else { continue }
      guard answered.rtcpMux else {
        throw .sectionMismatch(index: index, detail: "the answer has no a=rtcp-mux")
      }
      if matches(in: answered, knownCapabilities(sections[index]?.transceiver, kind)).isEmpty {
        throw .sectionMismatch(
          index: index,
          detail: "the answer accepts none of the offered codecs: "
            + answered.codecs.prefix(32).map(\.description).joined(separator: ", "))
      }
    }
    try finishExchange(local: offer, remote: answer, isOfferer: true, setup: setup)
  }

  /// All codecs a section of a transceiver may hold, preferred ones first.
  func knownCapabilities(_ transceiver: JSEPTransceiver?, _ kind: MediaKind) -> [CodecCapability] {
    let preferred = transceiver?.codecPreferences ?? []
    return preferred + configuration.codecs(kind).filter { !preferred.contains($0) }
  }
}
