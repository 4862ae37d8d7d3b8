public import Logging
public import SoraDTLS
public import SoraICE
public import SoraSignaling

/// What `SoraServer.start` takes.
public struct ServerConfiguration: Sendable {
  /// An address or name of this machine for signaling and the page; `0.0.0.0` or `::` for all addresses.
  public var host = "127.0.0.1"
  /// 0 takes a free port.
  public var port = 0
  /// Addresses of this machine on which media can be reached; nil for all, loopback included.
  public var mediaAddresses: [IPAddress]?
  /// The UDP port of media on every address; 0 takes free ones.
  public var mediaPort: UInt16 = 0
  /// PEM files for `wss` and `https`; nil serves `ws` and `http`.
  public var tls: TLSOptions.Identity?
  /// Who secures media: this project's own DTLS 1.3 and 1.2, or libssl's 1.2.
  public var dtls = DTLSImplementation.standard
  public var pingInterval = Duration.seconds(5)
  /// How long a client may leave pings unanswered.
  public var pongTimeout = Duration.seconds(60)
  /// From the open WebSocket until `connect`.
  public var connectTimeout = Duration.seconds(10)
  /// From `connect` until media can flow.
  public var mediaTimeout = Duration.seconds(30)
  /// Whether feedback by source with ECN marks (RFC 8888) is offered beside transport-wide feedback, so that queues on the way may mark
  /// packets in place of dropping them. Sora's own offers don't have it.
  public var offersFeedbackBySource = false
  /// Whether who doesn't say whether it wants data-channel signaling gets it.
  public var dataChannelSignaling = true
  /// How channels' spotlights work.
  public var spotlight = SFUSpotlightConfiguration()
  /// A TURN server of its own, which offers name to clients; nil for none.
  public var turn: TURN?
  /// What offers say: with `relay`, clients send everything through a TURN server.
  public var iceTransportPolicy = ICETransportPolicy.all
  /// Where what is published is recorded, as it comes: a file for each connection (WebM, or MP4 for H.264 and H.265) and a JSON for
  /// each session. nil records nothing.
  public var recordingFolder: String?
  /// Whether everything is recorded there, or what `Sora_20231220.StartRecording` of the HTTP API asks for.
  public var recordsEverything = true
  /// The port of the HTTP API (`POST /` with `x-sora-target`), on `apiHost`; 0 takes a free one, nil opens none.
  public var apiPort: Int?
  /// Nobody is asked for a password there: an address that others reach lets them end and record connections.
  public var apiHost = "127.0.0.1"
  /// What `SoraServer.drain` does.
  public var drain = Drain()
  /// Who may connect, and who is told of it.
  public var access = Access()
  /// The servers that this one shares its channels with; nil where it is alone.
  public var cluster: Cluster?
  public var logger = Logger(label: "sora.server")

  /// The server's own TURN server (RFC 8656), over UDP and TCP, and over TLS where it has a certificate.
  ///
  /// It has places for 1024 connections over TCP and TLS. One that has no allocation for ten seconds is closed, and of one network
  /// of clients (an IPv4 address, 64 bits of IPv6) there may be 256 of those.
  public struct TURN: Sendable {
    /// How clients reach it.
    public enum Transport: Sendable {
      case udp, tcp, tls
    }

    /// The port on every address, of UDP and TCP; 0 takes free ones.
    public var port: UInt16 = 3478
    /// The port of TLS on every address; 0 takes free ones.
    public var securePort: UInt16 = 5349
    /// PEM files for `turns:`; nil for no TLS. Offers name the server as the client did when it came for signaling, so
    /// one certificate does for both. By an address, libwebrtc's clients take no certificate.
    public var tls: TLSOptions.Identity?
    /// Which of its ways offers name.
    public var transports: Set<Transport> = [.udp, .tcp, .tls]
    /// Addresses of this machine; nil for that of signaling, or where that is a wildcard or a name, those of media.
    public var addresses: [IPAddress]?
    /// For tests, which don't wait as long.
    package var streamLimits = TURNStreams.Limits()

    public init(port: UInt16 = 3478, addresses: [IPAddress]? = nil) {
      self.port = port
      self.addresses = addresses
    }
  }

  /// How a server ends that has connections.
  public struct Drain: Sendable {
    /// How long connections may go on.
    public var limit = Duration.seconds(5)
    /// The signaling URL of another server, to which clients are sent; nil for none.
    public var redirectURL: String?

    public init() {}
  }

  public init() {}

  public init(host: String = "127.0.0.1", port: Int = 0, logger: Logger? = nil) {
    self.host = host
    self.port = port
    if let logger { self.logger = logger }
  }

  /// Whether the system chose this port for the relay, so that another does as well.
  func leavesOpen(_ address: TransportAddress) -> Bool {
    turn?.port == 0 && address.port != mediaPort && address.port != turn?.securePort
  }
}
