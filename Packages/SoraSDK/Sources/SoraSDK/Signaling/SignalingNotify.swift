import SoraSignaling

/// Another connection of the channel, as `connection.created` lists it.
public struct SignalingNotifyMetadata: Sendable {
  private(set) var message: NotifyPeer

  public var clientId: String? {
    get { message.clientID }
    set { message.clientID = newValue }
  }
  public var bundleId: String? {
    get { message.bundleID }
    set { message.bundleID = newValue }
  }
  public var connectionId: String? {
    get { message.connectionID }
    set { message.connectionID = newValue }
  }
  public var authnMetadata: Any? {
    get { message.authnMetadata?.object }
    set { message.authnMetadata = FreeForm(object: newValue).json }
  }
  public var authzMetadata: Any? {
    get { message.authzMetadata?.object }
    set { message.authzMetadata = FreeForm(object: newValue).json }
  }
  /// Its `signaling_notify_metadata`.
  public var metadata: Any? {
    get { message.metadata?.object }
    set { message.metadata = FreeForm(object: newValue).json }
  }

  init(_ message: NotifyPeer) { self.message = message }
}

/// An event of the channel. Only `eventType` is always there. Can only be decoded.
///
/// The properties are the iOS SDK's names of the fields of `NotifyMessage`.
public struct SignalingNotify: Codable, Sendable {
  private var message: NotifyMessage

  /// Such as `connection.created`.
  public var eventType: String {
    get { message.eventType }
    set { message.eventType = newValue }
  }
  /// RFC 3339, UTC.
  public var timestamp: String? {
    get { message.timestamp }
    set { message.timestamp = newValue }
  }
  public var role: SignalingRole? {
    get { message.role.map(SignalingRole.init) }
    set { message.role = newValue?.message }
  }
  public var sessionId: String? {
    get { message.sessionID }
    set { message.sessionID = newValue }
  }
  public var clientId: String? {
    get { message.clientID }
    set { message.clientID = newValue }
  }
  public var bundleId: String? {
    get { message.bundleID }
    set { message.bundleID = newValue }
  }
  public var connectionId: String? {
    get { message.connectionID }
    set { message.connectionID = newValue }
  }
  public var spotlightNumber: Int? {
    get { message.spotlightNumber }
    set { message.spotlightNumber = newValue }
  }
  public var audioEnabled: Bool? {
    get { message.audio }
    set { message.audio = newValue }
  }
  public var videoEnabled: Bool? {
    get { message.video }
    set { message.video = newValue }
  }
  /// The others of the channel, in `connection.created`.
  public var data: [SignalingNotifyMetadata]? {
    get { message.data?.map(SignalingNotifyMetadata.init) }
    set { message.data = newValue?.map(\.message) }
  }
  /// Minutes since the connection began.
  public var connectionTime: Int? {
    get { message.connectionTime }
    set { message.connectionTime = newValue }
  }
  /// All connections of the channel.
  public var connectionCount: Int? {
    get { message.channelConnections }
    set { message.channelConnections = newValue }
  }
  public var channelSendonlyConnections: Int? {
    get { message.channelSendonlyConnections }
    set { message.channelSendonlyConnections = newValue }
  }
  public var channelRecvonlyConnections: Int? {
    get { message.channelRecvonlyConnections }
    set { message.channelRecvonlyConnections = newValue }
  }
  public var channelSendrecvConnections: Int? {
    get { message.channelSendrecvConnections }
    set { message.channelSendrecvConnections = newValue }
  }
  public var spotlightId: String? {
    get { message.spotlightID }
    set { message.spotlightID = newValue }
  }
  public var isFixed: Bool? {
    get { message.fixed }
    set { message.fixed = newValue }
  }
  /// 0 (good) to 3.
  public var unstableLevel: Int? {
    get { message.unstableLevel }
    set { message.unstableLevel = newValue }
  }
  /// `udp` or `tcp`.
  public var turnTransportType: String? {
    get { message.turnTransportType }
    set { message.turnTransportType = newValue }
  }
  /// `audio` or `video`.
  public var kind: String? {
    get { message.kind }
    set { message.kind = newValue }
  }
  public var destinationConnectionId: String? {
    get { message.destinationConnectionID }
    set { message.destinationConnectionID = newValue }
  }
  public var sourceConnectionId: String? {
    get { message.sourceConnectionID }
    set { message.sourceConnectionID = newValue }
  }
  public var recvConnectionId: String? {
    get { message.recvConnectionID }
    set { message.recvConnectionID = newValue }
  }
  public var sendConnectionId: String? {
    get { message.sendConnectionID }
    set { message.sendConnectionID = newValue }
  }
  public var streamId: String? {
    get { message.streamID }
    set { message.streamID = newValue }
  }
  public var failedConnectionId: String? {
    get { message.failedConnectionID }
    set { message.failedConnectionID = newValue }
  }
  public var currentState: String? {
    get { message.currentState }
    set { message.currentState = newValue }
  }
  public var previousState: String? {
    get { message.previousState }
    set { message.previousState = newValue }
  }
  public var authnMetadata: Any? {
    get { message.authnMetadata?.object }
    set { message.authnMetadata = FreeForm(object: newValue).json }
  }
  public var authzMetadata: Any? {
    get { message.authzMetadata?.object }
    set { message.authzMetadata = FreeForm(object: newValue).json }
  }
  /// The connection's `signaling_notify_metadata`, in the types of `JSONSerialization`.
  public var metadata: Any? {
    get { message.metadata?.object }
    set { message.metadata = FreeForm(object: newValue).json }
  }

  init(_ message: NotifyMessage) { self.message = message }

  public init(from decoder: any Decoder) throws {
    guard case .notify(let message) = try SignalingCoding.message("notify", from: decoder) else {
      throw SoraError.invalidSignalingMessage
    }
    self.init(message)
  }

  public func encode(to encoder: any Encoder) throws { throw SoraError.invalidSignalingMessage }
}
