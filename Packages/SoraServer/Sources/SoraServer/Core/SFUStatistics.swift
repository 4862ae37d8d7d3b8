public import SoraMedia
import SoraRTP
import SoraTransport

/// Packets that a server dropped, by reason.
public struct SFUDropped: Sendable, Hashable {
  /// First byte outside STUN, DTLS and RTP, or nothing at all.
  public var unknownProtocol = 0
  /// STUN that can't be read or names no user.
  public var malformedSTUN = 0
  /// STUN for a user name that no connection has.
  public var unknownUser = 0
  /// From an address that no authenticated STUN came from.
  public var unknownAddress = 0
  public var malformedRTP = 0
  public var malformedRTCP = 0
  /// No section takes this source, mid or payload type.
  public var unknownSource = 0
  /// A source that the publisher has left for another.
  public var retiredSource = 0
  public var tooManySources = 0
  /// Retransmissions that carry nothing: padding, or the original was never known.
  public var emptyRetransmission = 0
  /// Came before, as an original or as a retransmission.
  public var duplicate = 0
  /// Answers and messages that nobody waited for.
  public var unexpectedMessage = 0
  /// Candidates that can't be read.
  public var malformedCandidate = 0
  /// Joins that would need more sections than a description may have.
  public var tooManySections = 0

  public init() {}
}

/// A connection as it is now.
public struct SFUConnectionStatus: Sendable, Hashable {
  public struct Track: Sendable, Hashable {
    public var kind: MediaKind
    public var codec: String
    public var packets: UInt64
    /// Payload bytes.
    public var bytes: UInt64
    public var packetsLost: Int64
    public var nacksSent: UInt64
    /// Requests for a key frame that the publisher was sent.
    public var keyFrameRequests: UInt64
    public var subscribers: Int
  }

  public struct Subscription: Sendable, Hashable {
    public var kind: MediaKind
    /// The connection that publishes.
    public var publisherID: String
    public var isActive: Bool
    public var packets: UInt64
    public var bytes: UInt64
    public var retransmissions: UInt64
    /// Packets that were asked for and not kept any more.
    public var retransmissionsMissing: UInt64
    /// Packets that could not be sent.
    public var dropped: UInt64
    public var nacks: UInt64
    public var keyFrameRequests: UInt64
    public var fractionLost: Double
    public var roundTrip: Duration?
  }

  public var peer: SFUPeerID
  public var channelID: String
  public var connectionID: String
  public var clientID: String
  public var role: SFURole
  /// Whether media can flow.
  public var isConnected: Bool
  public var tracks: [Track]
  public var subscriptions: [Subscription]
  /// Transport-wide feedback messages of the client, and its last REMB in bits a second.
  public var transportFeedbacks: UInt64
  public var receiverEstimate: UInt64?
  public var dropped: SFUDropped
  public var bytesReceived: UInt64
  public var bytesSent: UInt64
}

extension SFUConnection {
  var status: SFUConnectionStatus {
    SFUConnectionStatus(
      peer: peer, channelID: channel.id, connectionID: connectionID, clientID: clientID,
      role: request.role, isConnected: isConnected,
      tracks: uploads.map { track in
        SFUConnectionStatus.Track(
          kind: track.kind, codec: track.codec.name, packets: track.statistics.packets,
          bytes: track.statistics.bytes, packetsLost: track.received?.packetsLost ?? 0,
          nacksSent: track.statistics.nacksSent,
          keyFrameRequests: track.statistics.keyFrameRequests,
          subscribers: track.subscriptions.count)
      },
      subscriptions: subscriptions.map { subscription in
        let counted = subscription.statistics
        return SFUConnectionStatus.Subscription(
          kind: subscription.kind, publisherID: subscription.source.publisherID,
          isActive: subscription.isActive, packets: counted.packets, bytes: counted.bytes,
          retransmissions: counted.retransmissions,
          retransmissionsMissing: counted.retransmissionsMissing, dropped: counted.notWritable,
          nacks: counted.nacks, keyFrameRequests: counted.keyFrameRequests,
          fractionLost: counted.fractionLost, roundTrip: counted.roundTrip)
      },
      transportFeedbacks: transportFeedbacks, receiverEstimate: receiverEstimate,
      dropped: dropped, bytesReceived: transport.statistics.bytesReceived,
      bytesSent: transport.statistics.bytesSent)
  }
}
