import SoraSignalingMessages

/// Targets about sessions: channels from their first connection to their last.
enum SessionTargets {
  static let all: [APIRoute] = [
    APIRoute("Sora_20231220.ListSessions", APINothing.init, list),
    APIRoute("Sora_20231220.GetSession", Named.init, get),
    APIRoute("Sora_20230628.TerminateSession", Named.init, terminate),
  ]

  struct Named: Sendable {
    var channelID: String
    /// nil for the one that the channel has.
    var sessionID: String?

    init(_ body: APIBody) throws(APIError) {
      channelID = try body.text("channel_id")
      sessionID = try body.optionalText("session_id")
    }

    var notFound: APIError {
      APIError(
        status: 404, type: "SESSION-NOT-FOUND",
        reason: "channel \(channelID) has no session"
          + (sessionID.map { " \($0)" } ?? ": nobody is in it"))
    }
  }

  @Sendable private static func list(
    _ request: APINothing, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    .array(await backend.sessions().map { .object($0.fields) })
  }

  @Sendable private static func get(
    _ named: Named, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    let found = await backend.sessions().first {
      $0.channelID == named.channelID && (named.sessionID ?? $0.sessionID) == $0.sessionID
    }
    guard let found else { throw named.notFound }
    return .object(found.fields)
  }

  @Sendable private static func terminate(
    _ named: Named, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    let ended = await backend.endSession(channelID: named.channelID, sessionID: named.sessionID)
    guard let ended else { throw named.notFound }
    return ["channel_id": .string(named.channelID), "session_id": .string(ended)]
  }
}
