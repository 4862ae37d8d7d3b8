/// A recording of a channel that somebody outside has asked for.
public struct SFURecording: Sendable, Hashable {
  public var recordingID: String
  public var channelID: String
  public var sessionID: String
  /// In nanoseconds since 1970.
  public var createdUnixNanoseconds: Int64

  public init(
    recordingID: String, channelID: String, sessionID: String, createdUnixNanoseconds: Int64
  ) {
    self.recordingID = recordingID
    self.channelID = channelID
    self.sessionID = sessionID
    self.createdUnixNanoseconds = createdUnixNanoseconds
  }
}

/// What becomes of a recording, as members of its channel are told.
public enum SFURecordingEvent: String, Sendable, Hashable {
  case started = "recording.started"
  /// Nothing more is recorded; its files may still be being written.
  case stopped = "recording.stopped"
}
