import SoraMedia
import SoraSDP

/// How single sections are written.
extension JSEPNegotiator {
  /// The layers of a simulcast section, as they are written.
  struct SimulcastLines {
    var send: [SDPSimulcast.Format] = []
    var receive: [SDPSimulcast.Format] = []
    var isEmpty: Bool { send.isEmpty && receive.isEmpty }
  }

  /// An audio or video section in use.
  func mediaSection(
    _ transceiver: JSEPTransceiver, mid: String, proto: String = "UDP/TLS/RTP/SAVPF",
    direction: MediaDirection, codecs: [SDPCodec], extensions: [SDPExtension], setup: SDPSetup,
    simulcast: SimulcastLines, reducedSizeRTCP: Bool, feedback: SectionFeedback
  ) -> MediaDescription {
    let codecs = feedback.filtered(codecs)
    var section = MediaDescription(
      kind: transceiver.kind.rawValue, proto: proto, formats: codecs.map { "\($0.payloadType)" })
    section.lines.reserveCapacity(48)
    section.lines.append(SDPLine(type: "c", value: "IN IP4 0.0.0.0"))
    if direction.receives, let limit = transceiver.receiveBitrateLimit {
      section.lines.append(SDPLine(type: "b", value: "AS:\((limit + 999) / 1000)"))
      section.lines.append(SDPLine(type: "b", value: "TIAS:\(limit)"))
    }
    section.append(attribute: "rtcp", "9 IN IP4 0.0.0.0")
    writeTransport(&section, setup: setup)
    section.append(attribute: "mid", mid)
    for item in extensions { section.append(item) }
    section.append(attribute: direction.rawValue)
    if direction.sends {
      for msid in msids(of: transceiver) { section.append(msid) }
    }
    section.append(attribute: "rtcp-mux")
    if reducedSizeRTCP { section.append(attribute: "rtcp-rsize") }
    for codec in codecs { section.append(codec) }
    feedback.write(to: &section)
    if simulcast.isEmpty {
      if direction.sends { writeSources(transceiver, codecs, &section) }
    } else {
      writeSimulcast(simulcast, &section)
    }
    return section
  }

  /// A data channel section in use (RFC 8841 §5).
  func dataSection(
    mid: String, proto: String = "UDP/DTLS/SCTP", setup: SDPSetup
  ) -> MediaDescription {
    var section = MediaDescription(
      kind: "application", proto: proto, formats: ["webrtc-datachannel"])
    section.lines.append(SDPLine(type: "c", value: "IN IP4 0.0.0.0"))
    writeTransport(&section, setup: setup)
    section.append(attribute: "mid", mid)
    section.append(attribute: "sctp-port", "\(configuration.sctpPort)")
    section.append(attribute: "max-message-size", "\(configuration.maximumMessageSize)")
    return section
  }

  /// A section that is turned down or given up (RFC 9429 §5.3.1).
  func rejectedSection(kind: String, proto: String, formats: [String], mid: String?)
    -> MediaDescription
  {
    var section = MediaDescription(
      kind: kind, port: 0, proto: proto, formats: Array(formats.prefix(1)))
    section.lines.append(SDPLine(type: "c", value: "IN IP4 0.0.0.0"))
    if let mid { section.append(attribute: "mid", mid) }
    section.append(attribute: MediaDirection.inactive.rawValue)
    return section
  }

  /// The streams of a sender's track (RFC 9429 §5.2.1); `-` says that it is in none (RFC 8830 §2).
  func msids(of transceiver: JSEPTransceiver) -> [SDPMsid] {
    let streams = transceiver.sender.streamIDs.isEmpty ? ["-"] : transceiver.sender.streamIDs
    return streams.map { SDPMsid(stream: $0, track: transceiver.sender.trackID) }
  }

  /// Puts our candidates into the section that stands for the transport: the first in use.
  func writeCandidates(_ description: inout SessionDescription) {
    guard let index = description.media.firstIndex(where: { !$0.isRejected }) else { return }
    description.media[index].candidates = localCandidates
    description.media[index].endOfCandidates = endOfLocalCandidates
  }

  /// The lines of the session part that offers and answers have in common.
  func finish(_ description: inout SessionDescription, bundle: [String], allowMixed: Bool) {
    if !bundle.isEmpty { description.bundle = bundle }
    if allowMixed { description.allowsMixedExtensions = true }
    description.msidSemantic = " WMS *"
    if configuration.isICELite { description.isICELite = true }
    writeCandidates(&description)
  }

  private func writeTransport(_ section: inout MediaDescription, setup: SDPSetup) {
    section.append(attribute: "ice-ufrag", configuration.iceUfrag)
    section.append(attribute: "ice-pwd", configuration.icePassword)
    if configuration.tricklesICE { section.append(attribute: "ice-options", "trickle") }
    for fingerprint in configuration.fingerprints { section.append(fingerprint) }
    section.append(attribute: "setup", setup.rawValue)
  }

  /// RFC 5576; not written beside rids, whose sources are found by the header extension (RFC 8853 §5.5).
  private func writeSources(
    _ transceiver: JSEPTransceiver, _ codecs: [SDPCodec], _ section: inout MediaDescription
  ) {
    guard let encoding = transceiver.sender.encodings.first else { return }
    var sources = [encoding.ssrc]
    if codecs.contains(where: { $0.associatedPayloadType != nil }) {
      sources.append(encoding.rtxSSRC)
      section.append(SDPSourceGroup(semantics: "FID", ssrcs: sources))
    }
    if NegotiatedRepair(codecs)?.flexible != nil {
      let repair = repairSSRC(of: transceiver)
      section.append(SDPSourceGroup(semantics: "FEC-FR", ssrcs: [encoding.ssrc, repair]))
      sources.append(repair)
    }
    for ssrc in sources {
      section.append(SDPSource(ssrc: ssrc, name: "cname", value: cname))
      for msid in msids(of: transceiver) {
        section.append(SDPSource(ssrc: ssrc, name: "msid", value: msid.attributeValue))
      }
    }
  }

  /// The source of a transceiver's FlexFEC, the same once it has one.
  private func repairSSRC(of transceiver: JSEPTransceiver) -> UInt32 {
    if let known = transceiver.sender.encodings.first?.repairSSRC { return known }
    let ssrc = identifiers.makeSSRC()
    transceiver.sender.encodings[0].repairSSRC = ssrc
    return ssrc
  }

  private func writeSimulcast(_ simulcast: SimulcastLines, _ section: inout MediaDescription) {
    for format in simulcast.send { section.append(SDPRid(id: format.rid, direction: .send)) }
    for format in simulcast.receive { section.append(SDPRid(id: format.rid, direction: .recv)) }
    section.append(
      SDPSimulcast(
        send: simulcast.send.map { [$0] }, receive: simulcast.receive.map { [$0] }))
  }
}

extension MediaDescription {
  /// The simulcast layers that the writer receives (`.recv`) or sends: of each stream the first alternative that
  /// has a rid line in that direction (RFC 8853 §5.1).
  func simulcastLayers(_ direction: SDPRid.Direction) -> [SDPSimulcast.Format] {
    guard let simulcast else { return [] }
    let known = Set(rids.filter { $0.direction == direction }.map(\.id))
    let streams = direction == .recv ? simulcast.receive : simulcast.send
    var seen: Set<String> = []
    // No encoder makes more layers than this; the bound keeps an absurd list from costing anything.
    return streams.prefix(16).compactMap { alternatives in
      alternatives.first { known.contains($0.rid) && seen.insert($0.rid).inserted }
    }
  }
}
