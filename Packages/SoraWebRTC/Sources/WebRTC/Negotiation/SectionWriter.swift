import SoraMedia
import SoraSDP

/// What an audio or video section of ours is to say.
struct MediaSectionContent {
  /// The layers of a simulcast section, as they are written.
  struct Simulcast {
    var send: [SDPSimulcast.Format] = []
    var receive: [SDPSimulcast.Format] = []
    var isEmpty: Bool { send.isEmpty && receive.isEmpty }
  }

  var mid: String
  var proto = "UDP/TLS/RTP/SAVPF"
  var direction: MediaDirection
  var codecs: [SDPCodec]
  var extensions: [SDPExtension]
  var setup: SDPSetup
  var simulcast: Simulcast
  var reducedSizeRTCP: Bool
  var feedback: SectionFeedback

  /// RFC 5576; not written beside rids, whose sources are found by the header extension (RFC 8853 §5.5).
  var namesSources: Bool { direction.sends && simulcast.isEmpty }
  /// Whether FlexFEC, which has a source of its own, is among the codecs.
  var describesRepair: Bool { NegotiatedRepair(codecs)?.flexible != nil }
}

/// Writes the single sections of a description.
struct SectionWriter {
  let configuration: NegotiationConfiguration
  /// Of all our sources.
  let cname: String

  /// An audio or video section in use.
  func mediaSection(
    _ transceiver: JSEPTransceiver, _ content: MediaSectionContent
  ) -> MediaDescription {
    let direction = content.direction
    let codecs = content.feedback.filtered(content.codecs)
    var section = MediaDescription(
      kind: transceiver.kind.rawValue, proto: content.proto,
      formats: codecs.map { "\($0.payloadType)" })
    section.lines.reserveCapacity(48)
    section.lines.append(SDPLine(type: "c", value: "IN IP4 0.0.0.0"))
    if direction.receives, let limit = transceiver.receiveBitrateLimit {
      section.lines.append(SDPLine(type: "b", value: "AS:\((limit + 999) / 1000)"))
      section.lines.append(SDPLine(type: "b", value: "TIAS:\(limit)"))
    }
    section.append(attribute: "rtcp", "9 IN IP4 0.0.0.0")
    writeTransport(&section, setup: content.setup)
    section.append(attribute: "mid", content.mid)
    for item in content.extensions { section.append(item) }
    section.append(attribute: direction.rawValue)
    if direction.sends {
      for msid in transceiver.sender.msids { section.append(msid) }
    }
    section.append(attribute: "rtcp-mux")
    if content.reducedSizeRTCP { section.append(attribute: "rtcp-rsize") }
    for codec in codecs { section.append(codec) }
    content.feedback.write(to: &section)
    if content.namesSources {
      writeSources(transceiver.sender, content, &section)
    } else if !content.simulcast.isEmpty {
      writeSimulcast(content.simulcast, &section)
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

  private func writeTransport(_ section: inout MediaDescription, setup: SDPSetup) {
    section.append(attribute: "ice-ufrag", configuration.iceUfrag)
    section.append(attribute: "ice-pwd", configuration.icePassword)
    if configuration.tricklesICE { section.append(attribute: "ice-options", "trickle") }
    for fingerprint in configuration.fingerprints { section.append(fingerprint) }
    section.append(attribute: "setup", setup.rawValue)
  }

  private func writeSources(
    _ sender: SenderDescription, _ content: MediaSectionContent, _ section: inout MediaDescription
  ) {
    guard let encoding = sender.encodings.first else { return }
    var sources = [encoding.ssrc]
    if content.codecs.contains(where: { $0.associatedPayloadType != nil }) {
      sources.append(encoding.rtxSSRC)
      section.append(SDPSourceGroup(semantics: "FID", ssrcs: sources))
    }
    if content.describesRepair, let repair = encoding.repairSSRC {
      section.append(SDPSourceGroup(semantics: "FEC-FR", ssrcs: [encoding.ssrc, repair]))
      sources.append(repair)
    }
    for ssrc in sources {
      section.append(SDPSource(ssrc: ssrc, name: "cname", value: cname))
      for msid in sender.msids {
        section.append(SDPSource(ssrc: ssrc, name: "msid", value: msid.attributeValue))
      }
    }
  }

  private func writeSimulcast(
    _ simulcast: MediaSectionContent.Simulcast, _ section: inout MediaDescription
  ) {
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
