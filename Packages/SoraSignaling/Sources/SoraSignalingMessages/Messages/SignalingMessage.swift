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
  public static var maximumSize: Int { JSONValue.maximumSize }

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
    var fields = members
    fields["type"] = nil
    try self.init(name, .object(fields), whole: json)
  }

  private init(_ type: String, _ fields: JSONValue, whole: JSONValue) throws(SignalingError) {
    switch type {
    case "connect": self = .connect(try .read(fields, path: type))
    case "redirect": self = .redirect(try .read(fields, path: type))
    case "offer": self = .offer(try .read(fields, path: type))
    case "answer": self = .answer(try .read(fields, path: type))
    case "candidate": self = .candidate(try .read(fields, path: type))
    case "re-offer": self = .reOffer(try .read(fields, path: type))
    case "re-answer": self = .reAnswer(try .read(fields, path: type))
    case "update": self = .update(try .read(fields, path: type))
    case "ping": self = .ping(try .read(fields, path: type))
    case "pong": self = .pong(try .read(fields, path: type))
    case "notify": self = .notify(try .read(fields, path: type))
    case "push": self = .push(try .read(fields, path: type))
    case "switched": self = .switched(try .read(fields, path: type))
    case "disconnect": self = .disconnect(try .read(fields, path: type))
    case "close": self = .close(try .read(fields, path: type))
    case "req-stats": self = .reqStats(try .read(fields, path: type))
    case "stats": self = .stats(try .read(fields, path: type))
    default: self = .unknown(UnknownMessage(type: type, json: whole))
    }
  }

  /// The fields, without the key `type`.
  private var fields: any FieldContent {
    switch self {
    case .connect(let message): message
    case .redirect(let message): message
    case .offer(let message): message
    case .answer(let message): message
    case .candidate(let message): message
    case .reOffer(let message): message
    case .reAnswer(let message): message
    case .update(let message): message
    case .ping(let message): message
    case .pong(let message): message
    case .notify(let message): message
    case .push(let message): message
    case .switched(let message): message
    case .disconnect(let message): message
    case .close(let message): message
    case .reqStats(let message): message
    case .stats(let message): message
    case .unknown(let message): message.json
    }
  }

  /// The paths of keys that this version doesn't know, such as `connect.vdeo` or `offer.encodings[0].prio`, wherever they stand; not of
  /// a message of an unknown type, nor inside of what an app defines, such as `metadata`.
  public var unknownKeys: [String] { fields.unknownKeys(path: typeName) }

  /// The message as a JSON object, its key `type` included.
  public var json: JSONValue {
    guard case .object(var members) = fields.json else { return fields.json }
    members["type"] = .string(typeName)
    return .object(members)
  }

  /// Applies the rules that fields declare, such as ranges, which reading doesn't: a client takes what a newer server
  /// sends, and a server refuses what a client may not ask for.
  ///
  /// - Throws: the first field that breaks its rule, by its path, e.g. `connect.spotlight_number`.
  public func check() throws(SignalingError) { try fields.check(path: typeName) }

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
