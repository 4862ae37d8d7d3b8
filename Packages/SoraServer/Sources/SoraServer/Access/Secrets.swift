import SoraSignalingMessages

/// Keeps what lets people in out of logs, and from others of the channel.
enum Secrets {
  /// Members of objects whose values are nobody's business, in lower case.
  private static let names: Set<String> = [
    "access_token", "token", "id_token", "refresh_token", "password", "secret", "secret_key",
    "api_key", "apikey", "credential", "authorization", "jwt",
  ]

  /// What a client has sent to be let in, as others may hear it: an object without its secrets. nil where nothing is left, and for what is
  /// no object: a text may be a token itself.
  static func removed(from metadata: JSONValue?) -> JSONValue? {
    guard case .object(let members)? = metadata else { return nil }
    let rest = members.filter { !isSecret($0.key) }.mapValues { hidden($0) }
    return rest.isEmpty ? nil : .object(rest)
  }

  /// A `connect` for the log, with what it is and without what is secret or long.
  static func logged(_ connect: ConnectMessage) -> String {
    guard case .object(var members) = hidden(connect.json) else { return "" }
    // As a whole: a text may be a token, whatever its name.
    if let metadata = members["metadata"], metadata.objectValue == nil {
      members["metadata"] = mark
    }
    // Holds keys of ICE, and nothing that anybody reads.
    if let sdp = connect.sdp { members["sdp"] = .string("(\(sdp.utf8.count) bytes)") }
    return shortened(JSONValue.object(members).text)
  }

  private static let mark = JSONValue.string("(hidden)")
  private static let mostLogged = 4_000

  private static func shortened(_ text: String) -> String {
    text.count <= mostLogged ? text : text.prefix(mostLogged) + "..."
  }

  private static func isSecret(_ name: String) -> Bool { names.contains(name.lowercased()) }

  /// Depth is bounded, because the parser's is.
  private static func hidden(_ json: JSONValue) -> JSONValue {
    switch json {
    case .object(let members):
      var result: [String: JSONValue] = [:]
      for (name, value) in members { result[name] = isSecret(name) ? mark : hidden(value) }
      return .object(result)
    case .array(let elements): return .array(elements.map { hidden($0) })
    default: return json
    }
  }
}
