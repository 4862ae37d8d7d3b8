public import SoraMedia
import SoraSRTP

/// Counters of a peer's transport. `bytes...` count UDP payloads.
public struct PeerTransportStatistics: Sendable, Equatable {
  /// Datagrams that were dropped on the way in or out, by reason. ICE, DTLS and the gatherer count theirs themselves.
  public struct Dropped: Sendable, Equatable {
    /// First byte outside STUN, DTLS, TURN and RTP (RFC 7983 §7).
    public var unknownProtocol = 0
    /// A relay's message (ChannelData, RFC 8656 §12.4) from where no relay of ours is.
    public var unknownRelay = 0
    /// Datagrams without a byte.
    public var empty = 0
    /// Handshake data from an address that isn't the peer's.
    public var unknownSource = 0
    /// Media or handshake data before it could be used, but for the little that is kept.
    public var beforeKeys = 0
    /// Too short for SRTP, or not RTP or RTCP.
    public var malformed = 0
    public var replayed = 0
    /// Older than the replay window reaches (RFC 3711 §3.3.2).
    public var tooOld = 0
    public var unauthenticated = 0
    /// Of more sources than SRTP keeps state for.
    public var tooManySources = 0
    /// SRTP failed for a reason of its own, such as a key that is used up.
    public var unprotectionFailed = 0
    /// Messages inside of DTLS, which nobody takes.
    public var applicationData = 0
    /// Came after the transport had failed or was closed.
    public var afterEnd = 0
    /// Outgoing packets before the path and the keys were there.
    public var notConnected = 0
    /// Outgoing packets that SRTP refused.
    public var protectionFailed = 0
    /// Outgoing packets that the relay in use doesn't carry: its allocation or the peer's permission is gone.
    public var relayRefused = 0

    public init() {}

    /// Counts a packet that SRTP didn't take.
    mutating func countUnprotection(_ error: SRTPError) {
      switch error {
      case .replayed: replayed &+= 1
      case .tooOld: tooOld &+= 1
      case .authenticationFailed: unauthenticated &+= 1
      case .malformed: malformed &+= 1
      case .tooManyStreams: tooManySources &+= 1
      default: unprotectionFailed &+= 1
      }
    }
  }

  public var datagramsReceived: UInt64 = 0
  public var bytesReceived: UInt64 = 0
  public var datagramsSent: UInt64 = 0
  public var bytesSent: UInt64 = 0
  /// Of those, packets of DTLS and SRTP: what webrtc-stats counts, which leaves ICE's checks out.
  public var packetsReceived: UInt64 = 0
  public var packetBytesReceived: UInt64 = 0
  public var packetsSent: UInt64 = 0
  public var packetBytesSent: UInt64 = 0
  public var dropped = Dropped()

  /// When gathering began, and when every server had answered or was given up the first time.
  public var gatheringStarted: Instant?
  public var gatheringEnded: Instant?
  /// When ICE started, found its first pair, and when DTLS had agreed on keys.
  public var started: Instant?
  public var pairSelected: Instant?
  public var secured: Instant?
  /// When the first RTP packet left, and when one first came that was the peer's.
  public var firstPacketSent: Instant?
  public var firstPacketReceived: Instant?

  @inline(__always)
  mutating func countSent(_ bytes: Int) {
    datagramsSent &+= 1
    bytesSent &+= UInt64(bytes)
  }

  /// When the transport came to which point.
  public var timeline: ConnectionTimeline {
    var timeline = ConnectionTimeline()
    timeline.gatheringStarted = gatheringStarted
    timeline.gatheringEnded = gatheringEnded
    timeline.checksStarted = started
    timeline.pairSelected = pairSelected
    timeline.secured = secured
    timeline.firstPacketSent = firstPacketSent
    timeline.firstPacketReceived = firstPacketReceived
    return timeline
  }
}

/// The state of a transport's DTLS, in the words of W3C's `RTCDtlsTransportState`.
public enum DTLSTransportState: String, Sendable {
  case new
  case connecting
  case connected
  case closed
  case failed
}
