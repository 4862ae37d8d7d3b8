import Foundation
import SoraMedia
import SoraRecording
import SoraSignalingMessages

/// Targets that begin and end recordings.
enum RecordingTargets {
  static let all: [APIRoute] = [
    APIRoute("Sora_20231220.StartRecording", Start.init, start),
    APIRoute("Sora_20231220.StopRecording", SFUSelection.channel, stop),
  ]

  /// What is recorded, and for how long.
  struct Start: Sendable {
    var channelID: String
    /// nil: until the session ends.
    var expireTime: Duration?
    var splitDuration: Duration?
    var splitOnly: Bool
    /// Where it holds what is published; nil for the container that does.
    var format: MediaContainer?
    var metadata: JSONValue?

    /// A day; files of a second.
    private static let times = 1...86_400

    init(_ body: APIBody) throws(APIError) {
      channelID = try body.text("channel_id")
      // Sora's word for no limit.
      let isEndless = body.value("expire_time")?.intValue == 0
      expireTime = isEndless ? nil : try body.seconds("expire_time", Self.times)
      splitDuration = try body.seconds("split_duration", Self.times)
      splitOnly = try body.flag("split_only") ?? false
      metadata = body.value("metadata")
      guard let name = try body.optionalText("format") else { return }
      guard let container = MediaContainer(rawValue: name.lowercased()) else {
        throw body.wrong("format", "send webm, mp4 or matroska")
      }
      format = container
    }
  }

  @Sendable private static func start(
    _ request: Start, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    let channelID = request.channelID
    let recordings = try usable(await backend.recordings())
    guard let session = await backend.sessionID(channelID: channelID) else {
      throw .unknown(SFUSelection(channelID: channelID))
    }
    var settings = SessionSettings()
    settings.sessionID = session
    settings.recordingID = await backend.makeIdentifier()
    settings.container = request.format
    settings.splitDuration = request.splitDuration
    settings.keepsWhole = !request.splitOnly
    settings.metadata = request.metadata?.text
    guard
      let started = recordings.start(
        channelID: channelID, settings, expiresAfter: request.expireTime)
    else {
      throw .invalid(
        "ALREADY-RECORDING", "channel \(channelID) is recorded already; stop that first")
    }
    // The session may have ended before there was a recording that would end with it.
    guard await backend.sessionID(channelID: channelID) == session else {
      _ = await recordings.stop(channelID: channelID, only: started.recordingID)
      throw .unknown(SFUSelection(channelID: channelID))
    }
    return started.json
  }

  @Sendable private static func stop(
    _ selection: SFUSelection, _ backend: any APIBackend
  ) async throws(APIError) -> JSONValue {
    let recordings = try usable(await backend.recordings())
    guard let (started, report) = await recordings.stop(channelID: selection.channelID) else {
      throw APIError(
        status: 404, type: "RECORDING-NOT-FOUND",
        reason: "channel \(selection.channelID) is not recorded")
    }
    guard case .object(var fields) = started.json else { return started.json }
    fields["archives"] = .array(
      report.archives.map { archive in
        var fields: [String: JSONValue] = [
          "connection_id": .string(archive.connectionId), "client_id": .string(archive.clientId),
          "filename": .string(archive.filename), "size": .integer(Int64(archive.size ?? 0)),
        ]
        if let part = archive.part { fields["part"] = .integer(Int64(part)) }
        if let failure = archive.failure { fields["failure"] = .string(failure) }
        return .object(fields)
      })
    return .object(fields)
  }

  private static func usable(
    _ recordings: ServerRecordings?
  ) throws(APIError) -> ServerRecordings {
    guard let recordings else {
      throw .invalid(
        "RECORDING-NOT-CONFIGURED",
        "this server has no folder for recordings; start it with --recordings FOLDER")
    }
    guard !recordings.recordsEverything else {
      throw .invalid(
        "RECORDING-EVERYTHING",
        "this server records all channels; start it with --recordings FOLDER in place of --record")
    }
    return recordings
  }
}

extension ServerRecordings.Started {
  fileprivate var json: JSONValue {
    [
      "recording_id": .string(recordingID), "channel_id": .string(channelID),
      "session_id": .string(sessionID), "created_at": .string(createdAt.ISO8601Format()),
    ]
  }
}
