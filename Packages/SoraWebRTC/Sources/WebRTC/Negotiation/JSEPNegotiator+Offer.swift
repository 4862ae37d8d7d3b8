import SoraMedia
public import SoraSDP

/// Making an offer (RFC 9429 §5.2).
extension JSEPNegotiator {
  /// Describes what the application wants: all sections there are, then new ones for transceivers without one.
  ///
  /// Nothing changes until the offer is applied with ``setLocalDescription(_:_:)``.
  public func createOffer() throws(NegotiationError) -> SessionDescription {
    guard signalingState == .stable || signalingState == .haveLocalOffer else {
      throw .invalidState(operation: "createOffer", state: signalingState)
    }
    var description = makeSessionPart()
    var uses: [MediaSection.Use] = []
    var bundle: [String] = []
    var mids = sections.mids
    var waiting = transceiverSet.withoutSection
    var needsData = wantsDataChannels && !sections.hasData

    func add(_ section: MediaDescription, _ use: MediaSection.Use) {
      description.media.append(section)
      uses.append(use)
      if !section.isRejected, let mid = section.mid { bundle.append(mid) }
    }
    func addWaiting() {
      let transceiver = waiting.removeFirst()
      add(offerSection(transceiver, mid: mids.next()), .media(transceiver))
    }
    func addData() {
      needsData = false
      add(writer.dataSection(mid: mids.next(), setup: .actpass), .data)
    }

    for old in sections.list {
      switch old.use {
      case .media(let transceiver) where !transceiver.isStopping && !transceiver.isStopped:
        add(offerSection(transceiver, mid: old.mid), old.use)
      case .data:
        add(writer.dataSection(mid: old.mid, setup: .actpass), .data)
      case .free where !waiting.isEmpty:
        // RFC 9429 §5.2.2: a section that both sides gave up is used again, with a new mid.
        addWaiting()
      case .free where needsData: addData()
      case .media, .free:
        add(
          writer.rejectedSection(
            kind: old.kind, proto: old.proto, formats: old.formats, mid: old.mid), .free)
      }
    }
    while !waiting.isEmpty { addWaiting() }
    if needsData { addData() }
    finish(&description, bundle: bundle, allowMixed: true)
    exchange.create(.offer, description, uses: uses)
    return description
  }

  private func offerSection(_ transceiver: JSEPTransceiver, mid: String) -> MediaDescription {
    let (usable, direction) = Self.narrowed(capabilities(transceiver), transceiver.direction) { $0 }
    var codecs = numbers.codecs(usable, negotiated: transceiver.negotiation.payloadTypes)
      .withRedundancy(of: "opus")
    if transceiver.kind == .video, configuration.offersRepair {
      codecs += numbers.codecs(CodecCapability.repair, negotiated: [:])
    }
    let extensions = numbers.extensions(configuration.extensions(transceiver.kind))
    var simulcast = MediaSectionContent.Simulcast()
    if direction.sends {
      simulcast.send = transceiver.sender.encodings.compactMap { encoding in
        encoding.rid.map { SDPSimulcast.Format(rid: $0, isPaused: !encoding.isActive) }
      }
    }
    if direction.receives {
      simulcast.receive = transceiver.receiveRids.map { SDPSimulcast.Format(rid: $0) }
    }
    return mediaSection(
      transceiver,
      MediaSectionContent(
        mid: mid, direction: direction, codecs: codecs, extensions: extensions, setup: .actpass,
        simulcast: simulcast, reducedSizeRTCP: true,
        feedback: SectionFeedback(
          referenceTimes: configuration.usesReferenceTimes,
          bySource: configuration.offersFeedbackBySource)))
  }
}
