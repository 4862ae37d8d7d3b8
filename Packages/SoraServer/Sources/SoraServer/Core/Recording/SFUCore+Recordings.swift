public import SoraMedia
import SoraSignalingMessages

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
    tell(.event(message), to: channel.members.filter(\.isConnected), at: now)
  }
}
