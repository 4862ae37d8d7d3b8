import SoraICE
import SoraMedia
import SoraSDP

/// Completing an exchange, whichever side answered.
extension JSEPNegotiator {
  /// Puts a complete exchange into force. Throws before anything changes.
  func finishExchange(
    local: SessionDescription, remote: SessionDescription, isOfferer: Bool, setup: SDPSetup?
  ) throws(NegotiationError) {
    let inUse = local.media.indices.filter {
      !local.media[$0].isRejected && !remote.media[$0].isRejected
    }
    let parameters =
      inUse.isEmpty ? nil : try SessionTransport.parameters(of: remote, sections: inUse)

    roles.settle(setup: setup, isOfferer: isOfferer)
    if isOfferer { numbers.learn(remote) }
    let active = Set(inUse)
    for index in local.media.indices {
      guard active.contains(index) else {
        if case .data = sections[index]?.use { wantsDataChannels = false }
        sections.free(index)
        continue
      }
      guard let transceiver = sections[index]?.transceiver else { continue }
      settle(transceiver, local.media[index], remote.media[index], isOfferer: isOfferer)
    }
    for transceiver in sections.takeDisplaced() { finishStopping(transceiver) }
    for transceiver in transceivers { transceiver.isFromRemoteOffer = false }

    var next = NegotiatedSession(transport: session?.transport, media: [], data: nil)
    if let parameters { next.transport = transport(parameters) }
    for index in inUse {
      guard let section = sections[index] else { continue }
      switch section.use {
      case .media(let transceiver):
        next.media.append(
          media(transceiver, index: index, local: local, remote: remote, isOfferer: isOfferer))
      case .data:
        next.data = NegotiatedData(
          mid: section.mid, index: index,
          remoteSCTPPort: remote.media[index].sctpPort ?? 5000,
          remoteMaximumMessageSize: remote.media[index].maximumMessageSize ?? 65536)
      case .free: break
      }
    }
    exchange.complete(local: local, remote: remote, isLocalOffer: isOfferer, session: next)
    forgetSections()
    emit(.signalingStateChanged(.stable))
    publishRemoteTracks()
    emit(.negotiated)
  }

  private func settle(
    _ transceiver: JSEPTransceiver, _ local: MediaDescription, _ remote: MediaDescription,
    isOfferer: Bool
  ) {
    let direction = local.direction.intersection(remote.direction.reversed)
    if transceiver.negotiation.setDirection(direction) { emit(.directionChanged(transceiver)) }
    if direction.sends {
      transceiver.hasEverSent = true
      let wanted = Set(remote.simulcastLayers(.recv).map(\.rid))
      let offered = Set(local.simulcastLayers(.send).map(\.rid))
      transceiver.sender.settle(agreed: offered.intersection(wanted))
    }
    guard isOfferer else { return }
    noteReceiver(transceiver, remote)
    transceiver.negotiation.learn(
      matches(in: remote, knownCapabilities(transceiver, transceiver.kind)))
  }

  // MARK: The result

  private func transport(_ parameters: SessionTransport.Parameters) -> NegotiatedTransport {
    NegotiatedTransport(
      remote: parameters.ice,
      isControlling: roles.isControlling(
        isLite: configuration.isICELite, isPeerLite: parameters.ice.isLite),
      remoteCandidates: parameters.candidates,
      endOfRemoteCandidates: parameters.endOfCandidates,
      isRemoteTrickling: parameters.isTrickling, remoteFingerprint: parameters.fingerprint,
      setup: roles.setup ?? .active)
  }

  private func media(
    _ transceiver: JSEPTransceiver, index: Int, local localDescription: SessionDescription,
    remote remoteDescription: SessionDescription, isOfferer: Bool
  ) -> NegotiatedMedia {
    let (local, remote) = (localDescription.media[index], remoteDescription.media[index])
    // Longer than 16 bytes, and so in the two-byte form, in some packets only (RFC 8285 §4.1.2).
    let allowsMixed =
      (local.allowsMixedExtensions || localDescription.allowsMixedExtensions)
      && (remote.allowsMixedExtensions || remoteDescription.allowsMixedExtensions)
    let direction = transceiver.currentDirection ?? .inactive
    let codecs = commonCodecs(transceiver, local: local, remote: remote, isOfferer: isOfferer)
    let feedback = SectionFeedback(local).intersection(SectionFeedback(remote))
    var result = NegotiatedMedia(
      mid: transceiver.mid ?? "", index: index, transceiverID: transceiver.id,
      kind: transceiver.kind, direction: direction, send: nil, receive: nil,
      extensions: commonExtensions(local: local, remote: remote, allowsMixed: allowsMixed))
    if direction.sends, let codec = codecs.map(\.send).primary {
      result.send = SendParameters(
        codec: codec, codecs: codecs.map(\.send), redundancy: codecs.map(\.send).redundancy,
        telephoneEvents: codecs.map(\.send).telephoneEvents(beside: codec),
        encodings: encodings(
          transceiver, remote: remote, hasRTX: codec.rtxPayloadType != nil),
        repair: repairs(of: remote, and: local), feedbackBySource: feedback.bySource,
        maximumBitrate: remote.maximumBitrate ?? remoteDescription.maximumBitrate, cname: cname,
        streamIDs: transceiver.sender.streamIDs, trackID: transceiver.sender.trackID,
        reducedSizeRTCP: local.rtcpReducedSize && remote.rtcpReducedSize)
    }
    if direction.receives {
      let offered = Set(remote.simulcastLayers(.send).map(\.rid))
      result.receive = ReceiveParameters(
        codecs: codecs.map(\.receive), sources: remote.remoteSources,
        streamIDs: transceiver.receiver.streamIDs, trackID: transceiver.receiver.trackID,
        rids: local.simulcastLayers(.recv).map(\.rid).filter { offered.contains($0) },
        repair: repairs(of: local, and: remote), feedbackBySource: feedback.bySource,
        referenceTimes: feedback.referenceTimes)
    }
    return result
  }

