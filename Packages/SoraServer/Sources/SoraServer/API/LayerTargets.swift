import SoraSignalingMessages

/// Targets about layers of simulcasts.
enum LayerTargets {
  static let all: [APIRoute] = [
    APIRoute("Sora_20251217.RequestSimulcastRid", RidRequest.init, requestSimulcastRid)
  ]

  struct RidRequest: Sendable {
    var channelID: String
    var receiver: String
    /// nil for all.
    var sender: String?
    var rid: SignalingRid

    init(_ body: APIBody) throws(APIError) {
      channelID = try body.text("channel_id")
      receiver = try body.text("receiver_connection_id")
      sender = try body.optionalText("sender_connection_id")
      rid = try body.rid("rid")
    }
  }

  @Sendable private static func requestSimulcastRid(
    _ request: RidRequest, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    guard
      await backend.requestSimulcastRid(
        request.rid, channelID: request.channelID, receiver: request.receiver,
        sender: request.sender)
    else {
      throw APIError(
        status: 404, type: "CONNECTION-NOT-FOUND",
        reason: "channel \(request.channelID) has no such receiver, or no such sender")
    }
    var result: [String: JSONValue] = [
      "channel_id": .string(request.channelID), "rid": .string(request.rid.rawValue),
      "receiver_connection_id": .string(request.receiver),
    ]
    if let sender = request.sender { result["sender_connection_id"] = .string(sender) }
    return .object(result)
  }
}
