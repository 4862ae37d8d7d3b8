import SoraICE
import SoraSignalingMessages
import SoraTransport

/// The ICE servers that clients are told of, and whether they shall use nothing else. Confined to the loop.
struct OfferedICEServers {
  /// The server's own relay; nil where it has none.
  let turn: TURNService?
  private let policy: ICETransportPolicy

  /// Opens the relay, where the configuration has one.
  ///
  /// - Parameter media: the addresses of media.
  /// - Throws: `NetworkError` where no socket of the relay can be opened.
  init(
    _ configuration: ServerConfiguration, media: [IPAddress], loop: NetworkLoop
  ) throws(NetworkError) {
    policy = configuration.iceTransportPolicy
    guard let settings = configuration.turn else {
      turn = nil
      return
    }
    turn = try TURNService(
      addresses: settings.addresses ?? Self.turnAddresses(configuration, media), settings,
      loop: loop, logger: configuration.logger)
  }

  /// Clients that came to one address for signaling reach the relay there; else every address serves.
  private static func turnAddresses(
    _ configuration: ServerConfiguration, _ media: [IPAddress]
  ) -> [IPAddress] {
    if let host = IPAddress(configuration.host), !host.isUnspecified { return [host] }
    if configuration.host == "localhost" { return [.loopbackV4] }
    let reachable = media.filter { !$0.isLoopback }
    return Array((reachable.isEmpty ? media : reachable).prefix(4))
  }

  /// Puts the relay, with credentials of the connection's own, into an offer.
  ///
  /// - Parameters:
  ///   - request: what the client has connected with.
  ///   - authority: how it names this host; nil if unknown.
  func fill(_ offer: inout OfferMessage, for request: SFUConnectRequest?, authority: String?) {
    var servers: [SignalingICEServer] = []
    var policy = policy
    if let turn {
      let credentials = turn.credentials(for: offer.connectionID)
      let only = request?.grant.relayProtocol
      if only != nil { policy = .relay }
      servers.append(
        SignalingICEServer(
          urls: turn.urls(for: authority, only: only), username: credentials.username,
          credential: credentials.password))
    }
    if request?.soraClient?.hasPrefix("Sora iOS SDK") == true {
      // Where there is a configuration, that SDK takes no policy but this one, and without a relay would have no candidate.
      guard !servers.isEmpty else { return }
      policy = .relay
    }
    offer.configuration = .init(iceServers: servers, iceTransportPolicy: policy.rawValue)
  }

  /// The relay as values of `Link` (RFC 9725 §4.6).
  func links(for connectionID: String, authority: String?) -> [String] {
    guard let turn else { return [] }
    let credentials = turn.credentials(for: connectionID)
    return turn.urls(for: authority).map {
      "<\($0)>; rel=\"ice-server\"; username=\"\(credentials.username)\"; "
        + "credential=\"\(credentials.password)\"; credential-type=\"password\""
    }
  }
}
