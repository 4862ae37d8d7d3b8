/// The server's request to connect to another node of its cluster.
public struct RedirectMessage: Sendable, Hashable, JSONFields {
  /// The signaling URL of that node.
  public var location: String

  public init(location: String) { self.location = location }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(json, path: path)
    location = try reader.requiredString("location")
  }

  var json: JSONValue { ["location": .string(location)] }
}

/// The client's SDP answer to the first offer.
public struct AnswerMessage: Sendable, Hashable, JSONFields {
  public var sdp: String

  public init(sdp: String) { self.sdp = sdp }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(json, path: path)
    sdp = try reader.requiredString("sdp")
  }

  var json: JSONValue { ["sdp": .string(sdp)] }
}

/// One local ICE candidate of the client.
public struct CandidateMessage: Sendable, Hashable, JSONFields {
  /// The candidate attribute's text, `candidate:...`.
  public var candidate: String
  /// Only the JavaScript SDK sends the other three.
  public var sdpMid: String?
  public var sdpMLineIndex: Int?
  public var usernameFragment: String?

  public init(
    candidate: String, sdpMid: String? = nil, sdpMLineIndex: Int? = nil,
    usernameFragment: String? = nil
  ) {
    self.candidate = candidate
    self.sdpMid = sdpMid
    self.sdpMLineIndex = sdpMLineIndex
    self.usernameFragment = usernameFragment
  }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(json, path: path)
    candidate = try reader.requiredString("candidate")
    sdpMid = try reader.string("sdpMid")
    sdpMLineIndex = try reader.int("sdpMLineIndex")
    usernameFragment = try reader.string("usernameFragment")
  }

  var json: JSONValue {
    var writer = JSONFieldWriter()
    writer.set("candidate", candidate)
    writer.set("sdpMid", sdpMid)
    writer.set("sdpMLineIndex", sdpMLineIndex)
    writer.set("usernameFragment", usernameFragment)
    return writer.json
  }
}

/// The server's renegotiation, e.g. because somebody joined.
public struct ReOfferMessage: Sendable, Hashable, JSONFields {
  public var sdp: String
  /// Changed ICE servers; most clients ignore them.
  public var configuration: OfferMessage.Configuration?

  public init(sdp: String, configuration: OfferMessage.Configuration? = nil) {
    self.sdp = sdp
    self.configuration = configuration
  }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(json, path: path)
    sdp = try reader.requiredString("sdp")
    configuration = try reader.nested("config", OfferMessage.Configuration.init(json:path:))
  }

  var json: JSONValue {
    var writer = JSONFieldWriter()
    writer.set("sdp", sdp)
    writer.set("config", configuration?.json)
    return writer.json
  }
}

/// The client's answer to a `re-offer`.
public struct ReAnswerMessage: Sendable, Hashable, JSONFields {
  public var sdp: String

  public init(sdp: String) { self.sdp = sdp }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(json, path: path)
    sdp = try reader.requiredString("sdp")
  }

  var json: JSONValue { ["sdp": .string(sdp)] }
}

/// The older form of renegotiation: the same type goes both ways.
public struct UpdateMessage: Sendable, Hashable, JSONFields {
  public var sdp: String

  public init(sdp: String) { self.sdp = sdp }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(json, path: path)
    sdp = try reader.requiredString("sdp")
  }

  var json: JSONValue { ["sdp": .string(sdp)] }
}

/// The server's keep-alive.
public struct PingMessage: Sendable, Hashable, JSONFields {
  /// Whether the `pong` shall carry statistics; absent means no.
  public var statisticsEnabled: Bool?

  public init(statisticsEnabled: Bool? = nil) { self.statisticsEnabled = statisticsEnabled }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(json, path: path)
    statisticsEnabled = try reader.bool("stats")
  }

  var json: JSONValue {
    var writer = JSONFieldWriter()
    writer.set("stats", statisticsEnabled)
    return writer.json
  }
}

/// The client's reply to a `ping`.
public struct PongMessage: Sendable, Hashable, JSONFields {
  /// RTCStats objects: each `id`, `type`, `timestamp` and its members.
  public var statistics: [JSONValue]?

  public init(statistics: [JSONValue]? = nil) { self.statistics = statistics }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(json, path: path)
    statistics = try reader.values("stats")
  }

  var json: JSONValue {
    var writer = JSONFieldWriter()
    writer.set("stats", statistics)
    return writer.json
  }
}

/// Data that an application pushed through the server's API.
public struct PushMessage: Sendable, Hashable, JSONFields {
  public var data: JSONValue

  public init(data: JSONValue) { self.data = data }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(json, path: path)
    data = reader.any("data") ?? .null
  }

  var json: JSONValue { ["data": data] }
}

/// Signaling goes over data channels from now on.
public struct SwitchedMessage: Sendable, Hashable, JSONFields {
  /// Whether the connection outlives its WebSocket. Always written: the iOS SDK demands it.
  public var ignoreDisconnectWebSocket: Bool

  public init(ignoreDisconnectWebSocket: Bool) {
    self.ignoreDisconnectWebSocket = ignoreDisconnectWebSocket
  }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(json, path: path)
    ignoreDisconnectWebSocket = try reader.bool("ignore_disconnect_websocket") ?? false
  }

  var json: JSONValue { ["ignore_disconnect_websocket": .bool(ignoreDisconnectWebSocket)] }
}

/// The client leaves.
public struct DisconnectMessage: Sendable, Hashable, JSONFields {
  /// `NO-ERROR` when the user wished it.
  public var reason: String?

  public init(reason: String? = nil) { self.reason = reason }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(json, path: path)
    reason = try reader.string("reason")
  }

  var json: JSONValue {
    var writer = JSONFieldWriter()
    writer.set("reason", reason)
    return writer.json
  }
}

/// The server ends the connection, over a data channel.
public struct CloseMessage: Sendable, Hashable, JSONFields {
  public var code: Int
  public var reason: String

  public init(code: Int, reason: String) {
    self.code = code
    self.reason = reason
  }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(json, path: path)
    code = try reader.requiredInt("code")
    reason = try reader.requiredString("reason")
  }

  var json: JSONValue { ["code": .integer(Int64(code)), "reason": .string(reason)] }
}

/// The server asks for statistics over the data channel `stats`.
public struct ReqStatsMessage: Sendable, Hashable {
  public init() {}
}

/// The client's statistics over the data channel `stats`.
public struct StatsMessage: Sendable, Hashable, JSONFields {
  public var reports: [JSONValue]

  public init(reports: [JSONValue]) { self.reports = reports }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(json, path: path)
    reports = try reader.values("reports") ?? []
  }

  var json: JSONValue { ["reports": .array(reports)] }
}
