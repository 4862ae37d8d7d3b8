public import SoraICE
// Messages, roles and JSON are words of this module's interface.
@_exported public import SoraSignalingMessages

/// One client of an `SFUCore`, from its open WebSocket on. Never used twice.
public struct SFUPeerID: Hashable, Sendable, CustomStringConvertible {
  public let value: Int

  public var description: String { "peer \(value)" }
}

/// What a connection does in its channel.
public typealias SFURole = SignalingRole

/// What a client says.
public enum SFUMessage: Sendable, Hashable {
  case connect(ConnectMessage)
  case answer(sdp: String)
  case reAnswer(sdp: String)
  case candidate(String)
  case pong
  /// Statistics, of a `pong` or on the data channel `stats`.
  case statistics([JSONValue])
  case disconnect(reason: String?)
  /// A message that makes no difference, by its type.
  case other(String)
  /// Text that is no message; what is wrong with it.
  case malformed(String)
}

/// What goes to one client.
public enum SFUOutput: Sendable, Hashable {
  /// The reply to `connect`, but for ICE servers, which the core doesn't know.
  case offer(OfferMessage)
  case reOffer(sdp: String)
  case notify(SFUNotification)
  /// A notification of another kind.
  case event(NotifyMessage)
  case ping(statistics: Bool)
  case push(JSONValue)
  /// Signaling goes over data channels from now on.
  case switched(ignoresDisconnectWebSocket: Bool)
  /// `req-stats`.
  case requestStatistics
  /// The client shall connect to another server.
  case redirect(String)
  /// Ends the signaling; nothing follows.
  case close(SFUClose)

  var isNotification: Bool {
    switch self {
    case .notify, .event: true
    default: false
    }
  }
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

  /// Bytes that a reason may have in a WebSocket's close frame (RFC 6455 §5.5): 125 with the code.
  static let mostReason = 123

  /// The client's own `disconnect`.
  static let disconnect = SFUClose(code: 1000, reason: "TYPE-DISCONNECT")

  /// The server goes.
  static let shutdown = SFUClose(code: 1001, reason: "SERVER-SHUTDOWN")

  /// A `connect` or answer that can't be accepted.
  static func refused(_ reason: String) -> SFUClose { SFUClose(code: 4490, reason: reason) }

  /// The connection broke on the server's side of it.
  static func lost(_ reason: String) -> SFUClose { SFUClose(code: 1011, reason: reason) }
}

/// What a channel tells about one of its connections.
public struct SFUNotification: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable {
    case created = "connection.created"
    /// Each minute.
    case updated = "connection.updated"
    case destroyed = "connection.destroyed"
  }

  /// Bytes of metadata in one notification, the newcomer's own aside; of the 1 MiB that a message may have.
  static let mostMetadata = SignalingMessage.maximumSize * 3 / 4

  public struct Peer: Sendable, Hashable {
    public var connectionID: String
    public var clientID: String
    public var bundleID: String
    /// Its `signaling_notify_metadata`.
    public var metadata: JSONValue?
    /// What it said to be let in, and what was decided about it.
    public var authnMetadata: JSONValue?
    public var authzMetadata: JSONValue?

    /// Bytes of its names and metadata as JSON: what a newcomer is told of it, but for the keys.
    var metadataSize: Int {
      [
        .string(connectionID), .string(clientID), .string(bundleID), metadata, authnMetadata,
        authzMetadata,
      ].reduce(0) { $0 + ($1?.text.utf8.count ?? 0) }
    }
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

  public init() {}

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
  /// A client said something that means nothing here: the type of a message, or the path of a key. Of each connection the first ten.
  case ignored(channelID: String, connectionID: String, what: String)
}
