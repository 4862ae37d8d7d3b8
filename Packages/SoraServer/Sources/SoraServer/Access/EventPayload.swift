import SoraClock
import SoraSignalingMessages
import SoraVersion

// What event webhooks are posted.
extension SFUReport {
  /// `connection.created`, `session.destroyed`, ...
  var type: String {
    switch self {
    case .sessionCreated: "session.created"
    case .sessionDestroyed: "session.destroyed"
    case .connection(let report): report.notification.kind.rawValue
    case .recording(let event, _, _): event.rawValue
    }
  }

  /// - Parameter id: tells events apart.
  func json(id: String) -> JSONValue {
    var fields: [String: JSONValue] = [
      "type": .string(type), "id": .string(id), "version": .string(SoraVersion.current),
    ]
    switch self {
    case .sessionCreated(let session):
      fields["timestamp"] = Self.timestamp(session.createdUnixNanoseconds)
      fields.merge(session.fields) { $1 }
    case .sessionDestroyed(let session, let time):
      fields["timestamp"] = Self.timestamp(time)
      fields.merge(session.fields) { $1 }
      fields["destroyed_timestamp"] = Self.timestamp(time)
    case .connection(let report): fields.merge(report.fields) { $1 }
    case .recording(_, let recording, let time):
      fields["timestamp"] = Self.timestamp(time)
      fields.merge(recording.fields) { $1 }
    }
    return .object(fields)
  }

  fileprivate static func timestamp(_ unixNanoseconds: Int64) -> JSONValue {
    .string(TimestampText.rfc3339(unixNanoseconds: unixNanoseconds))
  }

  /// Since when there is something; microseconds, as Sora has it.
  fileprivate static func created(_ unixNanoseconds: Int64) -> [String: JSONValue] {
    [
      "created_time": .integer(unixNanoseconds / 1000),
      "created_timestamp": timestamp(unixNanoseconds),
    ]
  }
}

extension SFUSession {
  var fields: [String: JSONValue] {
    var fields: [String: JSONValue] = [
      "channel_id": .string(channelID), "session_id": .string(sessionID),
    ]
    fields.merge(SFUReport.created(createdUnixNanoseconds)) { $1 }
    fields.merge(counters.json) { $1 }
    return fields
  }
}

extension SFURecording {
  fileprivate var fields: [String: JSONValue] {
    let fields: [String: JSONValue] = [
      "channel_id": .string(channelID), "session_id": .string(sessionID),
      "recording_id": .string(recordingID),
    ]
    return fields.merging(SFUReport.created(createdUnixNanoseconds)) { $1 }
  }
}

extension SFUConnectionReport {
  fileprivate var fields: [String: JSONValue] {
    var fields: [String: JSONValue] = [
      "timestamp": SFUReport.timestamp(notification.unixNanoseconds),
      "role": .string(notification.role.rawValue), "channel_id": .string(channelID),
      "session_id": .string(notification.sessionID),
      "client_id": .string(notification.peer.clientID),
      "bundle_id": .string(notification.peer.bundleID),
      "connection_id": .string(notification.peer.connectionID), "multistream": true,
      "simulcast": .bool(simulcast), "spotlight": .bool(spotlight), "data": data,
    ]
    if let eventMetadata { fields["event_metadata"] = eventMetadata }
    if let audioStreamingLanguageCode {
      fields["audio_streaming_language_code"] = .string(audioStreamingLanguageCode)
    }
    return fields
  }

  private var data: JSONValue {
    var data: [String: JSONValue] = [
      "total_received_bytes": .integer(Int64(clamping: bytesReceived)),
      "total_sent_bytes": .integer(Int64(clamping: bytesSent)),
      "minutes": .integer(Int64(notification.minutes)),
      "audio": Self.medium(audio?.json, codec: "OPUS"),
      "video": Self.medium(video?.json, codec: "VP9"),
    ]
    data.merge(SFUReport.created(createdUnixNanoseconds)) { $1 }
    data.merge(notification.counters.json) { $1 }
    if let reason {
      data["destroyed_timestamp"] = SFUReport.timestamp(notification.unixNanoseconds)
      data["reason"] = .string(reason)
    }
    return .object(data)
  }

  /// What the client has of a medium: `false` for none.
  private static func medium(_ options: JSONValue?, codec: String) -> JSONValue {
    guard var fields = options?.objectValue else { return false }
    if fields["codec_type"] == nil { fields["codec_type"] = .string(codec) }
    return .object(fields)
  }
}
