import SoraSignaling

/// Another connection of the channel, as `connection.created` lists it.
public struct SignalingNotifyMetadata: Sendable {
  public var clientId: String?
  public var bundleId: String?
  public var connectionId: String?
  private var authnForm: FreeForm
  private var authzForm: FreeForm
  private var metadataForm: FreeForm

  public var authnMetadata: Any? {
    get { authnForm.object }
    set { authnForm = FreeForm(object: newValue) }
  }
  public var authzMetadata: Any? {
    get { authzForm.object }
    set { authzForm = FreeForm(object: newValue) }
  }
  /// Its `signaling_notify_metadata`.
  public var metadata: Any? {
    get { metadataForm.object }
    set { metadataForm = FreeForm(object: newValue) }
  }

  init(_ peer: NotifyMessage.Peer) {
    clientId = peer.clientID
    bundleId = peer.bundleID
    connectionId = peer.connectionID
    authnForm = FreeForm(json: peer.authnMetadata)
    authzForm = FreeForm(json: peer.authzMetadata)
    metadataForm = FreeForm(json: peer.metadata)
  }
}

/// An event of the channel. Only `eventType` is always there. Can only be decoded.
public struct SignalingNotify: Codable, Sendable {
  /// Such as `connection.created`.
  public var eventType: String
  /// RFC 3339, UTC.
  public var timestamp: String?
  public var role: SignalingRole?
  public var sessionId: String?
  public var clientId: String?
  public var bundleId: String?
  public var connectionId: String?
  public var spotlightNumber: Int?
  public var audioEnabled: Bool?
  public var videoEnabled: Bool?
  /// The others of the channel, in `connection.created`.
  public var data: [SignalingNotifyMetadata]?
  /// Minutes since the connection began.
  public var connectionTime: Int?
  /// All connections of the channel.
  public var connectionCount: Int?
  public var channelSendonlyConnections: Int?
  public var channelRecvonlyConnections: Int?
  public var channelSendrecvConnections: Int?
  public var spotlightId: String?
  public var isFixed: Bool?
  /// 0 (good) to 3.
  public var unstableLevel: Int?
  /// `udp` or `tcp`.
  public var turnTransportType: String?
  /// `audio` or `video`.
  public var kind: String?
  public var destinationConnectionId: String?
  public var sourceConnectionId: String?
  public var recvConnectionId: String?
  public var sendConnectionId: String?
  public var streamId: String?
  public var failedConnectionId: String?
  public var currentState: String?
  public var previousState: String?
  private var authnForm: FreeForm
  private var authzForm: FreeForm
  private var metadataForm: FreeForm

  public var authnMetadata: Any? {
    get { authnForm.object }
    set { authnForm = FreeForm(object: newValue) }
  }
  public var authzMetadata: Any? {
    get { authzForm.object }
    set { authzForm = FreeForm(object: newValue) }
  }
  /// The connection's `signaling_notify_metadata`, in the types of `JSONSerialization`.
  public var metadata: Any? {
    get { metadataForm.object }
    set { metadataForm = FreeForm(object: newValue) }
  }

  init(_ message: NotifyMessage) {
    eventType = message.eventType
    timestamp = message.timestamp
    role = message.role.map(SignalingRole.init)
    sessionId = message.sessionID
    clientId = message.clientID
    bundleId = message.bundleID
    connectionId = message.connectionID
    spotlightNumber = message.spotlightNumber
    audioEnabled = message.audio
    videoEnabled = message.video
    data = message.data.map { $0.map(SignalingNotifyMetadata.init) }
    connectionTime = message.connectionTime
    connectionCount = message.channelConnections
    channelSendonlyConnections = message.channelSendonlyConnections
    channelRecvonlyConnections = message.channelRecvonlyConnections
    channelSendrecvConnections = message.channelSendrecvConnections
    spotlightId = message.spotlightID
    isFixed = message.fixed
    unstableLevel = message.unstableLevel
    turnTransportType = message.turnTransportType
    kind = message.kind
    destinationConnectionId = message.destinationConnectionID
    sourceConnectionId = message.sourceConnectionID
    recvConnectionId = message.recvConnectionID
    sendConnectionId = message.sendConnectionID
    streamId = message.streamID
    failedConnectionId = message.failedConnectionID
    currentState = message.currentState
    previousState = message.previousState
    authnForm = FreeForm(json: message.authnMetadata)
    authzForm = FreeForm(json: message.authzMetadata)
    metadataForm = FreeForm(json: message.metadata)
  }

  public init(from decoder: any Decoder) throws {
    guard case .notify(let message) = try SignalingCoding.message("notify", from: decoder) else {
      throw SoraError.invalidSignalingMessage
    }
    self.init(message)
  }

  public func encode(to encoder: any Encoder) throws { throw SoraError.invalidSignalingMessage }
}
