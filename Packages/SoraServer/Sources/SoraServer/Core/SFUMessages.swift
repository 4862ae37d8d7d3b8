public import SoraICE
public import SoraMedia

/// One client of an `SFUCore`, from its open WebSocket on. Never used twice.
public struct SFUPeerID: Hashable, Sendable, CustomStringConvertible {
  public let value: Int

  public var description: String { "peer \(value)" }
}

/// What a connection does in its channel.
public enum SFURole: String, Sendable, Hashable, CaseIterable {
  case sendonly, recvonly, sendrecv

  public var sends: Bool { self != .recvonly }
  public var receives: Bool { self != .sendonly }
}

/// `connect`, as far as the server cares. Free-form JSON travels as its text.
public struct SFUConnectRequest: Sendable, Hashable {
  /// Wishes for audio; nil where the client wants none.
  public struct Audio: Sendable, Hashable {
    /// `OPUS`; nil for the default.
    public var codec: String?
    /// Kilobits a second.
    public var bitRate: Int?
    /// Changes to the Opus parameters of the offer, as `name=value`; `ptime` among them.
    public var parameters: [String: String] = [:]
    /// 1 for mono; nil for the default.
    public var channels: Int?
    /// Hz of the RTP clock, which Opus has but one of; nil for the default.
    public var clockRate: Int?

    public init(codec: String? = nil, bitRate: Int? = nil, parameters: [String: String] = [:]) {
      self.codec = codec
      self.bitRate = bitRate
      self.parameters = parameters
    }
  }

  /// Wishes for video; nil where the client wants none.
  public struct Video: Sendable, Hashable {
    /// `VP8`, `VP9`, `AV1`, `H264` or `H265`; nil for the default.
    public var codec: String?
    /// Kilobits a second.
    public var bitRate: Int?
    /// Changes to the codec's parameters of the offer, as `name=value`.
    public var parameters: [String: String] = [:]

    public init(codec: String? = nil, bitRate: Int? = nil, parameters: [String: String] = [:]) {
      self.codec = codec
      self.bitRate = bitRate
      self.parameters = parameters
    }
  }

  public var role: SFURole
  public var channelID: String
  public var clientID: String?
  public var bundleID: String?
  public var audio: Audio?
  public var video: Video?
  public var multistream: Bool?
  public var spotlight = false
  /// Whether a focus or unfocus layer was named.
  public var hasSpotlightRid = false
  /// JSON text of `signaling_notify_metadata`.
  public var notifyMetadata: String?

  public init(
    role: SFURole, channelID: String, clientID: String? = nil, bundleID: String? = nil,
    audio: Audio? = Audio(), video: Video? = Video(), notifyMetadata: String? = nil
  ) {
    self.role = role
    self.channelID = channelID
    self.clientID = clientID
    self.bundleID = bundleID
    self.audio = audio
    self.video = video
    self.notifyMetadata = notifyMetadata
  }
}

/// What a client says.
public enum SFUMessage: Sendable, Hashable {
  case connect(SFUConnectRequest)
  case answer(sdp: String)
  case reAnswer(sdp: String)
  case candidate(String)
  case pong
  case disconnect(reason: String?)
  /// A message that makes no difference, by its type.
  case other(String)
  /// Text that is no message; what is wrong with it.
  case malformed(String)
}

/// What goes to one client.
public enum SFUOutput: Sendable, Hashable {
  case offer(SFUOffer)
  case reOffer(sdp: String)
  case notify(SFUNotification)
  case ping(statistics: Bool)
  /// JSON text of the data.
  case push(String)
  /// Ends the signaling; nothing follows.
  case close(SFUClose)
}

/// The reply to `connect`.
public struct SFUOffer: Sendable, Hashable {
  public var sdp: String
  public var connectionID: String
  public var clientID: String
  public var bundleID: String
  public var channelID: String
  public var sessionID: String
  public var version: String
  /// The sections on which the client sends.
  public var audioMid: String?
  public var videoMid: String?
  public var audio: Bool
  public var audioCodec: String?
  public var audioBitRate: Int?
  public var video: Bool
  public var videoCodec: String?
  public var videoBitRate: Int?
}

/// How the server ends a connection.
public struct SFUClose: Sendable, Hashable {
  /// A WebSocket close code.
  public var code: UInt16
  public var reason: String

  public init(code: UInt16, reason: String) {
    self.code = code
    self.reason = reason
  }

  /// The client's own `disconnect`.
  static let disconnect = SFUClose(code: 1000, reason: "TYPE-DISCONNECT")

  /// A `connect` or answer that can't be accepted.
  static func refused(_ reason: String) -> SFUClose { SFUClose(code: 4490, reason: reason) }

  /// The connection broke on the server's side of it.
  static func lost(_ reason: String) -> SFUClose { SFUClose(code: 1011, reason: reason) }
}

/// What a channel tells about one of its connections.
public struct SFUNotification: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable {
    case created = "connection.created"
    case destroyed = "connection.destroyed"
  }

  public struct Peer: Sendable, Hashable {
    public var connectionID: String
    public var clientID: String
    public var bundleID: String
    /// JSON text.
    public var metadata: String?
  }

  public var kind: Kind
  public var peer: Peer
  public var role: SFURole
  public var sessionID: String
  public var audio: Bool
  public var video: Bool
  /// Whole minutes since the connection was created.
  public var minutes: Int
  public var counters: SFUCounters
  /// Where its media come from, a relay's address perhaps; nil where ICE has no path.
  public var remoteAddress: TransportAddress?
  /// Only in `created`: the others.
  public var others: [Peer]
  public var unixNanoseconds: Int64
}

/// How many connections a channel has, by role.
public struct SFUCounters: Sendable, Hashable {
  public var sendrecv = 0
  public var sendonly = 0
  public var recvonly = 0

  public var total: Int { sendrecv + sendonly + recvonly }

  mutating func add(_ role: SFURole, _ count: Int) {
    switch role {
    case .sendrecv: sendrecv += count
    case .sendonly: sendonly += count
    case .recvonly: recvonly += count
    }
  }
}

/// What happened, for logs.
public enum SFUEvent: Sendable, Hashable {
  /// Media can flow.
  case joined(channelID: String, connectionID: String, role: SFURole)
  case left(channelID: String, connectionID: String, role: SFURole, reason: String)
  /// A client was turned away before it joined.
  case refused(SFUPeerID, reason: String)
}

/// Takes what comes out of an `SFUCore`. Called at the end of the core's calls, never in the middle of them.
public protocol SFUCoreDelegate: AnyObject {
  func core(_ core: SFUCore, sends output: SFUOutput, to peer: SFUPeerID, at now: Instant)
  func core(_ core: SFUCore, event: SFUEvent, at now: Instant)
}
