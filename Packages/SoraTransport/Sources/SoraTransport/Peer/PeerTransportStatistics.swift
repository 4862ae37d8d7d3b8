public import SoraMedia

/// Counters of a peer's transport. `bytes...` count UDP payloads.
public struct PeerTransportStatistics: Sendable, Equatable {
  /// Datagrams that were dropped on the way in or out, by reason.
  public struct Dropped: Sendable, Equatable {
    /// First byte outside STUN, DTLS and RTP (RFC 7983 §7).
    public var unknownProtocol = 0
    /// Media or handshake data before it could be used.
    public var beforeKeys = 0
    public var malformed = 0
    public var replayed = 0
    public var unauthenticated = 0
    /// Outgoing packets before the path and the keys were there.
    public var notConnected = 0
    /// Outgoing packets that SRTP refused.
    public var protectionFailed = 0
  }

  public var datagramsReceived: UInt64 = 0
  public var bytesReceived: UInt64 = 0
  public var datagramsSent: UInt64 = 0
  public var bytesSent: UInt64 = 0
  public var dropped = Dropped()

  /// When ICE started, found its first pair, and when DTLS had agreed on keys.
  public var started: Instant?
  public var pairSelected: Instant?
  public var secured: Instant?

  @inline(__always)
  mutating func countSent(_ bytes: Int) {
    datagramsSent &+= 1
    bytesSent &+= UInt64(bytes)
  }
}
