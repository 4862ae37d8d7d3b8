import SoraSignalingMessages

/// Targets about the spotlights of channels.
enum SpotlightTargets {
  static let all: [APIRoute] = [
    route("Sora_20200807.FocusSpotlight") { body throws(APIError) in
      .focus(try body.text("connection_id"), isFixed: false)
    },
    route("Sora_20200807.FocusSpotlightFixed") { body throws(APIError) in
      .focus(try body.text("connection_id"), isFixed: true)
    },
    route("Sora_20200807.UnfocusSpotlight") { body throws(APIError) in
      .unfocus(try body.text("connection_id"))
    },
    route("Sora_20200807.ChangeSpotlightNumber") { body throws(APIError) in
      .number(try body.number("spotlight_number", Spotlight.numbers))
    },
    route("Sora_20211215.RequestSpotlightRid") { body throws(APIError) in
      .request([try layers(body)], receiver: try body.text("recv_connection_id"))
    },
    route("Sora_20211215.ResetSpotlightRid") { body throws(APIError) in
      .reset(
        receiver: try body.text("recv_connection_id"),
        sender: try body.optionalText("send_connection_id"))
    },
    route("Sora_20211215.BatchRequestSpotlightRid") { body throws(APIError) in
      var all: [SFUSpotlightChange.Layers] = []
      for item in try body.items("item_list", most: mostItems) { all.append(try layers(item)) }
      return .request(all, receiver: try body.text("recv_connection_id"))
    },
  ]

  /// One for each sender that a channel may have, and more.
  private static let mostItems = 1000

  private static func layers(_ body: APIBody) throws(APIError) -> SFUSpotlightChange.Layers {
    SFUSpotlightChange.Layers(
      sender: try body.optionalText("send_connection_id"),
      rids: SFUSpotlightRids(
        focus: try body.rid("spotlight_focus_rid"), unfocus: try body.rid("spotlight_unfocus_rid")))
  }

  struct Change: Sendable {
    var channelID: String
    var change: SFUSpotlightChange
  }

  private static func route(
    _ target: String,
    _ change: @escaping @Sendable (APIBody) throws(APIError) -> SFUSpotlightChange
  ) -> APIRoute {
    APIRoute(
      target,
      { body throws(APIError) in
        Change(channelID: try body.text("channel_id"), change: try change(body))
      }, Self.change)
  }

  @Sendable private static func change(
    _ request: Change, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    switch await backend.change(request.change, channelID: request.channelID) {
    case .done: return request.echo
    case .notFound:
      throw APIError(
        status: 404, type: "CONNECTION-NOT-FOUND",
        reason: "channel \(request.channelID) isn't there, or has no such connection")
    case .noSpotlight:
      throw .invalid(
        "NO-SPOTLIGHT", "connect with spotlight true: the channel or the receiver has none")
    case .full:
      throw .invalid("SPOTLIGHT-FULL", "all places are fixed; take somebody out first")
    }
  }
}

extension SpotlightTargets.Change {
  /// The request's ids, as Sora answers.
  fileprivate var echo: JSONValue {
    var fields: [String: JSONValue] = ["channel_id": .string(channelID)]
    switch change {
    case .focus(let id, _), .unfocus(let id): fields["connection_id"] = .string(id)
    case .number(let number): fields["spotlight_number"] = .integer(Int64(number))
    case .request(let layers, let receiver):
      fields["recv_connection_id"] = .string(receiver)
      if layers.count == 1, let only = layers.first {
        if let sender = only.sender { fields["send_connection_id"] = .string(sender) }
        fields["spotlight_focus_rid"] = .string(only.rids.focus.rawValue)
        fields["spotlight_unfocus_rid"] = .string(only.rids.unfocus.rawValue)
      }
    case .reset(let receiver, let sender):
      fields["recv_connection_id"] = .string(receiver)
      if let sender { fields["send_connection_id"] = .string(sender) }
    }
    return .object(fields)
  }
}
