package import SoraMedia
package import SoraSignalingChannels
package import SoraSignalingMessages

extension SFUCore {
  /// Does what a connection calls for, as if it had come on its data channel `rpc`.
  ///
  /// - Returns: its answer; nil where there is no such connection.
  package func call(
    _ request: RPCRequest, of connectionID: String, at now: Instant
  ) -> Result<JSONValue, RPCError>? {
    defer { deliver(at: now) }
    return connection(id: connectionID)?.call(request, at: now)
  }
}

// What calls on the data channel `rpc` do.
extension SFUConnection {
  /// Does what the client calls for.
  func call(_ request: RPCRequest, at now: Instant) -> Result<JSONValue, RPCError> {
    Result { () throws(RPCError) -> JSONValue in
      guard let method = RPCMethod(rawValue: request.method),
        self.request.rpcMethods.contains(method.rawValue)
      else {
        throw RPCError(
          .methodNotFound, "\(request.method) is none of those that offer.rpc_methods lists")
      }
      guard case .object(let params)? = request.params else {
        throw RPCError(.invalidParams, "params must be an object")
      }
      switch method {
      case .requestSimulcastRid: return try requestSimulcastRid(params, at: now)
      case .requestSpotlightRid: return try requestSpotlightRid(params, at: now)
      case .resetSpotlightRid: return try resetSpotlightRid(params, at: now)
      case .putSignalingNotifyMetadata: return try putMetadata(params, at: now)
      case .putSignalingNotifyMetadataItem: return try putMetadataItem(params, at: now)
      }
    }
  }

  /// Asks for a layer of one sender's simulcast, or of everybody's.
  private func requestSimulcastRid(
    _ params: [String: JSONValue], at now: Instant
  ) throws(RPCError) -> JSONValue {
    let rid = try rid("rid", params)
    let sender = try sender("sender_connection_id", params)
    request(rid, of: sender, at: now)
    var result: [String: JSONValue] = [
      "channel_id": .string(channel.id), "receiver_connection_id": .string(connectionID),
      "rid": .string(rid.rawValue),
    ]
    if let sender { result["sender_connection_id"] = .string(sender) }
    return .object(result)
  }

  private func rid(
    _ key: String, _ params: [String: JSONValue]
  ) throws(RPCError) -> SignalingRid {
    guard let rid = params[key]?.stringValue.flatMap(SignalingRid.init) else {
      throw RPCError(.invalidParams, "\(key) must be none, r0, r1 or r2")
    }
    return rid
  }

  /// A connection of this channel; nil where none is named.
  private func sender(
    _ key: String, _ params: [String: JSONValue]
  ) throws(RPCError) -> String? {
    guard let given = params[key], !given.isNull else { return nil }
    guard let sender = given.stringValue, channel.member(sender) != nil else {
      throw RPCError(.invalidParams, "\(key) is nobody's in this channel")
    }
    return sender
  }

  private func requestSpotlightRid(
    _ params: [String: JSONValue], at now: Instant
  ) throws(RPCError) -> JSONValue {
    let rids = SFUSpotlightRids(
      focus: try rid("spotlight_focus_rid", params),
      unfocus: try rid("spotlight_unfocus_rid", params))
    let sender = try sender("send_connection_id", params)
    guard requestSpotlight(.init(sender: sender, rids: rids), at: now) else {
      throw Self.noSpotlight
    }
    return [
      "channel_id": .string(channel.id), "recv_connection_id": .string(connectionID),
      "spotlight_focus_rid": .string(rids.focus.rawValue),
      "spotlight_unfocus_rid": .string(rids.unfocus.rawValue),
    ]
  }

  private func resetSpotlightRid(
    _ params: [String: JSONValue], at now: Instant
  ) throws(RPCError) -> JSONValue {
    let sender = try sender("send_connection_id", params)
    guard resetSpotlight(of: sender, at: now) else { throw Self.noSpotlight }
    return [
      "channel_id": .string(channel.id), "recv_connection_id": .string(connectionID),
    ]
  }

  private static var noSpotlight: RPCError {
    RPCError(.invalidParams, "this connection has no spotlight: connect with spotlight true")
  }

  /// Puts other metadata in the place of what others are told of this connection.
  private func putMetadata(
    _ params: [String: JSONValue], at now: Instant
  ) throws(RPCError) -> JSONValue {
    guard let metadata = params["metadata"] else {
      throw RPCError(.invalidParams, "metadata is missing")
    }
    try setMetadata(
      metadata, params,
      pushing: ["action": "PutMetadata", "metadata": metadata], at: now)
    return metadata
  }

  /// Changes one member of it.
  private func putMetadataItem(
    _ params: [String: JSONValue], at now: Instant
  ) throws(RPCError) -> JSONValue {
    guard let key = params["key"]?.stringValue, let value = params["value"] else {
      throw RPCError(.invalidParams, "key must be a string, and value is missing or anything")
    }
    var members: [String: JSONValue]
    switch identity.peer.metadata {
    case nil, .null?: members = [:]
    case .object(let present)?: members = present
    default:
      throw RPCError(.invalidParams, "signaling_notify_metadata is no object to put an item into")
    }
    members[key] = value
    try setMetadata(
      .object(members), params,
      pushing: ["action": "PutMetadataItem", "key": .string(key), "value": value], at: now)
    return .object(members)
  }

  /// - Parameter news: what the others of the channel are pushed where the client wants that.
  private func setMetadata(
    _ metadata: JSONValue, _ params: [String: JSONValue], pushing news: [String: JSONValue],
    at now: Instant
  ) throws(RPCError) {
    let isPushed: Bool
    switch params["push"] {
    case nil: isPushed = false
    case .bool(let value)?: isPushed = value
    default: throw RPCError(.invalidParams, "push must be true or false")
    }
    guard metadata.bytes.count <= Self.mostMetadata else {
      throw RPCError(.invalidParams, "metadata may have \(Self.mostMetadata) bytes as JSON")
    }
    var changed = identity
    changed.peer.metadata = metadata
    let growth = changed.size - identity.size
    // Less is always taken, so that a full channel can become smaller.
    guard growth <= 0 || channel.metadataSize + growth <= SFUNotification.mostMetadata else {
      throw RPCError(.invalidParams, "the channel's metadata is as long as it may be")
    }
    identity = changed
    guard isPushed else { return }
    var data = news
    data["connection_id"] = .string(connectionID)
    data["type"] = "signaling_notify_metadata_ext"
    core.tell(.push(.object(data)), to: core.others(of: self), at: now)
  }

  /// Each newcomer is told all of it.
  private static var mostMetadata: Int { 64 * 1024 }
}
