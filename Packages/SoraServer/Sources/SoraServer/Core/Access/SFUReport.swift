public import SoraSignalingMessages

/// What happens to connections and sessions, for those outside of the channel: event webhooks.
public enum SFUReport: Sendable, Hashable {
  /// The first connection of a channel can carry media.
  case sessionCreated(SFUSession)
  /// The last one has left.
  case sessionDestroyed(SFUSession, unixNanoseconds: Int64)
  case connection(SFUConnectionReport)
  /// Somebody outside has a channel recorded from now on, or no longer.
  case recording(SFURecordingEvent, SFURecording, unixNanoseconds: Int64)
}

/// A channel from its first connection to its last.
public struct SFUSession: Sendable, Hashable {
  public var channelID: String
  public var sessionID: String
  /// When its first client came, in nanoseconds since 1970.
  public var createdUnixNanoseconds: Int64
  public var counters: SFUCounters

  public init(
    channelID: String, sessionID: String, createdUnixNanoseconds: Int64, counters: SFUCounters
  ) {
    self.channelID = channelID
    self.sessionID = sessionID
    self.createdUnixNanoseconds = createdUnixNanoseconds
    self.counters = counters
  }
}

/// A connection when it is created, each minute, and when it is destroyed.
public struct SFUConnectionReport: Sendable, Hashable {
  public var channelID: String
  /// What of it the channel is told, too.
  public var notification: SFUNotification
  /// In nanoseconds since 1970.
  public var createdUnixNanoseconds: Int64
  public var bytesReceived: UInt64
  public var bytesSent: UInt64
  /// What the client got of its wishes; nil for none.
  public var audio: AudioOptions?
  public var video: VideoOptions?
  public var simulcast: Bool
  public var spotlight: Bool
  /// The language that is spoken, as the client says or its grant.
  public var audioStreamingLanguageCode: String?
  /// What the grant has for event webhooks.
  public var eventMetadata: JSONValue?
  /// Why it has ended; nil before.
  public var reason: String?
}
