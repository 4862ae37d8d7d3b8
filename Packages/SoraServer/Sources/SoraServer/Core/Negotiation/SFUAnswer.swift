import SoraDTLS
import SoraICE
import SoraMedia
import SoraRTP
import SoraSDP
import SoraTransport

/// Why an answer can't be used.
struct SFUAnswerError: Error {
  var reason: String
}

/// What a client's answer says, section by section in the order of the offer.
struct SFUAnswer {
  struct Section {
    var isRejected: Bool
    /// The client's directions.
    var sends: Bool
    var receives: Bool
    var payloadTypes: Set<UInt8>
    /// Payload types that generic NACK is agreed for.
    var nackTypes: Set<UInt8>
    /// Congestion feedback that is agreed on.
    var feedback: CongestionFeedbackKind?
    var extensions: RTPHeaderExtensionMap
    /// The simulcast layers that the client sends, or may send later.
    var rids: [String]
  }

  struct Transport {
    var ice: ICEParameters
    var fingerprint: DTLSFingerprint
    var localRole: DTLSRole
    var candidates: [ICECandidate]
    var endOfCandidates: Bool
  }

  /// What the client says of its end of data channels.
  struct Data {
    var port: UInt16
    /// Bytes; 0 means any (RFC 8841 §6).
    var maximumMessageSize: UInt64
  }

  var sections: [Section] = []
  /// nil where the client takes none.
  var data: Data?
  var transport: Transport

  /// - Parameters:
  ///   - text: the answer.
  ///   - offered: what it answers.
  ///   - offersFeedbackBySource: whether it may accept that.
  init(
    parsing text: String, to offered: SFUSections, offersFeedbackBySource: Bool
  ) throws(SFUAnswerError) {
    let sdp: SessionDescription
    do throws(SDPError) {
      sdp = try SessionDescription(parsing: text)
    } catch {
      throw SFUAnswerError(reason: "\(error)")
    }
    // RFC 3264 §6.
    let count = offered.all.count + (offered.dataIndex == nil ? 0 : 1)
    guard sdp.media.count == count else {
      throw SFUAnswerError(
        reason: "it has \(sdp.media.count) sections, the offer had \(count)")
    }
    var answered = sdp.media
    if let index = offered.dataIndex {
      data = try SFUAnswer.data(answered.remove(at: index), index)
    }
    for (index, media) in answered.enumerated() {
      guard media.kind == offered[index].kind.rawValue else {
        throw SFUAnswerError(reason: "section \(index) is not \(offered[index].kind.rawValue)")
      }
      let isRejected = media.port == 0 && !media.isBundleOnly
      guard isRejected || media.mid == offered[index].mid else {
        throw SFUAnswerError(reason: "section \(index) has another mid than the offer")
      }
      let codecs = media.codecs
      let extensions = SFUAnswer.extensions(
        media, allowsMixed: sdp.allowsMixedExtensions || media.allowsMixedExtensions)
      sections.append(
        Section(
          isRejected: isRejected, sends: !isRejected && media.direction.sends,
          receives: !isRejected && media.direction.receives,
          payloadTypes: Set(codecs.map(\.payloadType)),
          nackTypes: Set(codecs.filter { $0.feedback.contains("nack") }.map(\.payloadType)),
          feedback: CongestionFeedbackKind(
            agreed: Set(codecs.flatMap(\.feedback)),
            hasNumbers: extensions.transportSequenceNumber != nil,
            bySource: offersFeedbackBySource && media.hasFeedbackBySource),
          extensions: extensions,
          rids: SFUAnswer.sentRids(media)))
    }
    guard let first = sdp.media.first(where: { $0.port != 0 || $0.isBundleOnly }) else {
      throw SFUAnswerError(reason: "every section is rejected")
    }
    transport = try SFUAnswer.transport(first, sdp)
  }

  /// Who receives without taking one-byte and two-byte forms in one stream (RFC 8285 §4.1.2) gets no dependency descriptors, of which
  /// some are longer than the shorter form holds.
  private static func extensions(
    _ media: MediaDescription, allowsMixed: Bool
  ) -> RTPHeaderExtensionMap {
    var map = RTPHeaderExtensionMap(
      media.extensions.filter { $0.direction != .inactive }.map { (id: Int($0.id), uri: $0.uri) })
    if !allowsMixed, media.direction.receives { map.dependencyDescriptor = nil }
    return map
  }

  /// RFC 8853 §5.3: what the answer doesn't list is refused. Of alternatives the first is sent. Nobody is offered more than a few.
  private static func sentRids(_ media: MediaDescription) -> [String] {
    // A set: a description has room for thousands of both.
    let known = Set(media.rids.filter { $0.direction == .send }.map(\.id))
    return (media.simulcast?.send ?? []).prefix(16).compactMap { alternatives in
      alternatives.first { known.contains($0.rid) }?.rid
    }
  }

  private static func data(
    _ media: MediaDescription, _ index: Int
  ) throws(SFUAnswerError) -> Data? {
    guard media.kind == "application" else {
      throw SFUAnswerError(reason: "section \(index) is not application")
    }
    if media.port == 0 && !media.isBundleOnly { return nil }
    return Data(
      port: media.sctpPort ?? 5000, maximumMessageSize: media.maximumMessageSize ?? 65_536)
  }

  /// The transport of the bundle: what its first section says, or the session.
  ///
  /// - Parameter isOffer: whether the client may leave the roles of DTLS to us (RFC 8842 §5.2).
  static func transport(
    _ media: MediaDescription, _ sdp: SessionDescription, isOffer: Bool = false
  ) throws(SFUAnswerError) -> Transport {
    guard let ufrag = media.iceUfrag ?? sdp.iceUfrag,
      let password = media.icePassword ?? sdp.icePassword
    else { throw SFUAnswerError(reason: "ice-ufrag or ice-pwd is missing") }
    let ice: ICEParameters
    do throws(ICEError) {
      ice = try ICEParameters(ufrag: ufrag, password: password, isLite: sdp.isICELite)
    } catch {
      throw SFUAnswerError(reason: "\(error)")
    }
    let fingerprints = media.fingerprints + sdp.fingerprints
    guard
      let fingerprint = fingerprints.lazy
        .compactMap({ try? DTLSFingerprint(parsing: $0.description) }).first
    else { throw SFUAnswerError(reason: "a usable fingerprint is missing") }
    let role: DTLSRole
    switch media.setup ?? sdp.setup {
    case .active: role = .server
    case .passive: role = .client
    case .actpass where isOffer: role = .server
    default:
      throw SFUAnswerError(
        reason: "setup must be \(isOffer ? "actpass, " : "")active or passive")
    }
    return Transport(
      ice: ice, fingerprint: fingerprint, localRole: role,
      candidates: media.candidates.prefix(64).compactMap { try? ICECandidate(parsing: $0) },
      endOfCandidates: media.endOfCandidates || sdp.endOfCandidates)
  }
}
