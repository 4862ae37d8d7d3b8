import SoraMedia
import SoraRTP
import SoraTransport

// What is said of connections and sessions to those outside of the channel.
extension SFUCore {
  /// The time of day at an instant, in nanoseconds since 1970.
  func unixNanoseconds(at instant: Instant) -> Int64 {
    configuration.wallClock.unixNanosecondsAtZero &+ instant.nanoseconds
  }

  /// The same as messages have it.
  func timestamp(at instant: Instant) -> String {
    TimestampText.rfc3339(unixNanoseconds: unixNanoseconds(at: instant))
  }

  func report(
    _ kind: SFUNotification.Kind, of connection: SFUConnection, reason: String? = nil,
    at now: Instant
  ) {
    let request = connection.request
    let carried = connection.transport.statistics
    emit(
      .connection(
        SFUConnectionReport(
          channelID: connection.channel.id,
          notification: notification(kind, of: connection, at: now),
          createdUnixNanoseconds: unixNanoseconds(at: connection.connectedAt ?? now),
          bytesReceived: carried.bytesReceived, bytesSent: carried.bytesSent,
          audio: request.audio, video: request.video, simulcast: request.usesSimulcast,
          spotlight: request.spotlight ?? false,
          audioStreamingLanguageCode: request.audioStreamingLanguageCode,
          eventMetadata: request.grant.settings.eventMetadata, reason: reason)))
  }

  /// A connection has lasted for another minute: its channel hears of it, too.
  func updated(_ connection: SFUConnection, at now: Instant) {
    report(.updated, of: connection, at: now)
    let message = notification(.updated, of: connection, at: now)
    tell(.notify(message), to: [connection] + others(of: connection), at: now)
  }

  /// A session is heard of with the first connection that can carry media.
  func reportStart(of channel: SFUChannel) {
    guard !channel.isReported else { return }
    channel.isReported = true
    emit(.sessionCreated(session(of: channel)))
  }

  func reportEnd(of channel: SFUChannel, at now: Instant) {
    guard channel.isReported else { return }
    emit(.sessionDestroyed(session(of: channel), unixNanoseconds: unixNanoseconds(at: now)))
  }

  /// The sessions of all channels, in the order of their making.
  public var sessions: [SFUSession] { channels.map { session(of: $0) } }

  private func session(of channel: SFUChannel) -> SFUSession {
    SFUSession(
      channelID: channel.id, sessionID: channel.sessionID,
      createdUnixNanoseconds: unixNanoseconds(at: channel.createdAt), counters: channel.counters)
  }
}