  /// The payload types that a description has for the repair packets in both.
  private func repairs(
    of section: MediaDescription, and other: MediaDescription
  ) -> NegotiatedRepair? {
    guard section.mediaKind == .video, let theirs = NegotiatedRepair(other.codecs) else {
      return nil
    }
    return NegotiatedRepair(section.codecs)?.common(with: theirs)
  }

  /// The codecs in both descriptions, in the order of the answer. We send with the payload types of the peer's
  /// description and receive with those of ours (RFC 3264 §5.1, §6.1).
  private func commonCodecs(
    _ transceiver: JSEPTransceiver, local: MediaDescription, remote: MediaDescription,
    isOfferer: Bool
  ) -> [(send: NegotiatedCodec, receive: NegotiatedCodec)] {
    let known = knownCapabilities(transceiver, transceiver.kind)
    let rules = configuration.formatRules
    let ours = matches(in: local, known)
    let theirs = matches(in: remote, known)
    return (isOfferer ? theirs : ours).compactMap { match in
      guard let our = ours.first(where: { $0.capability == match.capability }),
        let their = theirs.first(where: { $0.capability == match.capability })
      else { return nil }
      let feedback = FeedbackKinds(our.remote.feedback)
        .intersection(FeedbackKinds(their.remote.feedback))
      var send = their.negotiated(feedback)
      send.parameters = rules.sending(
        match.capability.name, local: our.remote.parameters, remote: their.remote.parameters)
      // RFC 7587 §7: packet times are attributes of the section, and meant for its codec.
      for key in ["ptime", "maxptime"] where transceiver.kind == .audio {
        send.parameters[key] = send.parameters[key] ?? remote.attribute(key)
      }
      var receive = our.negotiated(feedback)
      // What describes the stream itself comes from whoever sends it (RFC 6184 §8.2.2, RFC 7798 §7.2.2).
      receive.parameters.entries += their.remote.parameters.entries.filter {
        $0.key.lowercased().hasPrefix("sprop-")
      }
      return (send, receive)
    }
  }

  private func commonExtensions(
    local: MediaDescription, remote: MediaDescription, allowsMixed: Bool
  ) -> [NegotiatedHeaderExtension] {
    let theirs = Dictionary(
      remote.extensions.map { ($0.uri, $0) }, uniquingKeysWith: { first, _ in first })
    return local.extensions.compactMap { our in
      guard let their = theirs[our.uri], let id = UInt8(exactly: our.id) else { return nil }
      let direction = (our.direction ?? .sendrecv)
        .intersection((their.direction ?? .sendrecv).reversed)
      guard allowsMixed || our.uri != HeaderExtensionURI.dependencyDescriptor else { return nil }
      return direction == .inactive
        ? nil : NegotiatedHeaderExtension(id: id, uri: our.uri, direction: direction)
    }
  }

  private func encodings(
    _ transceiver: JSEPTransceiver, remote: MediaDescription, hasRTX: Bool
  ) -> [NegotiatedEncoding] {
    let paused = Set(remote.simulcastLayers(.recv).filter(\.isPaused).map(\.rid))
    let restrictions = Dictionary(
      remote.rids.filter { $0.direction == .recv }.map { ($0.id, $0.restrictions) },
      uniquingKeysWith: { first, _ in first })
    return transceiver.sender.encodings.map { encoding in
      NegotiatedEncoding(
        rid: encoding.rid, ssrc: encoding.ssrc, rtxSSRC: hasRTX ? encoding.rtxSSRC : nil,
        repairSSRC: encoding.repairSSRC,
        isPausedByPeer: encoding.rid.map { paused.contains($0) } ?? false,
        restrictions: encoding.rid.flatMap { restrictions[$0] } ?? [:])
    }
  }
}

extension CodecMatch {
  /// The matched codec as the description that was searched writes it.
  fileprivate func negotiated(_ feedback: FeedbackKinds) -> NegotiatedCodec {
    NegotiatedCodec(
      name: capability.name, clockRate: remote.clockRate, channels: remote.channels,
      payloadType: remote.payloadType, rtxPayloadType: retransmission,
      parameters: remote.parameters, feedback: feedback)
  }
}
