import SoraMedia
import SoraSDP
import WebRTC

enum Fixture {
  static let fingerprint = SDPFingerprint(algorithm: "sha-256", bytes: Array(0..<32))

  /// A negotiator with the default codecs.
  static func negotiator(
    seed: UInt64, _ change: (inout NegotiationConfiguration) -> Void = { _ in }
  ) -> JSEPNegotiator {
    let random = RandomSource(seed: seed)
    var configuration = NegotiationConfiguration(
      iceUfrag: random.iceString(8), icePassword: random.iceString(24),
      fingerprints: [fingerprint])
    change(&configuration)
    return JSEPNegotiator(configuration: configuration, random: random)
  }

  /// One complete exchange, through text as on the wire.
  static func exchange(_ offerer: JSEPNegotiator, _ answerer: JSEPNegotiator) throws {
    let offer = try offerer.createOffer()
    try offerer.setLocalDescription(.offer, offer)
    try answerer.setRemoteDescription(.offer, SessionDescription(parsing: offer.text))
    let answer = try answerer.createAnswer()
    try answerer.setLocalDescription(.answer, answer)
    try offerer.setRemoteDescription(.answer, SessionDescription(parsing: answer.text))
  }

  /// Applies an offer and answers it.
  @discardableResult
  static func answer(_ negotiator: JSEPNegotiator, _ offer: String) throws -> SessionDescription {
    try negotiator.setRemoteDescription(.offer, SessionDescription(parsing: offer))
    let answer = try negotiator.createAnswer()
    try negotiator.setLocalDescription(.answer, answer)
    return try SessionDescription(parsing: answer.text)
  }

  static func crlf(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: true).map { $0 + "\r\n" }.joined()
  }
}

extension JSEPNegotiator {
  /// All waiting events as short texts; transceivers by their mid (or number where they have none).
  func events() -> [String] {
    var result: [String] = []
    while let event = nextEvent() {
      switch event {
      case .signalingStateChanged(let state): result.append("state \(state.rawValue)")
      case .transceiverAdded(let item): result.append("transceiver \(item.id)")
      case .directionChanged(let item):
        result.append("direction \(item.id) \(item.currentDirection?.rawValue ?? "none")")
      case .transceiverStopped(let item): result.append("stopped \(item.id)")
      case .streamAdded(let id): result.append("+stream \(id)")
      case .streamRemoved(let id): result.append("-stream \(id)")
      case .trackAdded(let item, let streams):
        result.append("+\(item.kind.rawValue) \(item.id) in \(streams.joined(separator: ","))")
      case .trackRemoved(let item, let streams):
        result.append("-\(item.kind.rawValue) \(item.id) in \(streams.joined(separator: ","))")
      case .rolledBack: result.append("rolled back")
      case .remoteICERestarted: result.append("ice restart")
      case .negotiated: result.append("negotiated")
      }
    }
    return result
  }

  /// The events that tell of streams and tracks alone.
  func trackEvents() -> [String] { events().filter { $0.hasPrefix("+") || $0.hasPrefix("-") } }
}

/// Writes offers in the shape of Sora's: own sections first, then the sections of others.
struct SoraOffer {
  struct Section {
    var kind: String
    var mid: String
    var port = 9
    var direction: String
    var msid: String?
    var payloadTypes: [Int] = []
    var codec = "VP8"
    var extra: [String] = []

    static func own(_ kind: String) -> Section {
      Section(kind: kind, mid: "\(kind)_own", direction: "recvonly")
    }
    static func from(_ kind: String, _ connection: String, mid: String) -> Section {
      Section(
        kind: kind, mid: mid, direction: "sendonly", msid: "\(connection) \(connection)-\(kind)")
    }
    static func unused(_ kind: String, mid: String) -> Section {
      Section(kind: kind, mid: mid, port: 0, direction: "inactive")
    }
  }

  var version = 1
  var sections: [Section]
  var isLite = true

  var text: String {
    let mids = sections.filter { $0.port != 0 }.map(\.mid).joined(separator: " ")
    var lines = [
      "v=0", "o=- 7462871 \(version) IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE \(mids)",
      "a=msid-semantic:WMS *", "a=extmap-allow-mixed",
      "a=fingerprint:\(Fixture.fingerprint.description)",
    ]
    if isLite { lines.append("a=ice-lite") }
    for section in sections {
      let isAudio = section.kind == "audio"
      lines += [
        "m=\(section.kind) \(section.port) UDP/TLS/RTP/SAVPF \(isAudio ? "109" : "120 121")",
        "c=IN IP4 0.0.0.0", "a=mid:\(section.mid)", "a=\(section.direction)",
        "a=ice-ufrag:soraUfrag123", "a=ice-pwd:soraPassword0123456789soraPassword01",
        "a=setup:actpass", "a=rtcp-mux", "a=rtcp-rsize",
        "a=candidate:0 1 udp 2114002687 192.0.2.10 40000 typ host", "a=end-of-candidates",
        "a=extmap:1 \(HeaderExtensionURI.mid)", "a=extmap:2 \(HeaderExtensionURI.transportCC)",
        "a=extmap:20 \(HeaderExtensionURI.absSendTime)",
      ]
      lines +=
        isAudio
        ? ["a=rtpmap:109 opus/48000/2", "a=fmtp:109 minptime=10;useinbandfec=1;stereo=1"]
        : [
          "a=rtpmap:120 \(section.codec)/90000", "a=rtpmap:121 rtx/90000", "a=fmtp:121 apt=120",
          "a=rtcp-fb:120 nack", "a=rtcp-fb:120 nack pli", "a=rtcp-fb:120 ccm fir",
          "a=rtcp-fb:120 transport-cc",
        ]
      if let msid = section.msid { lines.append("a=msid:\(msid)") }
      lines += section.extra
    }
    return lines.map { $0 + "\r\n" }.joined()
  }
}
