import SoraMedia
import SoraSDP

/// Judges the sections of an offer of the peer's (RFC 9429 §5.10).
struct OfferReview {
  let configuration: NegotiationConfiguration
  let acceptsDataChannels: Bool

  /// What becomes of a section of the peer's offer.
  enum Decision {
    case media(MediaKind)
    case data
    case rejected(SectionRejection)
    /// The peer itself rejects it.
    case unused
  }

  /// Judges each section, and tells which are turned down. Throws where the offer holds sections in use and none can be
  /// accepted.
  ///
  /// - Parameters:
  ///   - offer: the peer's.
  ///   - matches: the codecs of a section that are among others.
  func decide(
    _ offer: SessionDescription,
    matches: (MediaDescription, [CodecCapability]) -> [CodecMatch]
  ) throws(NegotiationError) -> (decisions: [Decision], rejected: [NegotiationError.Rejected]) {
    let inUse = offer.media.count { !$0.isRejected }
    let bundle = offer.bundle.map { Set($0) }
    var decisions: [Decision] = []
    var rejected: [NegotiationError.Rejected] = []
    var accepted = 0
    for (index, section) in offer.media.enumerated() {
      let isAlone = bundle == nil && inUse == 1
      let isBundled = isAlone || section.mid.map { bundle?.contains($0) ?? false } ?? false
      let decision = decide(section, isBundled: isBundled, matches: matches)
      decisions.append(decision)
      switch decision {
      case .media, .data: accepted += 1
      case .rejected(let reason):
        rejected.append(
          .init(index: index, kind: section.kind, mid: section.mid, reason: reason))
      case .unused: break
      }
    }
    // What is rejected of itself is no failure: when everybody has left, nothing is in use.
    if accepted == 0, inUse > 0 { throw .nothingAcceptable(rejected) }
    return (decisions, rejected)
  }

  private func decide(
    _ section: MediaDescription, isBundled: Bool,
    matches: (MediaDescription, [CodecCapability]) -> [CodecMatch]
  ) -> Decision {
    if section.isRejected { return .unused }
    if section.kind == "application" {
      // RFC 8841 §4; the older DTLS/SCTP with sctpmap is not spoken any more.
      guard section.proto == "UDP/DTLS/SCTP" || section.proto == "TCP/DTLS/SCTP",
        section.formats.first == "webrtc-datachannel"
      else { return .rejected(.unsupportedProtocol(section.proto)) }
      guard acceptsDataChannels else { return .rejected(.dataChannelsNotAccepted) }
      return isBundled ? .data : .rejected(.notBundled)
    }
    guard let kind = section.mediaKind else { return .rejected(.unsupportedKind(section.kind)) }
    // RFC 9429 §5.1.2 lists the profiles that mean the same; DTLS is required by the fingerprint anyway.
    guard section.proto.hasSuffix("RTP/SAVPF") || section.proto.hasSuffix("RTP/SAVP") else {
      return .rejected(.unsupportedProtocol(section.proto))
    }
    guard isBundled else { return .rejected(.notBundled) }
    guard section.rtcpMux else { return .rejected(.noRTCPMux) }
    let supported = configuration.codecs(kind)
    guard !matches(section, supported).isEmpty else {
      return .rejected(
        .noCommonCodec(
          offered: section.codecs.prefix(32).map(\.description), supported: supported.map(\.label)))
    }
    return .media(kind)
  }
}
