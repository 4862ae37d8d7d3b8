import SoraDTLS
import SoraSignaling
import SoraTURNStream
import WebRTC

/// A line of standard input: its `type`, and what goes with it.
enum PeerRequest: Decodable {
  /// Makes a connection that sends and receives; told by `opened`.
  case open(PeerOptions)
  /// Asks for an `offer`, with new ICE credentials where `restart` says so.
  case create(restart: Bool)
  /// The other end's offer, answered by `answer`.
  case offer(sdp: String)
  /// The other end's answer.
  case answer(sdp: String)
  /// The other end's candidate line.
  case candidate(String)
  /// Something with a data channel.
  case channel(ChannelRequest)
  /// Asks for `stats`: every object of the W3C's report.
  case stats
  /// Ends the connection.
  case close

  private enum Name: String, Decodable {
    case open, create, offer, answer, candidate, channel, stats, close
  }

  private enum Key: CodingKey {
    case type, restart, sdp, candidate
  }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    switch try values.decode(Name.self, forKey: .type) {
    case .open: self = .open(try PeerOptions(from: decoder))
    case .create:
      self = .create(restart: try values.decodeIfPresent(Bool.self, forKey: .restart) ?? false)
    case .offer: self = .offer(sdp: try values.decode(String.self, forKey: .sdp))
    case .answer: self = .answer(sdp: try values.decode(String.self, forKey: .sdp))
    case .candidate: self = .candidate(try values.decode(String.self, forKey: .candidate))
    case .channel: self = .channel(try ChannelRequest(from: decoder))
    case .stats: self = .stats
    case .close: self = .close
    }
  }
}

/// What a connection is opened with: as much of W3C's `RTCConfiguration` as tests choose, and what no standard names.
struct PeerOptions: Decodable {
  struct Server: Decodable {
    var urls: [String]
    var username: String?
    var credential: String?
  }

  enum Policy: String, Decodable {
    case all, relay
  }

  enum DTLS: String, Decodable {
    /// 1.3, and 1.2 where the other end hasn't that.
    case native
    /// Our own 1.2.
    case native12
    /// libssl's 1.2.
    case libssl
  }

  var iceServers: [Server]?
  var iceTransportPolicy: Policy?
  /// PEM file of the only authorities that `turns:` servers are trusted by; without it the system's.
  var turnAuthorities: String?
  /// Silence after which the connection has failed; without it the default.
  var consentSeconds: Double?
  var dtls: DTLS?
  /// Whether pictures and sound are sent; without them the sections are negotiated all the same.
  var media: Bool?
  /// Whether repair packets for video are offered (ULPFEC, FlexFEC-03).
  var repair: Bool?
  /// Whether there are sections of media at all; without them a connection has data channels alone.
  var sections: Bool?

  func configuration() -> RTCConfiguration {
    var configuration = RTCConfiguration()
    configuration.iceServers = (iceServers ?? []).map {
      RTCIceServer(urlStrings: $0.urls, username: $0.username, credential: $0.credential)
    }
    configuration.iceTransportPolicy = iceTransportPolicy == .relay ? .relay : .all
    configuration.settings.offersRepair = repair ?? false
    if let consentSeconds { configuration.settings.consentTimeout = .seconds(consentSeconds) }
    return configuration
  }

  func connector() -> TURNStreamConnector {
    var configuration = TURNStreamConnector.Configuration()
    if let turnAuthorities { configuration.tls.trust = .file(turnAuthorities) }
    return TURNStreamConnector(configuration: configuration)
  }

  func factory() throws -> RTCPeerConnectionFactory {
    switch dtls ?? .native {
    case .native: return RTCPeerConnectionFactory()
    case .native12:
      var dtls = NativeDTLSFactory()
      dtls.settings.versions = [.v12]
      return RTCPeerConnectionFactory(dtlsFactory: dtls)
    case .libssl:
      return RTCPeerConnectionFactory(dtlsFactory: try DTLSImplementation.libssl.makeFactory())
    }
  }
}
