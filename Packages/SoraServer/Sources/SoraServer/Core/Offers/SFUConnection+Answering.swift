import SoraDTLS
import SoraICE
import SoraMedia
import SoraRTP
import SoraSDP
import SoraTransport

// Clients that bring the offer: it is answered once, and nothing is negotiated again.
extension SFUConnection {
  /// Makes what the offer is answered with.
  func take(_ offer: SFUClientOffer) {
    exchange.answer()
    switch offer.purpose {
    case .publish:
      for section in offer.sections { upload(section) }
    case .play:
      for section in offer.sections { addPlayerSection(section) }
    }
  }

  private func upload(_ section: OfferedSection) {
    guard section.isUsed, let kind = section.kind, request.takes(kind),
      let offered = section.codec(for: request)
    else { return }
    let isOpus = AudioCodecKind(encodingName: offered.codec.name) == .opus
    let codec = isOpus ? sections.opus : offered.codec
    let simulcast = request.usesSimulcast ? section.simulcast : SimulcastOffer()
    let extensions = RTPHeaderExtensionMap(
      section.extensions(of: [codec], isSimulcast: !simulcast.isEmpty)
        .map { (id: Int($0.id), uri: $0.uri) })
    let track = PublishedTrack(
      codec: codec, types: offered.types, mid: section.mid, publisherID: connectionID,
      trackID: SFUIdentifier.make(core.random), offered: simulcast)
    uplink.add(track)
    uplink.apply(
      PublishedTrack.Terms(
        isSending: true,
        extensions: extensions, sendsNack: offered.hasNack,
        feedback: CongestionFeedbackKind(
          agreed: Set(offered.feedback), hasNumbers: extensions.transportSequenceNumber != nil,
          bySource: section.hasFeedbackBySource)), rids: simulcast.layers.map(\.rid), to: track)
    rtcp.feedbackKind = uplink.feedback
  }

  private func addPlayerSection(_ section: OfferedSection) {
    guard section.isUsed, let kind = section.kind, let codec = section.codecs.first else { return }
    let place = sections.player.nextPlace(kind)
    if sections.player.streams.count <= place {
      sections.player.addStream(SFUIdentifier.make(core.random))
    }
    var parameters = RTPTrackSender.Parameters(
      kind: kind, ssrc: makeSSRC(), rtx: nil, mid: RTPExtensionText(section.mid),
      clockRate: codec.codec.clockRate, cname: sections.player.streams[place])
    parameters.extensions = RTPHeaderExtensionMap(
      section.extensions(of: section.codecs.map(\.codec), isSimulcast: false)
        .map { (id: Int($0.id), uri: $0.uri) })
    sections.player.append(
      PlayerSection(
        section, kind: kind, place: place,
        sender: RTPTrackSender(parameters, random: core.random), rtxSSRC: makeSSRC(),
        trackID: SFUIdentifier.make(core.random)))
  }

  /// Begins what was agreed on.
  ///
  /// - Returns: the answer.
  func answer(_ offer: SFUClientOffer, at now: Instant) -> String {
    follow(at: now)
    var player = 0
    let replies = offer.sections.map { section -> SFUReply.Section in
      guard section.isUsed, let kind = section.kind else { return .rejected }
      switch offer.purpose {
      case .publish:
        guard let track = uplink.tracks.first(where: { $0.mid == section.mid }),
          let codec = section.codec(for: request)
        else { return .rejected }
        return .receive(track, codec)
      case .play:
        guard player < sections.player.all.count else { return .rejected }
        defer { player += 1 }
        let taken = sections.player[player]
        return .send(
          taken, stream: sections.player.streams[taken.place], isAllowed: receives(kind))
      }
    }
    let text = SFUReply(
      exchange: exchange, offer: offer, sections: replies, ice: transport.ice.localParameters,
      candidates: transport.ice.localCandidates,
      fingerprint: core.configuration.certificate.fingerprint, request: request
    ).text
    start(offer.transport, at: now)
    return text
  }

