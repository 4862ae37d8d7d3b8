/// The life of a channel, in the words of W3C's `RTCDataChannelState`.
public enum DataChannelState: String, Sendable, Hashable {
  case connecting, open, closing, closed
}

/// What statistics say of a channel (W3C webrtc-stats `RTCDataChannelStats`).
public struct DataChannelReport: Sendable, Hashable {
  public var id: DataChannelID
  public var parameters: DataChannelParameters
  /// nil until it is given one.
  public var stream: UInt16?
  public var state: DataChannelState
  public var counters = DataChannelCounters()
  /// Bytes that wait to be sent for the first time.
  public var bufferedAmount = 0
}

/// What went over a channel: payloads alone.
public struct DataChannelCounters: Sendable, Hashable {
  public var messagesSent: UInt64 = 0
  public var bytesSent: UInt64 = 0
  public var messagesReceived: UInt64 = 0
  public var bytesReceived: UInt64 = 0

  public init() {}
}

/// What happened in a session, channels that are gone included.
public struct DataChannelSessionStatistics: Sendable, Hashable {
  /// Channels that were open (W3C `dataChannelsOpened`), and of those the ones that are closed.
  public var channelsOpened: UInt64 = 0
  public var channelsClosed: UInt64 = 0
  public var dropped = Drops()

  /// Messages of the peer that weren't taken, by reason.
  public struct Drops: Sendable, Hashable {
    /// Broken messages of DCEP.
    public var malformed: UInt64 = 0
    /// Opening a stream that is in use, or is this end's to open (RFC 8832 §6).
    public var streamConflict: UInt64 = 0
    /// Opening more channels than this end takes.
    public var tooManyChannels: UInt64 = 0
    /// For a stream without a channel.
    public var unknownChannel: UInt64 = 0
    /// For a channel that is being closed.
    public var notOpen: UInt64 = 0
    /// With an identifier that RFC 8831 doesn't have, or has no more.
    public var unknownPayloadProtocol: UInt64 = 0

    public var total: UInt64 {
      malformed + streamConflict + tooManyChannels + unknownChannel + notOpen
        + unknownPayloadProtocol
    }

    public init() {}
  }

  public init() {}
}
