import SoraSignalingMessages

/// Targets about what clients have said of themselves: the last statistics of each.
enum StatisticsTargets {
  static let all: [APIRoute] = [
    APIRoute("Sora_20211215.ListRtcStats", APINothing.init, listAll),
    APIRoute("Sora_20211215.ListChannelRtcStats", SFUSelection.channel, list),
    APIRoute("Sora_20211215.GetRtcStats", SFUSelection.connection, get),
    APIRoute("Sora_20171010.GetStatsReport", APINothing.init, report),
  ]

  @Sendable private static func listAll(
    _ request: APINothing, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    .array(await backend.clientStatistics(of: nil).map(\.json))
  }

  @Sendable private static func list(
    _ selection: SFUSelection, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    .array(await backend.clientStatistics(of: selection).map(\.json))
  }

  @Sendable private static func get(
    _ selection: SFUSelection, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    if let found = await backend.clientStatistics(of: selection).first { return found.json }
    guard await backend.status(of: selection).isEmpty else {
      throw APIError(
        status: 404, type: "RTC-STATS-NOT-FOUND",
        reason: "connection \(selection.connectionID ?? "") has sent no statistics yet")
    }
    throw .unknown(selection)
  }

  /// What the whole server has done.
  @Sendable private static func report(
    _ request: APINothing, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    await backend.metrics().report
  }
}

extension SFUClientStatistics {
  fileprivate var json: JSONValue {
    [
      "channel_id": .string(channelID), "client_id": .string(clientID),
      "connection_id": .string(connectionID),
      "timestamp": .string(TimestampText.rfc3339(unixNanoseconds: unixNanoseconds)),
      // Written by the server itself.
      "rtc_stats": (try? JSONValue(parsing: reports)) ?? [],
    ]
  }
}
