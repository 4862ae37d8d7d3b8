import SoraSignalingMessages

/// Targets about forwarding filters.
enum FilterTargets {
  static let all: [APIRoute] = [
    route("CreateChannelForwardingFilter", ofConnection: false) { .create($0) },
    route("UpdateChannelForwardingFilter", ofConnection: false) { .update($0) },
    APIRoute("Sora_20230628.DeleteChannelForwardingFilter", deletion(ofConnection: false), change),
    route("CreateConnectionForwardingFilter", ofConnection: true) { .create($0) },
    route("UpdateConnectionForwardingFilter", ofConnection: true) { .update($0) },
    APIRoute(
      "Sora_20230628.DeleteConnectionForwardingFilter", deletion(ofConnection: true), change),
    APIRoute("Sora_20230628.ListForwardingFilters", SFUSelection.channel, list),
  ]

  struct Change: Sendable {
    var channelID: String
    /// nil for the channel's.
    var connectionID: String?
    var change: SFUFilterChange
  }

  private static func route(
    _ name: String, ofConnection: Bool,
    _ change: @escaping @Sendable (ForwardingFilter) -> SFUFilterChange
  ) -> APIRoute {
    APIRoute(
      "Sora_20230628.\(name)",
      { body throws(APIError) in
        Change(
          channelID: try body.text("channel_id"),
          connectionID: ofConnection ? try body.text("connection_id") : nil,
          change: change(try filter(body)))
      }, Self.change)
  }

  private static func deletion(
    ofConnection: Bool
  ) -> @Sendable (APIBody) throws(APIError) -> Change {
    { body throws(APIError) in
      Change(
        channelID: try body.text("channel_id"),
        connectionID: ofConnection ? try body.text("connection_id") : nil,
        change: .delete(name: try body.optionalText("name")))
    }
  }

  private static func filter(_ body: APIBody) throws(APIError) -> ForwardingFilter {
    var members: [String: JSONValue] = [:]
    for key in ["name", "priority", "action", "rules", "version", "metadata"] {
      if let value = body.value(key), !value.isNull { members[key] = value }
    }
    do throws(SignalingError) {
      let filter = try ForwardingFilter.read(.object(members), path: "filter")
      try filter.check(path: "filter")
      return filter
    } catch {
      throw .invalid("INVALID-FIELD", error.shortText)
    }
  }

  @Sendable private static func change(
    _ change: Change, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    switch await backend.change(
      change.change, channelID: change.channelID, connectionID: change.connectionID)
    {
    case .done: return [:]
    case .unknownOwner:
      throw .unknown(
        SFUSelection(channelID: change.channelID, connectionID: change.connectionID))
    case .nameTaken:
      throw .invalid("FILTER-EXISTS", "there is a filter of that name; update or delete it")
    case .unknownName:
      throw APIError(
        status: 404, type: "FILTER-NOT-FOUND", reason: "there is no filter of that name")
    case .tooMany: throw .invalid("TOO-MANY-FILTERS", "delete filters first")
    }
  }

  @Sendable private static func list(
    _ selection: SFUSelection, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    guard let all = await backend.filters(channelID: selection.channelID) else {
      throw .unknown(selection)
    }
    return .array(
      all.map { status in
        guard case .object(var members) = status.filter.json else { return .null }
        members["channel_id"] = .string(selection.channelID)
        members["connection_id"] = status.connectionID.map { .string($0) }
        return .object(members)
      })
  }
}