  /// Shows a player what there is in the channel now.
  func follow(at now: Instant) {
    guard !sections.player.all.isEmpty else { return }
    let chosen = sections.player.choose(wantedTracks)
    // First all that goes, so that a track that moves is in one section only.
    for index in sections.player.indices {
      guard let old = sections.player[index].subscription, old.source !== chosen[index] else {
        continue
      }
      detach(old)
      sections.player[index].leave()
    }
    for index in sections.player.indices {
      guard let track = chosen[index], sections.player[index].subscription == nil else { continue }
      show(track, in: index, at: now)
    }
  }

  private func show(_ track: PublishedTrack, in index: Int, at now: Instant) {
    let section = sections.player[index]
    guard let codec = section.codec(for: track) else { return }
    section.sender.parameters.rtx = codec.types.rtx.map { (section.rtxSSRC, $0) }
    section.sender.parameters.clockRate = track.codec.clockRate
    let subscription = SubscribedTrack(
      source: track, subscriber: self, transport: transport, controller: downlink.controller,
      slot: downlink.nextSlot, section.sender, types: codec.types,
      followsSpotlight: track.kind == .audio && downlink.spotlight != nil,
      rewriter: section.rewriter?.following(track.stream, core.random)
        ?? PacketRewriter(for: track.stream, core.random))
    if track.isSimulcast { subscription.wish = wish(of: track) }
    downlink.add(subscription)
    track.add(subscription)
    sections.player[index].take(subscription)
    let isNew = subscription.apply(
      isActive: true, extensions: section.sender.parameters.extensions,
      isReportedBySource: section.offered.hasFeedbackBySource,
      acceptsNack: codec.hasNack && codec.types.rtx != nil,
      accepted: codec.types)
    if isNew, transport.isWritable { begin(subscription, at: now) }
  }

  /// Takes what the client trickles.
  ///
  /// - Returns: what to tell it where it starts ICE over; nil where it only adds candidates.
  func take(_ fragment: SDPFragment, at now: Instant) throws(SFUOfferError) -> SDPFragment? {
    guard let present = transport.remote else { throw .malformed("nothing is negotiated") }
    let ufrag = fragment.ufrag ?? present.ice.ufrag
    let isRestart =
      ufrag != present.ice.ufrag
      || (fragment.password ?? present.ice.password) != present.ice.password
    if isRestart {
      guard let password = fragment.password else { throw .malformed("ice-pwd is missing") }
      var renewed = present
      do throws(ICEError) {
        renewed.ice = try ICEParameters(
          ufrag: ufrag, password: password, isLite: present.ice.isLite)
      } catch {
        throw .malformed("\(error)")
      }
      // The agent answers new credentials with new ones of its own (RFC 8445 §9).
      transport.start(renewed, at: now)
      core.renamed(self)
    }
    let candidates = fragment.allCandidates
    dropped.tooManyCandidates += max(0, candidates.count - Self.mostCandidates)
    for text in candidates.prefix(Self.mostCandidates) {
      if let candidate = try? ICECandidate(parsing: text) {
        transport.addRemoteCandidate(candidate, at: now)
      } else {
        dropped.malformedCandidate += 1
      }
    }
    if fragment.endsCandidates { transport.endOfRemoteCandidates(at: now) }
    return isRestart ? iceFragment(answering: fragment) : nil
  }

  private static let mostCandidates = 64

  /// Our end of a restart (RFC 9725 §4.3.3).
  private func iceFragment(answering fragment: SDPFragment) -> SDPFragment {
    var answer = SDPFragment()
    answer.setFlag("ice-lite", true)
    answer.iceUfrag = transport.ice.localParameters.ufrag
    answer.icePassword = transport.ice.localParameters.password
    // Ours are everybody's in the bundle: they go with the section that the client names.
    if let first = fragment.media.first {
      var media = MediaDescription(
        kind: first.kind, port: 9, proto: first.proto, formats: first.formats)
      media.mid = first.mid
      media.candidates = transport.ice.localCandidates.map(\.sdp)
      media.endOfCandidates = true
      answer.media = [media]
    } else {
      answer.candidates = transport.ice.localCandidates.map(\.sdp)
      answer.endOfCandidates = true
    }
    return answer
  }
}
