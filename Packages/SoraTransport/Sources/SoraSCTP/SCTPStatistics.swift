/// Counters and the state of the path, as they are now.
public struct SCTPStatistics: Hashable, Sendable {
  public var packetsSent: UInt64 = 0
  public var packetsReceived: UInt64 = 0
  public var bytesSent: UInt64 = 0
  public var bytesReceived: UInt64 = 0
  public var messagesSent: UInt64 = 0
  public var messagesReceived: UInt64 = 0
  /// Messages that were given up (RFC 3758).
  public var messagesAbandoned: UInt64 = 0
  /// DATA chunks that were sent again; those of timeouts and tail loss probes among them.
  public var chunksRetransmitted: UInt64 = 0
  public var timeouts: UInt64 = 0
  public var tailLossProbes: UInt64 = 0
  /// Retransmissions of which the peer said that both came.
  public var spuriousRetransmissions: UInt64 = 0
  public var duplicatesReceived: UInt64 = 0
  /// Bytes that may be on the way, those that are, and the slow start threshold, `Int.max` until it is known.
  public var congestionWindow = 0
  public var bytesInFlight = 0
  public var slowStartThreshold = Int.max
  /// Chunks that aren't acknowledged.
  public var unacknowledgedChunks = 0
  /// The peer's window as it was told last, less what is on the way.
  public var peerWindow = 0
  /// The window that this end would tell now.
  public var receiveWindow = 0
  /// `nil` until it was measured.
  public var smoothedRoundTrip: Duration?
  public var retransmissionTimeout = Duration.zero
  public var mtu = 0
  public var dropped = Drops()

  /// Packets and chunks that weren't taken, by reason.
  public struct Drops: Hashable, Sendable {
    /// Packets that are too short, or whose chunks or ports are wrong.
    public var malformed: UInt64 = 0
    public var badChecksum: UInt64 = 0
    public var badTag: UInt64 = 0
    /// Packets for no association, chunks in a state that has no use for them, and cookies that aren't ours or are too old.
    public var outOfTheBlue: UInt64 = 0
    /// Data beyond the window, beyond the TSNs that are kept, or on streams that there aren't.
    public var data: UInt64 = 0
    /// SACKs that acknowledge what was never sent, or are older than another.
    public var acknowledgements: UInt64 = 0

    /// All of them.
    public var total: UInt64 {
      malformed + badChecksum + badTag + outOfTheBlue + data + acknowledgements
    }

    public init() {}
  }

  public init() {}
}
