public import SoraMedia
import SoraSignalingMessages

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

// Who is recorded is told so.
extension SFUCore {
  /// Tells the members of a channel, where its session is still the recorded one, and those outside.
  public func tell(
    _ event: SFURecordingEvent, _ recording: SFURecording, at now: Instant
  ) {
    defer { deliver(at: now) }
    emit(.recording(event, recording, unixNanoseconds: unixNanoseconds(at: now)))
    guard let channel = channel(recording.channelID), channel.sessionID == recording.sessionID
    else { return }
    let message = NotifyMessage(eventType: event.rawValue) {
      $0.timestamp = timestamp(at: now)
      $0.sessionID = recording.sessionID
      $0.recordingID = recording.recordingID
    }
    for member in channel.members where member.isConnected {
      member.tell(.event(message), at: now)
      touch(member)
    }
  }
}
