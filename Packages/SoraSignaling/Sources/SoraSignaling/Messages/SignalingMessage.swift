/// One message of Sora's signaling, either direction, over WebSocket or a data channel.
///
/// A client sends `connect`, `answer`, `candidate`, `re-answer`, `update`, `pong`, `stats` and
/// `disconnect`; the rest comes from the server. Both sides can be read and written, so that
/// one type serves clients, servers and tests.
public enum SignalingMessage: Sendable, Hashable {
  case connect(ConnectMessage)
  case redirect(RedirectMessage)
  case offer(OfferMessage)
  case answer(AnswerMessage)
  case candidate(CandidateMessage)
  case reOffer(ReOfferMessage)
  case reAnswer(ReAnswerMessage)
  case update(UpdateMessage)
  case ping(PingMessage)
  case pong(PongMessage)
  case notify(NotifyMessage)
  case push(PushMessage)
  case switched(SwitchedMessage)
  case disconnect(DisconnectMessage)
  case close(CloseMessage)
  case reqStats(ReqStatsMessage)
  case stats(StatsMessage)
  /// A type that this version doesn't know, kept whole.
  case unknown(UnknownMessage)

  /// The largest message that is read, in bytes.
  public static let maximumSize = 1 << 20

  /// The text of the key `type`.
  public var typeName: String {
    switch self {
    case .connect: "connect"
    case .redirect: "redirect"
    case .offer: "offer"
    case .answer: "answer"
    case .candidate: "candidate"
    case .reOffer: "re-offer"
    case .reAnswer: "re-answer"
    case .update: "update"
    case .ping: "ping"
    case .pong: "pong"
    case .notify: "notify"
    case .push: "push"
    case .switched: "switched"
    case .disconnect: "disconnect"
    case .close: "close"
    case .reqStats: "req-stats"
    case .stats: "stats"
    case .unknown(let message): message.type
    }
  }

  /// Reads one message from its JSON text.
  ///
  /// - Throws: what is wrong, with the path of the key, e.g. `offer.sdp`.
  public init(parsing text: String) throws(SignalingError) {
    try self.init(json: JSONValue(parsing: text))
  }

  /// Reads one message from UTF-8 bytes, e.g. of a data channel.
  public init(parsing bytes: [UInt8]) throws(SignalingError) {
    try self.init(json: JSONValue(parsing: bytes))
  }

  /// Reads one message from a JSON object. Keys that no type knows are tolerated.
  public init(json: JSONValue) throws(SignalingError) {
    guard case .object(let members) = json else {
      throw .invalid("message", json, expected: "a JSON object")
    }
    guard let type = members["type"] else { throw .missing("type", expected: "a string") }
    guard let name = type.stringValue else { throw .invalid("type", type, expected: "a string") }
    switch name {
    case "connect": self = .connect(try ConnectMessage(json: json, path: name))
    case "redirect": self = .redirect(try RedirectMessage(json: json, path: name))
    case "offer": self = .offer(try OfferMessage(json: json, path: name))
    case "answer": self = .answer(try AnswerMessage(json: json, path: name))
    case "candidate": self = .candidate(try CandidateMessage(json: json, path: name))
    case "re-offer": self = .reOffer(try ReOfferMessage(json: json, path: name))
    case "re-answer": self = .reAnswer(try ReAnswerMessage(json: json, path: name))
    case "update": self = .update(try UpdateMessage(json: json, path: name))
    case "ping": self = .ping(try PingMessage(json: json, path: name))
    case "pong": self = .pong(try PongMessage(json: json, path: name))
    case "notify": self = .notify(try NotifyMessage(json: json, path: name))
    case "push": self = .push(try PushMessage(json: json, path: name))
    case "switched": self = .switched(try SwitchedMessage(json: json, path: name))
    case "disconnect": self = .disconnect(try DisconnectMessage(json: json, path: name))
    case "close": self = .close(try CloseMessage(json: json, path: name))
    case "req-stats": self = .reqStats(ReqStatsMessage())
    case "stats": self = .stats(try StatsMessage(json: json, path: name))
    default: self = .unknown(UnknownMessage(type: name, json: json))
    }
  }

  /// The message as a JSON object, its key `type` included.
  public var json: JSONValue {
    let fields: JSONValue =
      switch self {
      case .connect(let message): message.json
      case .redirect(let message): message.json
      case .offer(let message): message.json
      case .answer(let message): message.json
      case .candidate(let message): message.json
      case .reOffer(let message): message.json
      case .reAnswer(let message): message.json
      case .update(let message): message.json
      case .ping(let message): message.json
      case .pong(let message): message.json
      case .notify(let message): message.json
      case .push(let message): message.json
      case .switched(let message): message.json
      case .disconnect(let message): message.json
      case .close(let message): message.json
      case .reqStats: .object([:])
      case .stats(let message): message.json
      case .unknown(let message): message.json
      }
    guard case .object(var members) = fields else { return fields }
    members["type"] = .string(typeName)
    return .object(members)
  }

  /// The message as JSON text, `type` first.
  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The message as UTF-8 bytes, for data channels.
  public var bytes: [UInt8] {
    var output: [UInt8] = []
    json.write(to: &output, firstKey: "type")
    return output
  }
}

/// A message of a type that this version doesn't know.
public struct UnknownMessage: Sendable, Hashable {
  public var type: String
  /// The whole object.
  public var json: JSONValue

  public init(type: String, json: JSONValue) {
    self.type = type
    self.json = json
  }
}
