/// An event of the channel.
///
/// Only `event_type` is always there; which other keys come depends on the event. `NotifyFields` lists them.
public typealias NotifyMessage = SignalingObject<NotifyFields>

extension NotifyMessage {
  /// - Parameters:
  ///   - eventType: such as `connection.created`.
  ///   - change: sets further fields.
  public init(eventType: String, _ change: (inout NotifyMessage) -> Void = { _ in }) {
    self.init(members: [:])
    self.eventType = eventType
    change(&self)
  }
}

/// The keys of `notify`.
public struct NotifyFields: SignalingFields {
  public static let schema = Schema(Self())

  /// E.g. `connection.created`.
  public let eventType = Field<String>("event_type")
  /// RFC 3339, UTC.
  public let timestamp = Field<String?>("timestamp")
  public let role = Field<SignalingRole?>("role")
  public let sessionID = Field<String?>("session_id")
  public let clientID = Field<String?>("client_id")
  public let bundleID = Field<String?>("bundle_id")
  public let connectionID = Field<String?>("connection_id")
  public let audio = Field<Bool?>("audio")
  public let video = Field<Bool?>("video")
  /// Minutes since the connection began.
  public let connectionTime = Field<Int?>("minutes")
  /// Counters include the connection that the event is about when it joined, not when it left.
  public let channelConnections = Field<Int?>("channel_connections")
  public let channelSendrecvConnections = Field<Int?>("channel_sendrecv_connections")
  public let channelSendonlyConnections = Field<Int?>("channel_sendonly_connections")
  public let channelRecvonlyConnections = Field<Int?>("channel_recvonly_connections")
  /// `udp` or `tcp`.
  public let turnTransportType = Field<String?>("turn_transport_type")
  /// The `signaling_notify_metadata` of the connection.
  public let metadata = Field<JSONValue?>("metadata")
  public let authnMetadata = Field<JSONValue?>("authn_metadata")
  public let authzMetadata = Field<JSONValue?>("authz_metadata")
  /// In `connection.created`: the others of the channel.
  public let data = Field<[NotifyPeer]?>("data")
  public let spotlightNumber = Field<Int?>("spotlight_number")
  public let spotlightID = Field<String?>("spotlight_id")
  public let fixed = Field<Bool?>("fixed")
  /// 0 (good) to 3.
  public let unstableLevel = Field<Int?>("unstable_level")
  /// `audio` or `video`.
  public let kind = Field<String?>("kind")
  public let destinationConnectionID = Field<String?>("destination_connection_id")
  public let sourceConnectionID = Field<String?>("source_connection_id")
  public let recvConnectionID = Field<String?>("recv_connection_id")
  public let sendConnectionID = Field<String?>("send_connection_id")
  public let streamID = Field<String?>("stream_id")
  public let failedConnectionID = Field<String?>("failed_connection_id")
  public let currentState = Field<String?>("current_state")
  public let previousState = Field<String?>("previous_state")
  public let senderConnectionID = Field<String?>("sender_connection_id")
  /// `higher` or `lower`.
  public let priority = Field<String?>("priority")
  /// `sender` or `receiver`.
  public let trigger = Field<String?>("trigger")
  public let rpcRids = Field<[String]?>("rpc_rids")
  public let autoRids = Field<[String]?>("auto_rids")
  public let requestRid = Field<String?>("request_rid")
  public let currentRid = Field<String?>("current_rid")
  public let previousRid = Field<String?>("previous_rid")
  /// In `recording.started` and `recording.stopped`. Sora's keys of these events aren't public.
  public let recordingID = Field<String?>("recording_id")
}

/// Names of events. Servers may send others.
public enum NotifyEventType {
  public static let connectionCreated = "connection.created"
  public static let connectionUpdated = "connection.updated"
  public static let connectionDestroyed = "connection.destroyed"
  public static let spotlightFocused = "spotlight.focused"
  public static let spotlightUnfocused = "spotlight.unfocused"
  public static let spotlightChanged = "spotlight.changed"
  public static let networkStatus = "network.status"
  public static let simulcastSwitched = "simulcast.switched"
  public static let forwardingBlocked = "forwarding.blocked"
  public static let forwardingAllowed = "forwarding.allowed"
  public static let recordingStarted = "recording.started"
  public static let recordingStopped = "recording.stopped"
}

/// Another connection of the channel, as listed in `connection.created`.
public typealias NotifyPeer = SignalingObject<NotifyPeerFields>

/// The keys of one element of `notify.data`.
public struct NotifyPeerFields: OptionalFields {
  public static let schema = Schema(Self())

  public let clientID = Field<String?>("client_id")
  public let bundleID = Field<String?>("bundle_id")
  public let connectionID = Field<String?>("connection_id")
  public let authnMetadata = Field<JSONValue?>("authn_metadata")
  public let authzMetadata = Field<JSONValue?>("authz_metadata")
  public let metadata = Field<JSONValue?>("metadata")
}
