extension NotifyMessage {
  /// Names of events. Servers may send others.
  public enum EventType {
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
  }

  /// Another connection of the channel, as listed in `connection.created`.
  public struct Peer: Sendable, Hashable, JSONFields {
    public var clientID: String?
    public var bundleID: String?
    public var connectionID: String?
    public var authnMetadata: JSONValue?
    public var authzMetadata: JSONValue?
    public var metadata: JSONValue?

    public init(
      clientID: String? = nil, bundleID: String? = nil, connectionID: String? = nil,
      authnMetadata: JSONValue? = nil, authzMetadata: JSONValue? = nil,
      metadata: JSONValue? = nil
    ) {
      self.clientID = clientID
      self.bundleID = bundleID
      self.connectionID = connectionID
      self.authnMetadata = authnMetadata
      self.authzMetadata = authzMetadata
      self.metadata = metadata
    }

    init(json: JSONValue, path: String) throws(SignalingError) {
      var reader = try JSONFieldReader(nested: json, path: path)
      clientID = try reader.string("client_id")
      bundleID = try reader.string("bundle_id")
      connectionID = try reader.string("connection_id")
      authnMetadata = reader.any("authn_metadata")
      authzMetadata = reader.any("authz_metadata")
      metadata = reader.any("metadata")
    }

    var json: JSONValue {
      var writer = JSONFieldWriter()
      writer.set("client_id", clientID)
      writer.set("bundle_id", bundleID)
      writer.set("connection_id", connectionID)
      writer.set("authn_metadata", authnMetadata)
      writer.set("authz_metadata", authzMetadata)
      writer.set("metadata", metadata)
      return writer.json
    }
  }
}
