import SoraCongestion
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
  /// RTCP packets of a type that nobody reads.
  public var unknownRTCP = 0
  /// Requests for packets or key frames of a source that isn't sent.
  public var requestOfUnknownSource = 0
  /// Packets that weren't sent again: asked for beyond the share of the link that retransmissions have.
  public var retransmissionBudget = 0
  /// Packets that found too many waiting for the link.
  public var pacerFull = 0
  /// Answers and messages that nobody waited for.
  public var unexpectedMessage = 0
  /// Keys of messages that mean nothing here.
  public var unknownKey = 0
  /// Candidates that can't be read.
  public var malformedCandidate = 0
  /// Candidates beyond as many as a connection keeps.
  public var tooManyCandidates = 0
  /// Messages of data channels that can't be read, or that the client may not send.
  public var malformedDataMessage = 0
  /// Messages for which a client's data channels had no room.
  public var dataChannelFull = 0
  /// Calls that weren't done: more than a client may call for.
  public var callBudget = 0
  /// Statistics of clients that were too large to be kept.
  public var statisticsTooLarge = 0
  /// Tracks that had to wait, or wait still: with their sections a description would be too long.
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
    /// Of a simulcast, the lowest first; else empty.
    public var layers: [Layer]
  }

  /// A layer of a simulcast.
  public struct Layer: Sendable, Hashable {
    public var rid: String
    /// Whether its frames come.
    public var isFlowing: Bool
    public var packets: UInt64
    /// Payload bytes.
    public var bytes: UInt64
    /// Requests for a key frame that the publisher was sent.
    public var keyFrameRequests: UInt64
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
    /// Packets sent again to fill probes.
    public var padding: UInt64
    /// Packets that could not be sent.
    public var dropped: UInt64
    /// Packets that waited until they weren't kept any more.
    public var overtaken: UInt64
    /// Packets that waited when a key frame of a lower layer made them needless.
    public var withdrawn: UInt64
    /// Packets of the publisher's that came too late to be of use.
    public var late: UInt64
    /// Packets left out because the publisher isn't in the spotlight: audio.
    public var unfocused: UInt64
    /// Frames left out because the link has no room for their temporal layer, and because it was full.
    public var layerFramesLeftOut: UInt64
    public var congestedFramesLeftOut: UInt64
    /// The highest temporal layer that the link has room for, and why it isn't more (`BandwidthAllocator.Reason`); nil where
    /// nothing is known of the link.
    public var layer: Int?
    /// Of a simulcast, the layer that is sent, `none` without one, and the one that follows with its next key frame; else nil.
    public var rid: String?
    public var nextRid: String?
    public var limitation: String?
    public var nacks: UInt64
    public var keyFrameRequests: UInt64
    public var fractionLost: Double
    public var roundTrip: Duration?
  }

  /// Its part in the channel's spotlight.
  public struct Spotlight: Sendable, Hashable {
    /// Whether it sees and hears the others by it.
    public var isEnabled: Bool
    /// Whether it is in it, and whether it stays there until it is taken out.
    public var isFocused: Bool
    public var isFixed: Bool
  }

  public var peer: SFUPeerID
  public var channelID: String
  public var sessionID: String
  public var connectionID: String
  public var clientID: String
  public var bundleID: String
  public var role: SFURole
  /// The language that is spoken, as the client says or its grant: such as `ja-JP`.
  public var audioStreamingLanguageCode: String?
  /// Whether media can flow.
  public var isConnected: Bool
  public var spotlight: Spotlight
  public var tracks: [Track]
  public var subscriptions: [Subscription]
  /// Transport-wide feedback messages of the client, and its last REMB in bits a second.
  public var transportFeedbacks: UInt64
  public var receiverEstimate: UInt64?
  /// Bits per second that the link to the client is believed to take; nil where the client has said nothing.
  public var estimate: Int?
  public var dropped: SFUDropped
  public var bytesReceived: UInt64
  public var bytesSent: UInt64
}
