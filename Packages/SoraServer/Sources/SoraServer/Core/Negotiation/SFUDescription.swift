import SoraDTLS
import SoraICE
import SoraMedia
import SoraRTP
import SoraSDP
import SoraTransport

/// Writes the offers of a connection.
struct SFUDescription {
  /// Ids of header extensions, the same in every section and connection.
  static let extensionIDs: [(kind: RTPHeaderExtensionKind, id: UInt16)] = [
    (.audioLevel, 1), (.absSendTime, 2), (.transportSequenceNumber, 3), (.mid, 4),
    (.videoOrientation, 5), (.rid, 6), (.repairedRid, 7), (.dependencyDescriptor, 8),
  ]

  let exchange: OfferExchange
  let sections: SFUSections
  /// Bytes of the largest message of a data channel that the server takes.
  let maximumMessageSize: Int
  /// Whether congestion feedback by source is offered, beside the transport-wide one.
  let offersFeedbackBySource: Bool
  let ice: ICEParameters
  let candidates: [ICECandidate]
  let fingerprint: DTLSFingerprint
  let request: SFUConnectRequest

  /// The text of the offer whose version `exchange` has.
  var offer: String {
    var sdp = SessionDescription(
      origin: SDPOrigin(
        sessionID: "\(exchange.sessionNumber)", version: exchange.version))
    // Those in use have a mid for the bundle.
    var described = sections.all.map { (mid: $0.isStopped ? nil : $0.mid, media: describe($0)) }
    if let index = sections.dataIndex {
      described.insert((Self.dataMid, describeData()), at: index)
    }
    // RFC 9143 §7.2: in a bundle the first section's candidates are everybody's.
    if let first = described.firstIndex(where: { $0.mid != nil }) {
      described[first].media.candidates = candidates.map(\.sdp)
      described[first].media.endOfCandidates = true
    }
    sdp.bundle = described.compactMap(\.mid)
    sdp.append(attribute: "extmap-allow-mixed")
    sdp.msidSemantic = " WMS *"
    sdp.isICELite = true
    sdp.media = described.map(\.media)
    return sdp.text
  }

  /// Bytes that a section takes of an offer, its mid in the bundle included.
  func size(of section: SFUSection) -> Int {
    var sdp = SessionDescription(origin: SDPOrigin(sessionID: "", version: 0))
    let rest = sdp.text.utf8.count
    sdp.media = [describe(section)]
    return sdp.text.utf8.count - rest + section.mid.utf8.count + 1
  }

  static let dataMid = "data"

  /// RFC 8841.
  private func describeData() -> MediaDescription {
    var media = MediaDescription(
      kind: "application", proto: "UDP/DTLS/SCTP", formats: ["webrtc-datachannel"])
    media.lines.append(SDPLine(type: "c", value: "IN IP4 0.0.0.0"))
    media.mid = Self.dataMid
    media.describe(ice, fingerprint, .actpass)
    media.sctpPort = 5000
    media.maximumMessageSize = UInt64(maximumMessageSize)
    return media
  }

  private func describe(_ section: SFUSection) -> MediaDescription {
    let (codec, types) = (section.codec, section.types)
    var media = MediaDescription(
      kind: section.kind.rawValue, port: section.isStopped ? 0 : 9,
      formats: types.all.map { "\($0)" })
    media.lines.append(SDPLine(type: "c", value: "IN IP4 0.0.0.0"))
    if case .upload = section.content { media.limit(to: request, section.kind) }
    media.mid = section.mid
    if section.isStopped {
      media.direction = .inactive
      media.append(codec, types, feedback: codec.feedback)
      return media
    }
    media.describe(ice, fingerprint, .actpass)
    let isSimulcast =
      if case .upload(let track) = section.content { !track.offered.isEmpty } else { false }
    for (kind, id) in Self.extensionIDs
    where kind.belongs(to: section.codec, isSimulcast: isSimulcast) {
      media.append(SDPExtension(id: id, uri: kind.uri))
    }
    switch section.content {
    case .upload: media.direction = .recvonly
    case .forward(let subscription):
      media.direction = .sendonly
      let stream = subscription.source.publisherID
      media.append(SDPMsid(stream: stream, track: subscription.source.trackID))
    case .anchor, .none: media.direction = .inactive
    }
    media.rtcpMux = true
    media.rtcpReducedSize = true
    media.append(codec, types, feedback: codec.feedback)
    if offersFeedbackBySource { media.append(SDPFeedback.bySource) }
    switch section.content {
    case .upload(let track): track.offered.append(to: &media)
    case .forward(let subscription): append(subscription, to: &media)
    case .anchor, .none: break
    }
    return media
  }

