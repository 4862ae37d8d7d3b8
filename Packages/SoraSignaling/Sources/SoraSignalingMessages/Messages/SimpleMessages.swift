/// The server's request to connect to another node of its cluster.
public typealias RedirectMessage = SignalingObject<RedirectFields>

extension RedirectMessage {
  public init(location: String) {
    self.init(members: [:])
    self.location = location
  }
}

/// The keys of `redirect`.
public struct RedirectFields: SignalingFields {
  public static let schema = Schema(Self())

  /// The signaling URL of that node.
  public let location = Field<String>("location")
}

/// The client's SDP answer to the first offer.
public typealias AnswerMessage = SignalingObject<DescriptionFields>

/// The client's answer to a `re-offer`.
public typealias ReAnswerMessage = SignalingObject<DescriptionFields>

/// The older form of renegotiation: the same type goes both ways.
public typealias UpdateMessage = SignalingObject<DescriptionFields>

extension SignalingObject where Fields == DescriptionFields {
  public init(sdp: String) {
    self.init(members: [:])
    self.sdp = sdp
  }
}

/// The keys of `answer`, `re-answer` and `update`.
public struct DescriptionFields: SignalingFields {
  public static let schema = Schema(Self())

  public let sdp = Field<String>("sdp")
}

/// One local ICE candidate of the client.
public typealias CandidateMessage = SignalingObject<CandidateFields>

extension CandidateMessage {
  /// - Parameters:
  ///   - candidate: the candidate, as SDP writes it.
  ///   - change: sets further fields.
  public init(candidate: String, _ change: (inout CandidateMessage) -> Void = { _ in }) {
    self.init(members: [:])
    self.candidate = candidate
    change(&self)
  }
}

/// The keys of `candidate`.
public struct CandidateFields: SignalingFields {
  public static let schema = Schema(Self())

  /// The candidate attribute's text, `candidate:...`.
  public let candidate = Field<String>("candidate")
  /// Only the JavaScript SDK sends the other three.
  public let sdpMid = Field<String?>("sdpMid")
  public let sdpMLineIndex = Field<Int?>("sdpMLineIndex")
  public let usernameFragment = Field<String?>("usernameFragment")
}

/// The server's renegotiation, e.g. because somebody joined.
public typealias ReOfferMessage = SignalingObject<ReOfferFields>

extension ReOfferMessage {
  public init(sdp: String, configuration: ICEConfiguration? = nil) {
    self.init(members: [:])
    self.sdp = sdp
    self.configuration = configuration
  }
}

/// The keys of `re-offer`.
public struct ReOfferFields: SignalingFields {
  public static let schema = Schema(Self())

  public let sdp = Field<String>("sdp")
  /// Changed ICE servers; most clients ignore them.
  public let configuration = Field<ICEConfiguration?>("config")
}

/// The server's keep-alive.
public typealias PingMessage = SignalingObject<PingFields>

extension PingMessage {
  public init(statisticsEnabled: Bool?) {
    self.init { $0.statisticsEnabled = statisticsEnabled }
  }
}

/// The keys of `ping`.
public struct PingFields: OptionalFields {
  public static let schema = Schema(Self())

  /// Whether the `pong` shall carry statistics; absent means no.
  public let statisticsEnabled = Field<Bool?>("stats")
}

/// The client's reply to a `ping`.
public typealias PongMessage = SignalingObject<PongFields>

extension PongMessage {
  public init(statistics: [JSONValue]?) {
    self.init { $0.statistics = statistics }
  }
}

/// The keys of `pong`.
public struct PongFields: OptionalFields {
  public static let schema = Schema(Self())

  /// RTCStats objects: each `id`, `type`, `timestamp` and its members.
  public let statistics = Field<[JSONValue]?>("stats")
}

/// Data that an application pushed through the server's API.
public typealias PushMessage = SignalingObject<PushFields>

extension PushMessage {
  public init(data: JSONValue) {
    self.init(members: [:])
    self.data = data
  }
}

/// The keys of `push`.
public struct PushFields: SignalingFields {
  public static let schema = Schema(Self())

  public let data = Field<JSONValue>("data", absent: .null)
}

/// Signaling goes over data channels from now on.
public typealias SwitchedMessage = SignalingObject<SwitchedFields>

extension SwitchedMessage {
  public init(ignoreDisconnectWebSocket: Bool) {
    self.init(members: [:])
    self.ignoreDisconnectWebSocket = ignoreDisconnectWebSocket
  }
}

/// The keys of `switched`.
public struct SwitchedFields: SignalingFields {
  public static let schema = Schema(Self())

  /// Whether the connection outlives its WebSocket. Always written: the iOS SDK demands it.
  public let ignoreDisconnectWebSocket = Field<Bool>("ignore_disconnect_websocket", absent: false)
}

/// The client leaves.
public typealias DisconnectMessage = SignalingObject<DisconnectFields>

extension DisconnectMessage {
  public init(reason: String?) {
    self.init { $0.reason = reason }
  }
}

/// The keys of `disconnect`.
public struct DisconnectFields: OptionalFields {
  public static let schema = Schema(Self())

  /// `NO-ERROR` when the user leaves.
  public let reason = Field<String?>("reason")
}

/// The server ends the connection, over a data channel.
public typealias CloseMessage = SignalingObject<CloseFields>

extension CloseMessage {
  public init(code: Int, reason: String) {
    self.init(members: [:])
    self.code = code
    self.reason = reason
  }
}

/// The keys of `close`.
public struct CloseFields: SignalingFields {
  public static let schema = Schema(Self())

  public let code = Field<Int>("code")
  public let reason = Field<String>("reason")
}

/// The server asks for statistics over the data channel `stats`.
public typealias ReqStatsMessage = SignalingObject<NoFields>

/// No keys at all.
public struct NoFields: OptionalFields {
  public static let schema = Schema(Self())
}

/// The client's statistics over the data channel `stats`.
public typealias StatsMessage = SignalingObject<StatsFields>

extension StatsMessage {
  public init(reports: [JSONValue]) {
    self.init(members: [:])
    self.reports = reports
  }
}

/// The keys of `stats`.
public struct StatsFields: SignalingFields {
  public static let schema = Schema(Self())

  public let reports = Field<[JSONValue]>("reports", absent: [])
}
