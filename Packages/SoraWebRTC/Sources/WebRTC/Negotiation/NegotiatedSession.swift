public import SoraDTLS
public import SoraICE
public import SoraMedia
public import SoraSDP

/// What an exchange of descriptions settled: plain values for the layers that connect and move media.
public struct NegotiatedSession: Sendable, Hashable {
  /// nil where no section is in use.
  public var transport: NegotiatedTransport?
  /// The sections in use, by index. Rejected ones are left out.
  public var media: [NegotiatedMedia]
  /// The data channel section, where one is in use.
  public var data: NegotiatedData?
}

/// The one transport that all sections share.
public struct NegotiatedTransport: Sendable, Hashable {
  /// The peer's credentials, and whether it is an ICE-lite agent.
  public var remote: ICEParameters
  /// Whether we are the controlling agent (RFC 8445 §6.1.1). Conflicts are left to ICE.
  public var isControlling: Bool
  /// Candidates in the remote description, each `candidate:...`, without repetitions.
  public var remoteCandidates: [String]
  /// No further candidates will come.
  public var endOfRemoteCandidates: Bool
  /// The peer said that it trickles candidates.
  public var isRemoteTrickling: Bool
  /// The peer's certificate must match it.
  public var remoteFingerprint: DTLSFingerprint
  /// Our own DTLS role: `.active` is the client, `.passive` the server.
  public var setup: SDPSetup
}

/// A header extension that both sides agreed on.
public struct NegotiatedHeaderExtension: Sendable, Hashable {
  public var id: UInt8
  public var uri: String
  /// From our point of view.
  public var direction: MediaDirection
}

/// One encoding to send.
public struct NegotiatedEncoding: Sendable, Hashable {
  /// nil without simulcast.
  public var rid: String?
  public var ssrc: UInt32
  /// nil where the codec has no retransmission.
  public var rtxSSRC: UInt32?
  /// nil where no FlexFEC is described.
  public var repairSSRC: UInt32?
  /// Whether the peer's description asks to send nothing of it for now (RFC 8853 §5.1, `~`). Our own pausing is a matter of the
  /// sender's parameters and needs no description.
  public var isPausedByPeer: Bool
  /// What the peer's `a=rid` says, for example `max-width`.
  public var restrictions: FormatParameters
}

/// What to send in a section.
public struct SendParameters: Sendable, Hashable {
  /// The codec to use: the first common one in the answer, redundancy left out.
  public var codec: NegotiatedCodec
  /// All codecs the peer accepts, in the order of the answer.
  public var codecs: [NegotiatedCodec]
  /// How the peer takes copies of earlier packets; nil where it doesn't.
  public var redundancy: NegotiatedRedundancy?
  /// The payload type of telephone events on the codec's clock; nil where the peer doesn't take them.
  public var telephoneEvents: UInt8?
  /// At least one.
  public var encodings: [NegotiatedEncoding]
  /// The payload types of repair packets; nil where there are none.
  public var repair: NegotiatedRepair?
  /// The peer gives feedback by source (RFC 8888), and no transport-wide one.
  public var feedbackBySource = false
  /// The peer's limit for the section in bits per second; nil without one.
  public var maximumBitrate: Int?
  public var cname: String
  public var streamIDs: [String]
  public var trackID: String
  /// The peer accepts reduced-size RTCP (RFC 5506).
  public var reducedSizeRTCP: Bool
}

/// A source that the peer announced.
public struct RemoteSource: Sendable, Hashable {
  public var ssrc: UInt32
  public var rtxSSRC: UInt32?
  /// The source of its FlexFEC packets; nil where it has none.
  public var repairSSRC: UInt32?
  public var cname: String?

  public init(
    ssrc: UInt32, rtxSSRC: UInt32? = nil, repairSSRC: UInt32? = nil, cname: String? = nil
  ) {
    self.ssrc = ssrc
    self.rtxSSRC = rtxSSRC
    self.repairSSRC = repairSSRC
    self.cname = cname
  }
}

/// What may arrive in a section.
public struct ReceiveParameters: Sendable, Hashable {
  public var codecs: [NegotiatedCodec]
  /// Empty where the peer announces none (simulcast, or mid alone); then mid and rid tell packets apart.
  public var sources: [RemoteSource]
  public var streamIDs: [String]
  public var trackID: String
  /// The simulcast layers the peer sends, where it does.
  public var rids: [String]
  /// The payload types of repair packets; nil where there are none.
  public var repair: NegotiatedRepair?
  /// The peer expects feedback by source (RFC 8888), and no transport-wide one.
  public var feedbackBySource = false
  /// The peer answers reference times (RFC 3611 §4.5).
  public var referenceTimes = false

  /// The codec of a payload type, and whether it is that of retransmissions.
  public func codec(payloadType: UInt8) -> (codec: NegotiatedCodec, isRetransmission: Bool)? {
    for codec in codecs {
      if codec.payloadType == payloadType { return (codec, false) }
      if codec.rtxPayloadType == payloadType { return (codec, true) }
    }
    return nil
  }
}

/// One media section in use.
public struct NegotiatedMedia: Sendable, Hashable {
  public var mid: String
  /// The m-line index.
  public var index: Int
  /// ``JSEPTransceiver/id``.
  public var transceiverID: Int
  public var kind: MediaKind
  public var direction: MediaDirection
  /// nil while we don't send.
  public var send: SendParameters?
  /// nil while we don't receive.
  public var receive: ReceiveParameters?
  public var extensions: [NegotiatedHeaderExtension]

  /// The id of a header extension.
  public func extensionID(_ uri: String) -> UInt8? { extensions.first { $0.uri == uri }?.id }
}

/// The data channel section in use.
public struct NegotiatedData: Sendable, Hashable {
  public var mid: String
  public var index: Int
  public var remoteSCTPPort: UInt16
  /// Bytes; 0 means any (RFC 8841 §6). 65536 where the peer doesn't say.
  public var remoteMaximumMessageSize: UInt64
}

/// What changed with a description, in the order it must be told.
public enum NegotiationEvent {
  case signalingStateChanged(SignalingState)
  /// The peer offered a section that no transceiver was there for.
  case transceiverAdded(JSEPTransceiver)
  /// ``JSEPTransceiver/currentDirection`` has a new value.
  case directionChanged(JSEPTransceiver)
  case transceiverStopped(JSEPTransceiver)
  /// A stream has its first track.
  case streamAdded(id: String)
  /// The peer sends a track, or has put it into these streams in addition.
  case trackAdded(JSEPTransceiver, streamIDs: [String])
  /// The peer no longer sends a track, or has taken it out of these streams.
  case trackRemoved(JSEPTransceiver, streamIDs: [String])
  /// A stream has lost its last track.
  case streamRemoved(id: String)
  /// The exchange under way was given up, and the descriptions of before it are in force.
  case rolledBack
  /// The peer's ICE credentials changed (RFC 8445 §9): set new local ones before answering.
  case remoteICERestarted
  /// ``JSEPNegotiator/session`` has a new value.
  case negotiated
}
