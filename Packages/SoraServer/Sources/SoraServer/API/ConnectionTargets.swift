import SoraMedia
import SoraSignalingMessages

/// Targets about connections that are there.
enum ConnectionTargets {
  static let all: [APIRoute] = [
    APIRoute("Sora_20151104.DisconnectChannel", disconnect(SFUSelection.channel), disconnect),
    APIRoute("Sora_20151104.DisconnectClient", disconnect(SFUSelection.client), disconnect),
    APIRoute("Sora_20151104.DisconnectConnection", disconnect(SFUSelection.connection), disconnect),
    APIRoute("Sora_20201120.DisconnectChannelByRole", disconnect(SFUSelection.role), disconnect),
    APIRoute("Sora_20160711.PushChannel", push(SFUSelection.channel), push),
    APIRoute("Sora_20160711.PushClient", push(SFUSelection.client), push),
    APIRoute("Sora_20160711.PushConnection", push(SFUSelection.connection), push),
    APIRoute("Sora_20201120.PushChannelByRole", push(SFUSelection.role), push),
    APIRoute("Sora_20201013.ListConnections", APINothing.init, list),
    APIRoute("Sora_20201013.ListChannelConnections", SFUSelection.channel, list),
    APIRoute("Sora_20170529.GetStatsConnection", SFUSelection.connection, statistics),
    APIRoute("Sora_20170529.GetStatsClient", SFUSelection.client, statisticsOfClient),
    APIRoute("Sora_20171101.GetStatsAllConnections", APINothing.init, statisticsOfAll),
    APIRoute("Sora_20241218.RequestKeyFrame", SFUSelection.connection, requestKeyFrame),
  ]

  struct Push: Sendable {
    var selection: SFUSelection
    var data: JSONValue
  }

  private static func push(
    _ selection: @escaping @Sendable (APIBody) throws(APIError) -> SFUSelection
  ) -> @Sendable (APIBody) throws(APIError) -> Push {
    { body throws(APIError) in
      guard let data = body.value("data") else {
        throw .invalid("MISSING-FIELD", "data: any JSON is needed")
      }
      return Push(selection: try selection(body), data: data)
    }
  }

  struct Disconnect: Sendable {
    var selection: SFUSelection
    var reason: String?
  }

  private static func disconnect(
    _ selection: @escaping @Sendable (APIBody) throws(APIError) -> SFUSelection
  ) -> @Sendable (APIBody) throws(APIError) -> Disconnect {
    { body throws(APIError) in
      let reason = try body.optionalText("reason")
      guard (reason?.utf8.count ?? 0) <= SFUClose.mostReason else {
        throw .invalid("INVALID-FIELD", "reason: at most \(SFUClose.mostReason) bytes")
      }
      return Disconnect(selection: try selection(body), reason: reason)
    }
  }

  @Sendable private static func disconnect(
    _ disconnect: Disconnect, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    let count = await backend.disconnect(disconnect.selection, reason: disconnect.reason)
    guard count > 0 else { throw .unknown(disconnect.selection) }
    return [:]
  }

  @Sendable private static func push(
    _ push: Push, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    let count = await backend.push(push.data, to: push.selection)
    guard count > 0 else { throw .unknown(push.selection) }
    return [:]
  }

  @Sendable private static func list(
    _ request: APINothing, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    .array(await backend.status(of: nil).map(\.identity))
  }

  @Sendable private static func list(
    _ selection: SFUSelection, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    .array(await backend.status(of: selection).map(\.identity))
  }

  @Sendable private static func statistics(
    _ selection: SFUSelection, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    guard let found = await backend.status(of: selection).first else {
      throw .unknown(selection)
    }
    return found.statistics
  }

  @Sendable private static func statisticsOfClient(
    _ selection: SFUSelection, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    let found = await backend.status(of: selection).map(\.statistics)
    guard !found.isEmpty else { throw .unknown(selection) }
    return .array(found)
  }

  @Sendable private static func statisticsOfAll(
    _ request: APINothing, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    .array(await backend.status(of: nil).map(\.statistics))
  }

  @Sendable private static func requestKeyFrame(
    _ selection: SFUSelection, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    guard let id = await backend.status(of: selection).first?.connectionID else {
      throw .unknown(selection)
    }
    await backend.requestKeyFrame(connectionID: id)
    return ["channel_id": .string(selection.channelID), "connection_id": .string(id)]
  }
}

extension SFUConnectionStatus {
  /// Who it is.
  fileprivate var identityFields: [String: JSONValue] {
    var fields: [String: JSONValue] = [
      "channel_id": .string(channelID), "session_id": .string(sessionID),
      "client_id": .string(clientID), "bundle_id": .string(bundleID),
      "connection_id": .string(connectionID), "role": .string(role.rawValue),
      "connected": .bool(isConnected), "spotlight": .bool(spotlight.isEnabled),
      "spotlight_focused": .bool(spotlight.isFocused), "spotlight_fixed": .bool(spotlight.isFixed),
      "audio": .bool(tracks.contains { $0.kind == .audio }),
      "video": .bool(tracks.contains { $0.kind == .video }),
    ]
    if let code = audioStreamingLanguageCode {
      fields["audio_streaming_language_code"] = .string(code)
    }
    return fields
  }

  fileprivate var identity: JSONValue { .object(identityFields) }

  /// Who it is, and what it has sent and received.
  fileprivate var statistics: JSONValue {
    var fields = identityFields
    fields["total_received_bytes"] = .integer(Int64(clamping: bytesReceived))
    fields["total_sent_bytes"] = .integer(Int64(clamping: bytesSent))
    fields["tracks"] = .array(
      tracks.map { track in
        [
          "kind": .string(track.kind.rawValue), "codec": .string(track.codec),
          "packets": .integer(Int64(clamping: track.packets)),
          "bytes": .integer(Int64(clamping: track.bytes)),
          "packets_lost": .integer(track.packetsLost),
          "nacks": .integer(Int64(clamping: track.nacksSent)),
          "key_frame_requests": .integer(Int64(clamping: track.keyFrameRequests)),
          "subscribers": .integer(Int64(track.subscribers)),
          "layers": .array(track.layers.map(\.json)),
        ]
      })
    fields["simulcast_rids"] = .array(
      subscriptions.compactMap { subscription in
        subscription.rid.map {
          ["sender_connection_id": .string(subscription.publisherID), "rid": .string($0)]
        }
      })
    return .object(fields)
  }
}

extension SFUConnectionStatus.Layer {
  fileprivate var json: JSONValue {
    [
      "rid": .string(rid), "flowing": .bool(isFlowing),
      "packets": .integer(Int64(clamping: packets)), "bytes": .integer(Int64(clamping: bytes)),
      "key_frame_requests": .integer(Int64(clamping: keyFrameRequests)),
    ]
  }
}
