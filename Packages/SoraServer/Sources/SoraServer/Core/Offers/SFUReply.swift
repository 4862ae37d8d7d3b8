import SoraDTLS
import SoraICE
import SoraMedia
import SoraRTP
import SoraSDP
import SoraSignalingMessages
import SoraTransport

/// Writes the answer to a client's offer.
struct SFUReply {
  /// What becomes of a section of the offer.
  enum Section {
    case rejected
    /// The client publishes on it.
    case receive(PublishedTrack, OfferedCodec)
    /// Tracks of the channel go out on it, where the client may have any.
    case send(PlayerSection, stream: String, isAllowed: Bool)
  }

  let exchange: OfferExchange
  let offer: SFUClientOffer
  /// One for each section of the offer.
  let sections: [Section]
  let ice: ICEParameters
  let candidates: [ICECandidate]
  let fingerprint: DTLSFingerprint
  let request: SFUConnectRequest

  var text: String {
    var sdp = SessionDescription(
      origin: SDPOrigin(sessionID: "\(exchange.sessionNumber)", version: exchange.version))
    var described = zip(offer.sections, sections).map { describe($0, $1) }
    // RFC 9143 §7.3: what is rejected leaves the bundle, and the first that isn't has the candidates.
    let used = described.indices.filter { described[$0].port != 0 }
    if let first = used.first {
      described[first].candidates = candidates.map(\.sdp)
      described[first].endOfCandidates = true
    }
    sdp.bundle = used.map { offer.sections[$0].mid }
    if offer.allowsMixedExtensions { sdp.append(attribute: "extmap-allow-mixed") }
    sdp.msidSemantic = " WMS *"
    sdp.isICELite = true
    sdp.media = described
    return sdp.text
  }

  private func describe(_ offered: OfferedSection, _ section: Section) -> MediaDescription {
    var media = MediaDescription(
      kind: offered.kindName, port: 0, proto: offered.proto, formats: offered.formats)
    media.lines.append(SDPLine(type: "c", value: "IN IP4 0.0.0.0"))
    if !offered.mid.isEmpty { media.mid = offered.mid }
    switch section {
    case .rejected: media.direction = .inactive
    case .receive(let track, let codec):
      media.limit(to: request, offered.kind)
      begin(&media, offered, .recvonly, [codec.codec], isSimulcast: !track.offered.isEmpty)
      append([(codec, track.codec)], to: &media)
      track.offered.append(to: &media)
    case .send(let player, let stream, let isAllowed):
      let codecs = player.answered.map { codec -> (OfferedCodec, SFUCodec) in
        let isOpus = AudioCodecKind(encodingName: codec.codec.name) == .opus
        return (codec, isOpus ? SFUCodec.opus(AudioOptions()) : codec.codec)
      }
      guard !codecs.isEmpty else { break }
      begin(
        &media, offered, isAllowed ? .sendonly : .inactive, codecs.map(\.1), isSimulcast: false)
      if isAllowed { media.append(SDPMsid(stream: stream, track: player.trackID)) }
      append(codecs, to: &media)
      guard isAllowed else { break }
      let hasRTX = codecs.contains { $0.0.types.rtx != nil }
      media.append(
        sources: [player.sender.parameters.ssrc] + (hasRTX ? [player.rtxSSRC] : []),
        stream: stream, track: player.trackID)
    }
    return media
  }

  /// What every section has that isn't rejected.
  private func begin(
    _ media: inout MediaDescription, _ offered: OfferedSection, _ direction: MediaDirection,
    _ codecs: [SFUCodec], isSimulcast: Bool
  ) {
    media.port = 9
    // RFC 9725 §4.4: the client speaks first wherever it leaves that to us.
    media.describe(ice, fingerprint, offer.transport.localRole == .server ? .passive : .active)
    for line in offered.extensions(of: codecs, isSimulcast: isSimulcast) { media.append(line) }
    media.direction = direction
    media.rtcpMux = true
    if offered.hasReducedSize { media.rtcpReducedSize = true }
    if offered.hasFeedbackBySource { media.append(SDPFeedback.bySource) }
  }

  private func append(
    _ codecs: [(offered: OfferedCodec, codec: SFUCodec)], to media: inout MediaDescription
  ) {
    var formats: [UInt8] = []
    for (offered, codec) in codecs {
      var types = offered.types
      // Of codecs with the same clock the keys of a telephone are the same.
      if let telephone = types.telephone, formats.contains(telephone) { types.telephone = nil }
      formats += types.all
      media.append(codec, types, feedback: offered.feedback)
    }
    media.formats = formats.map { "\($0)" }
  }
}