  /// Never in a section that the server only receives on: an official client without a decoder aborts over it.
  private func append(_ subscription: SubscribedTrack, to media: inout MediaDescription) {
    let (stream, track) = (subscription.source.publisherID, subscription.source.trackID)
    let ssrcs = [subscription.ssrc] + (subscription.sender.parameters.rtx.map { [$0.ssrc] } ?? [])
    media.append(sources: ssrcs, stream: stream, track: track)
  }
}

// What offers and answers of the server have in common.
extension MediaDescription {
  mutating func describe(
    _ ice: ICEParameters, _ fingerprint: DTLSFingerprint, _ setup: SDPSetup
  ) {
    iceUfrag = ice.ufrag
    icePassword = ice.password
    fingerprints = [SDPFingerprint(algorithm: fingerprint.algorithm, bytes: fingerprint.bytes)]
    self.setup = setup
  }

  /// What the client may send at most.
  mutating func limit(to request: SFUConnectRequest, _ kind: MediaKind?) {
    switch kind {
    case .audio:
      if let bitRate = request.audio?.bitRate { setBandwidth("AS", bitRate) }
    case .video:
      guard let bitRate = request.video?.bitRate else { return }
      setBandwidth("AS", bitRate)
      setBandwidth("TIAS", bitRate * 1000)
    case nil: break
    }
  }

  mutating func append(
    _ codec: SFUCodec, _ types: SFUPayloadTypes.Assignment, feedback: [String]
  ) {
    if let packetTime = codec.packetTime { self.packetTime = packetTime }
    append(
      SDPCodec(
        payloadType: types.media, name: codec.name, clockRate: codec.clockRate,
        channels: codec.channels, parameters: codec.parameters, feedback: feedback))
    if let red = types.red { append(codec.redundancy(red, of: types.media)) }
    if let rtx = types.rtx {
      append(
        SDPCodec(
          payloadType: rtx, name: "rtx", clockRate: codec.clockRate,
          parameters: ["apt": "\(types.media)"]))
    }
    if let telephone = types.telephone { append(codec.telephoneEvents(telephone)) }
  }

  /// The sources of a track: its own, and that of its retransmissions where there is one.
  mutating func append(sources ssrcs: [UInt32], stream: String, track: String) {
    if ssrcs.count == 2 { append(SDPSourceGroup(semantics: "FID", ssrcs: ssrcs)) }
    for ssrc in ssrcs {
      append(SDPSource(ssrc: ssrc, name: "cname", value: stream))
      append(SDPSource(ssrc: ssrc, name: "msid", value: "\(stream) \(track)"))
    }
  }
}

extension RTPHeaderExtensionKind {
  /// Whether a section of this kind lists the extension. VP8 has no dependency descriptors: libwebrtc leaves temporal layers and picture
  /// ids out of its payloads where they are.
  func belongs(to codec: SFUCodec, isSimulcast: Bool) -> Bool {
    switch self {
    case .audioLevel: codec.kind == .audio
    case .videoOrientation: codec.kind == .video
    case .rid, .repairedRid: isSimulcast
    case .dependencyDescriptor: codec.kind == .video && codec.name != "VP8"
    case .mid, .absSendTime, .transportSequenceNumber: true
    }
  }
}
