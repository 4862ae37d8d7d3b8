import SoraDTLS
import SoraICE
import SoraRTP
import SoraSDP
import SoraTransport

/// Answers the server's offers, and says what its transport is to be told of them.
struct ScriptedAnswer {
  let ice: ICEParameters
  let fingerprint: DTLSFingerprint
  let version: UInt64
  /// Sections of these codecs are rejected with port 0.
  var rejectedCodecs: Set<String> = []
  /// Simulcast layers that aren't sent, and those that are said to be sent later.
  var refusedRids: Set<String> = []
  var pausedRids: Set<String> = []
  var refusedExtensions: Set<RTPHeaderExtensionKind> = []
  /// Formats by their names that its answers lack.
  var refusedFormats: Set<String> = []
  /// Whether it takes one-byte and two-byte forms of extensions in one stream.
  var allowsMixed = true

  init(ice: ICEParameters, fingerprint: DTLSFingerprint, version: UInt64) {
    self.ice = ice
    self.fingerprint = fingerprint
    self.version = version
  }

  func answer(
    _ offer: SessionDescription
  ) -> (SessionDescription, PeerTransport.RemoteDescription?) {
    var answer = SessionDescription(origin: SDPOrigin(sessionID: "7", version: version))
    answer.allowsMixedExtensions = allowsMixed
    var remote: PeerTransport.RemoteDescription?
    for media in offer.media {
      let codecs = media.codecs.filter { !refusedFormats.contains($0.name) }
      var section = MediaDescription(
        kind: media.kind,
        formats: refusedFormats.isEmpty ? media.formats : codecs.map { "\($0.payloadType)" })
      section.mid = media.mid
      let isRejected =
        media.port == 0 || !rejectedCodecs.isDisjoint(with: media.codecs.map(\.name))
      section.port = isRejected ? 0 : 9
      section.direction = isRejected ? .inactive : media.direction.reversed
      section.extensions = media.extensions.filter { line in
        !refusedExtensions.contains { $0.uri == line.uri }
      }
      section.sctpPort = media.sctpPort
      for codec in codecs { section.append(codec) }
      addLayers(of: media, to: &section)
      if !isRejected {
        section.iceUfrag = ice.ufrag
        section.icePassword = ice.password
        section.fingerprints = [
          SDPFingerprint(algorithm: fingerprint.algorithm, bytes: fingerprint.bytes)
        ]
        section.setup = .active
        section.rtcpMux = true
        remote = remote ?? Self.remote(of: media)
      }
      answer.media.append(section)
    }
    answer.bundle = answer.media.filter { $0.port != 0 }.compactMap(\.mid)
    return (answer, remote)
  }

  private func addLayers(of media: MediaDescription, to section: inout MediaDescription) {
    let offered = media.simulcast?.receive.compactMap(\.first) ?? []
    let layers = offered.filter { !refusedRids.contains($0.rid) }
    guard !layers.isEmpty else { return }
    section.rids = layers.map { SDPRid(id: $0.rid, direction: .send) }
    section.simulcast = SDPSimulcast(
      send: layers.map {
        [.init(rid: $0.rid, isPaused: $0.isPaused || pausedRids.contains($0.rid))]
      })
  }

  private static func remote(of media: MediaDescription) -> PeerTransport.RemoteDescription? {
    guard let ufrag = media.iceUfrag, let password = media.icePassword,
      let parameters = try? ICEParameters(ufrag: ufrag, password: password, isLite: true),
      let fingerprint = media.fingerprints.first.flatMap({
        try? DTLSFingerprint(parsing: $0.description)
      })
    else { return nil }
    return PeerTransport.RemoteDescription(
      ice: parameters, fingerprint: fingerprint, localRole: .client)
  }
}
