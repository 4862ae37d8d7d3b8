/// A connection that was made by an HTTP request, and is changed and ended by others.
struct HTTPSession: Sendable {
  let purpose: SFUClientOffer.Purpose
  let channelID: String
  let connectionID: String
  /// What its maker has shown to be let in; whoever changes it has to show the same. nil where it was nothing.
  let token: SecretKey?

  /// Whether a request may change it.
  func admits(_ shown: String?) -> Bool { token.map { $0.matches(shown ?? "") } ?? true }
}

/// The connections that were made by HTTP requests, by the last parts of their paths. Those can't be guessed, and nobody else is told
/// them, as the others of a channel are told the ids of connections. Plain memory.
struct HTTPSessions {
  private var sessions: [String: HTTPSession] = [:]
  private var names: [String: String] = [:]

  var count: Int { sessions.count }

  mutating func add(_ session: HTTPSession, as id: String) {
    sessions[id] = session
    names[session.connectionID] = id
  }

  subscript(id: String) -> HTTPSession? { sessions[id] }

  /// A connection has ended, whether it was one of these or not.
  mutating func end(connectionID: String) {
    if let id = names.removeValue(forKey: connectionID) { sessions[id] = nil }
  }
}
