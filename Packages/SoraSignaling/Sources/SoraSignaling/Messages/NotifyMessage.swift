/// An event of the channel.
///
/// Only `event_type` is always there; which other keys come depends on the event.
public struct NotifyMessage: Sendable, Hashable, JSONFields {
  /// E.g. `connection.created`.
  public var eventType: String
  /// RFC 3339, UTC.
  public var timestamp: String?
  public var role: SignalingRole?
  public var sessionID: String?
  public var clientID: String?
  public var bundleID: String?
  public var connectionID: String?
  public var audio: Bool?
  public var video: Bool?
  /// Minutes since the connection began, key `minutes`.
  public var connectionTime: Int?
  /// Counters include the connection that the event is about when it joined, not when it left.
  public var channelConnections: Int?
  public var channelSendrecvConnections: Int?
  public var channelSendonlyConnections: Int?
  public var channelRecvonlyConnections: Int?
  /// `udp` or `tcp`.
  public var turnTransportType: String?
  /// The `signaling_notify_metadata` of the connection.
  public var metadata: JSONValue?
  public var authnMetadata: JSONValue?
  public var authzMetadata: JSONValue?
  /// In `connection.created`: the others of the channel.
  public var data: [Peer]?
  public var spotlightNumber: Int?
  public var spotlightID: String?
  public var fixed: Bool?
  /// 0 (good) to 3.
  public var unstableLevel: Int?
  /// `audio` or `video`.
  public var kind: String?
  public var destinationConnectionID: String?
  public var sourceConnectionID: String?
  public var recvConnectionID: String?
  public var sendConnectionID: String?
  public var streamID: String?
  public var failedConnectionID: String?
  public var currentState: String?
  public var previousState: String?
  public var senderConnectionID: String?
  /// `higher` or `lower`.
  public var priority: String?
  /// `sender` or `receiver`.
  public var trigger: String?
  public var rpcRids: [String]?
  public var autoRids: [String]?
  public var requestRid: String?
  public var currentRid: String?
  public var previousRid: String?
  /// Keys that this version doesn't know.
  public var additional: [String: JSONValue]

  /// All other keys start absent.
  public init(eventType: String, additional: [String: JSONValue] = [:]) {
    self.eventType = eventType
    self.additional = additional
  }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(json, path: path)
    eventType = try reader.requiredString("event_type")
    timestamp = try reader.string("timestamp")
    role = try reader.text("role")
    sessionID = try reader.string("session_id")
    clientID = try reader.string("client_id")
    bundleID = try reader.string("bundle_id")
    connectionID = try reader.string("connection_id")
    audio = try reader.bool("audio")
    video = try reader.bool("video")
    connectionTime = try reader.int("minutes")
    channelConnections = try reader.int("channel_connections")
    channelSendrecvConnections = try reader.int("channel_sendrecv_connections")
    channelSendonlyConnections = try reader.int("channel_sendonly_connections")
    channelRecvonlyConnections = try reader.int("channel_recvonly_connections")
    turnTransportType = try reader.string("turn_transport_type")
    metadata = reader.any("metadata")
    authnMetadata = reader.any("authn_metadata")
    authzMetadata = reader.any("authz_metadata")
    data = try reader.array("data", Peer.init(json:path:))
    spotlightNumber = try reader.int("spotlight_number")
    spotlightID = try reader.string("spotlight_id")
    fixed = try reader.bool("fixed")
    unstableLevel = try reader.int("unstable_level")
    kind = try reader.string("kind")
    destinationConnectionID = try reader.string("destination_connection_id")
    sourceConnectionID = try reader.string("source_connection_id")
    recvConnectionID = try reader.string("recv_connection_id")
    sendConnectionID = try reader.string("send_connection_id")
    streamID = try reader.string("stream_id")
    failedConnectionID = try reader.string("failed_connection_id")
    currentState = try reader.string("current_state")
    previousState = try reader.string("previous_state")
    senderConnectionID = try reader.string("sender_connection_id")
    priority = try reader.string("priority")
    trigger = try reader.string("trigger")
    rpcRids = try reader.strings("rpc_rids")
    autoRids = try reader.strings("auto_rids")
    requestRid = try reader.string("request_rid")
    currentRid = try reader.string("current_rid")
    previousRid = try reader.string("previous_rid")
    additional = reader.rest
  }

  var json: JSONValue {
    var writer = JSONFieldWriter(additional: additional)
    writer.set("event_type", eventType)
    writer.set("timestamp", timestamp)
    writer.set("role", role)
    writer.set("session_id", sessionID)
    writer.set("client_id", clientID)
    writer.set("bundle_id", bundleID)
    writer.set("connection_id", connectionID)
    writer.set("audio", audio)
    writer.set("video", video)
    writer.set("minutes", connectionTime)
    writer.set("channel_connections", channelConnections)
    writer.set("channel_sendrecv_connections", channelSendrecvConnections)
    writer.set("channel_sendonly_connections", channelSendonlyConnections)
    writer.set("channel_recvonly_connections", channelRecvonlyConnections)
    writer.set("turn_transport_type", turnTransportType)
    writer.set("metadata", metadata)
    writer.set("authn_metadata", authnMetadata)
    writer.set("authz_metadata", authzMetadata)
    writer.set("data", data?.map(\.json))
    writer.set("spotlight_number", spotlightNumber)
    writer.set("spotlight_id", spotlightID)
    writer.set("fixed", fixed)
    writer.set("unstable_level", unstableLevel)
    writer.set("kind", kind)
    writer.set("destination_connection_id", destinationConnectionID)
    writer.set("source_connection_id", sourceConnectionID)
    writer.set("recv_connection_id", recvConnectionID)
    writer.set("send_connection_id", sendConnectionID)
    writer.set("stream_id", streamID)
    writer.set("failed_connection_id", failedConnectionID)
    writer.set("current_state", currentState)
    writer.set("previous_state", previousState)
    writer.set("sender_connection_id", senderConnectionID)
    writer.set("priority", priority)
    writer.set("trigger", trigger)
    writer.set("rpc_rids", rpcRids)
    writer.set("auto_rids", autoRids)
    writer.set("request_rid", requestRid)
    writer.set("current_rid", currentRid)
    writer.set("previous_rid", previousRid)
    return writer.json
  }
}
