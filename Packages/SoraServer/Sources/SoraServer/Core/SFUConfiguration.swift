public import SoraDTLS
public import SoraDataChannel
public import SoraICE
public import SoraRTP
public import SoraSignalingMessages
import SoraVersion

extension SFUCore {
  /// How a server works. The defaults suit development and tests.
  public struct Configuration {
    public var certificate: DTLSCertificate
    /// Speaks DTLS: libssl's, or a stand-in in a simulation.
    public var dtls: any DTLSEndpointFactory
    /// Relates the instants that the core is handed to the time of day.
    public var wallClock: WallClock
    /// Bound sockets that feed `received`; each becomes a candidate in every offer.
    public var mediaAddresses: [TransportAddress]
    /// What `offer.version` says: by default this project's own version, which isn't one of Sora's.
    public var version: String
    public var pingInterval = Duration.seconds(5)
    /// Every how many pings ask for statistics; 0 for none.
    public var pingsPerStatistics = 3
    /// Whether the last statistics of each client are kept, for `clientStatistics`.
    public var keepsClientStatistics = false
    /// How long a client may leave pings unanswered.
    public var pongTimeout = Duration.seconds(60)
    /// From the open WebSocket until `connect`.
    public var connectTimeout = Duration.seconds(10)
    /// From `connect` until media can flow.
    public var mediaTimeout = Duration.seconds(30)
    /// From an offer until its answer.
    public var answerTimeout = Duration.seconds(30)
    /// The least time between two requests for a key frame to one publisher.
    public var keyFrameInterval = Duration.milliseconds(300)
    /// What publishers with simulcast are offered, the lowest layer first: 1 to 4 encodings with a rid each, which go into `offer` as
    /// they are. What can't be offered counts as Sora's three.
    public var simulcastEncodings = SimulcastOffer.standardEncodings
    /// How channels' spotlights work.
    public var spotlight = SFUSpotlightConfiguration()
    /// What data channels of a connection may take. A client is one of a thousand, and small messages are what it has to say.
    public var data = {
      var data = DataChannelConfiguration()
      data.sendBufferLimit = 4 * 1024 * 1024
      data.receiveWindow = 1024 * 1024
      data.maximumChannels = 256
      return data
    }()
    /// Whether feedback by source with ECN marks (RFC 8888) is offered beside transport-wide feedback, which Sora's offers don't have.
    /// Clients that bring the offer are given it where they ask for it.
    public var offersFeedbackBySource = false
    /// Whether who doesn't say whether it wants data-channel signaling gets it. Sora's clients take it so.
    public var usesDataChannels = true
    /// How the owner of an address that a TURN server relays reaches that server; nil for other addresses. For notifications.
    public var turnTransport: (TransportAddress) -> ICEServerURL.Transport? = { _ in nil }
    /// Clients at once, whether they are connected already or not.
    public var maximumPeers = 1000
    /// Connections at once, in all channels and in each; more are refused.
    public var maximumConnections = Int.max
    public var maximumChannelConnections = Int.max
    /// Connections at once from one network; more are refused.
    public var maximumNetworkConnections = Int.max

    public init(
      certificate: DTLSCertificate, dtls: any DTLSEndpointFactory, wallClock: WallClock,
      mediaAddresses: [TransportAddress]
    ) {
      self.certificate = certificate
      self.dtls = dtls
      self.wallClock = wallClock
      self.mediaAddresses = mediaAddresses
      version = SoraVersion.current
    }
  }
}
