import SoraMedia
public import SoraSDP

/// Making an answer (RFC 9429 §5.3).
extension JSEPNegotiator {
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
        answer = writer.dataSection(mid: slot.mid, proto: section.proto, setup: setup)
      case .free: break
      }
      if let answer {
        description.media.append(answer)
        uses.append(slot.use)
        accepted.insert(slot.mid)
      } else {
        description.media.append(
          writer.rejectedSection(
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
    let supported = configuration.extensions(transceiver.kind)
    var seen: Set<String> = []
    let extensions: [SDPExtension] = offer.extensions.compactMap { item in
      guard (1...14).contains(item.id), supported.contains(item.uri),
        seen.insert(item.uri).inserted
      else { return nil }
      return SDPExtension(id: item.id, direction: item.direction?.reversed, uri: item.uri)
    }
    var simulcast = MediaSectionContent.Simulcast()
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
      transceiver,
      MediaSectionContent(
        mid: mid, proto: offer.proto, direction: direction, codecs: codecs, extensions: extensions,
        setup: setup, simulcast: simulcast, reducedSizeRTCP: offer.rtcpReducedSize,
        feedback: feedback))
  }
}
