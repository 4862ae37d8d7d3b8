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
    var uses: [Slot.Use] = []
    var bundle: [String] = []
    var usedMids = Set(slots.map(\.mid))
    var waiting = transceivers.filter { $0.mid == nil && !$0.isStopped && !$0.isStopping }
    var hasData = false

    func add(_ section: MediaDescription, _ use: Slot.Use) {
      description.media.append(section)
      uses.append(use)
      if !section.isRejected, let mid = section.mid { bundle.append(mid) }
    }
    func addWaiting() {
      let transceiver = waiting.removeFirst()
      add(
        offerSection(transceiver, mid: makeMid(avoiding: &usedMids)), .media(transceiver))
    }

    for slot in slots {
      switch slot.use {
      case .media(let transceiver) where !transceiver.isStopping && !transceiver.isStopped:
        add(offerSection(transceiver, mid: slot.mid), slot.use)
      case .data:
        hasData = true
        add(dataSection(mid: slot.mid, setup: .actpass), .data)
      case .free where !waiting.isEmpty:
        // RFC 9429 §5.2.2: a section that both sides gave up is used again, with a new mid.
        addWaiting()
      case .media, .free:
        add(
          rejectedSection(
            kind: slot.kind, proto: slot.proto, formats: slot.formats, mid: slot.mid), .free)
      }
    }
    while !waiting.isEmpty { addWaiting() }
    if wantsDataChannels && !hasData {
      add(dataSection(mid: makeMid(avoiding: &usedMids), setup: .actpass), .data)
    }
    finish(&description, bundle: bundle, allowMixed: true)
    created = Created(kind: .offer, description: description, uses: uses)
    return description
  }

  private func offerSection(_ transceiver: JSEPTransceiver, mid: String) -> MediaDescription {
    let (usable, direction) = Self.narrowed(capabilities(transceiver), transceiver.direction) { $0 }
    let codecs = numbers.codecs(usable, negotiated: transceiver.payloadTypes)
    let extensions = numbers.extensions(extensionURIs(transceiver.kind))
    var simulcast = SimulcastLines()
    if direction.sends {
      simulcast.send = transceiver.sender.encodings.compactMap { encoding in
        encoding.rid.map { SDPSimulcast.Format(rid: $0, isPaused: !encoding.isActive) }
      }
    }
    if direction.receives {
      simulcast.receive = transceiver.receiveRids.map { SDPSimulcast.Format(rid: $0) }
    }
    return mediaSection(
      transceiver, mid: mid, direction: direction,
      codecs: codecs.withRedundancy(of: "opus"),
      extensions: extensions, setup: .actpass, simulcast: simulcast, reducedSizeRTCP: true)
  }
}
