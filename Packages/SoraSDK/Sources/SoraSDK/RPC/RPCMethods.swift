// The methods of Sora 2025.2, under the names of the iOS SDK 2026.1.

/// A layer of simulcast, or none of them.
public enum Rid: String, Codable, Equatable, Sendable {
  case none, r0, r1, r2
}

/// Asks for a layer of what others send in simulcast.
public enum RequestSimulcastRid: RPCMethodProtocol {
  public typealias Params = RequestSimulcastRidParams
  public typealias Result = RequestSimulcastRidResult
  public static let name = "2025.2.0/RequestSimulcastRid"
}

public struct RequestSimulcastRidParams: Encodable, Sendable {
  public let rid: Rid
  /// Whose; nil for all that there are and will be.
  public let senderConnectionId: String?

  public init(rid: Rid, senderConnectionId: String? = nil) {
    self.rid = rid
    self.senderConnectionId = senderConnectionId
  }

  private enum CodingKeys: String, CodingKey {
    case rid
    case senderConnectionId = "sender_connection_id"
  }
}

public struct RequestSimulcastRidResult: Decodable, Sendable {
  public let channelId: String
  public let receiverConnectionId: String
  public let rid: Rid
  public let senderConnectionId: String?

  private enum CodingKeys: String, CodingKey {
    case channelId = "channel_id"
    case receiverConnectionId = "receiver_connection_id"
    case rid
    case senderConnectionId = "sender_connection_id"
  }
}

/// Asks for the layers of those who are focused and of those who aren't.
public enum RequestSpotlightRid: RPCMethodProtocol {
  public typealias Params = RequestSpotlightRidParams
  public typealias Result = RequestSpotlightRidResult
  public static let name = "2025.2.0/RequestSpotlightRid"
}

public struct RequestSpotlightRidParams: Encodable, Sendable {
  /// Whose; nil for all.
  public let sendConnectionId: String?
  public let spotlightFocusRid: Rid
  public let spotlightUnfocusRid: Rid

  public init(sendConnectionId: String? = nil, spotlightFocusRid: Rid, spotlightUnfocusRid: Rid) {
    self.sendConnectionId = sendConnectionId
    self.spotlightFocusRid = spotlightFocusRid
    self.spotlightUnfocusRid = spotlightUnfocusRid
  }

  private enum CodingKeys: String, CodingKey {
    case sendConnectionId = "send_connection_id"
    case spotlightFocusRid = "spotlight_focus_rid"
    case spotlightUnfocusRid = "spotlight_unfocus_rid"
  }
}

public struct RequestSpotlightRidResult: Decodable, Sendable {
  public let channelId: String
  public let recvConnectionId: String
  public let spotlightFocusRid: Rid
  public let spotlightUnfocusRid: Rid

  private enum CodingKeys: String, CodingKey {
    case channelId = "channel_id"
    case recvConnectionId = "recv_connection_id"
    case spotlightFocusRid = "spotlight_focus_rid"
    case spotlightUnfocusRid = "spotlight_unfocus_rid"
  }
}

/// Takes back what `RequestSpotlightRid` asked for.
public enum ResetSpotlightRid: RPCMethodProtocol {
  public typealias Params = ResetSpotlightRidParams
  public typealias Result = ResetSpotlightRidResult
  public static let name = "2025.2.0/ResetSpotlightRid"
}

public struct ResetSpotlightRidParams: Encodable, Sendable {
  /// Whose; nil for all.
  public let sendConnectionId: String?

  public init(sendConnectionId: String? = nil) { self.sendConnectionId = sendConnectionId }

  private enum CodingKeys: String, CodingKey {
    case sendConnectionId = "send_connection_id"
  }
}

public struct ResetSpotlightRidResult: Decodable, Sendable {
  public let channelId: String
  public let recvConnectionId: String

  private enum CodingKeys: String, CodingKey {
    case channelId = "channel_id"
    case recvConnectionId = "recv_connection_id"
  }
}

/// Sets what others see of this connection (`signaling_notify_metadata`). The result is what they see from then on.
public enum PutSignalingNotifyMetadata<Metadata: Codable>: RPCMethodProtocol {
  public typealias Params = PutSignalingNotifyMetadataParams<Metadata>
  public typealias Result = Metadata
  public static var name: String { "2025.2.0/PutSignalingNotifyMetadata" }
}

public struct PutSignalingNotifyMetadataParams<Metadata: Encodable>: Encodable {
  public let metadata: Metadata
  /// Whether the others are told at once, by `push`.
  public let push: Bool?

  public init(metadata: Metadata, push: Bool? = nil) {
    self.metadata = metadata
    self.push = push
  }
}

extension PutSignalingNotifyMetadataParams: Sendable where Metadata: Sendable {}

/// Sets one key of what others see of this connection. The result is all that they see from then on.
public enum PutSignalingNotifyMetadataItem<Metadata: Decodable, Value: Encodable>: RPCMethodProtocol
{
  public typealias Params = PutSignalingNotifyMetadataItemParams<Value>
  public typealias Result = Metadata
  public static var name: String { "2025.2.0/PutSignalingNotifyMetadataItem" }
}

public struct PutSignalingNotifyMetadataItemParams<Value: Encodable>: Encodable {
  public let key: String
  public let value: Value
  /// Whether the others are told at once, by `push`.
  public let push: Bool?

  public init(key: String, value: Value, push: Bool? = nil) {
    self.key = key
    self.value = value
    self.push = push
  }
}

extension PutSignalingNotifyMetadataItemParams: Sendable where Value: Sendable {}
