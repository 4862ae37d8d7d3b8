import SoraMedia
import SoraRTP
import SoraTransport

// What is said of connections and sessions to those outside of the channel.
extension SFUCore {
  /// The time of day at an instant, in nanoseconds since 1970.
  func unixNanoseconds(at instant: Instant) -> Int64 {
    configuration.wallClock.unixNanosecondsAtZero &+ instant.nanoseconds
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
          audio: request.audio, video: request.video, simulcast: request.simulcast ?? false,
          spotlight: request.spotlight ?? false,
          eventMetadata: request.grant.settings.eventMetadata, reason: reason)))
  }

  /// A channel's session begins with the first connection that can carry media.
  func reportStart(of channel: SFUChannel, at now: Instant) {
    guard channel.startedAt == nil else { return }
    channel.startedAt = now
    if let session = session(of: channel) { emit(.sessionCreated(session)) }
  }

  func reportEnd(of channel: SFUChannel, at now: Instant) {
    guard let session = session(of: channel) else { return }
    emit(.sessionDestroyed(session, unixNanoseconds: unixNanoseconds(at: now)))
  }

  /// The sessions that have begun, in the order of their channels' making.
  public var sessions: [SFUSession] { channels.compactMap { session(of: $0) } }

  private func session(of channel: SFUChannel) -> SFUSession? {
    channel.startedAt.map {
      SFUSession(
        channelID: channel.id, sessionID: channel.sessionID,
        createdUnixNanoseconds: unixNanoseconds(at: $0), counters: channel.counters)
    }
  }
}
