extension ICEGatherer {
  /// What came from servers and wasn't used, by reason; and what relays couldn't carry.
  public struct Dropped: Sendable, Hashable {
    /// Broke the format.
    public var malformed = 0
    /// Responses whose integrity attribute doesn't fit the credentials.
    public var unauthentic = 0
    /// ChannelData on a channel that isn't bound.
    public var unknownChannel = 0
    /// Messages of a stream that answer nothing of ours.
    public var unexpected = 0
    /// Bytes of a stream that isn't there any more, counted once a call.
    public var unknownStream = 0
    /// A peer's datagrams from an allocation that is gone.
    public var noAllocation = 0

    public init() {}

    mutating func add(_ statistics: TURNClient.Statistics) {
      malformed += statistics.malformed
      unauthentic += statistics.unauthentic
      unknownChannel += statistics.unknownChannel
    }
  }
}
