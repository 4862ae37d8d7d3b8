import SoraMedia

/// The connections that meet under one name, from the first to the last.
///
/// Confined to its core.
final class SFUChannel {
  let id: String
  let sessionID: String
  /// What nobody is forwarded.
  var filters = ForwardingFilters()
  /// Who is heard and seen by those who ask for that; nil where nobody has.
  var spotlight: Spotlight?
  /// Whether somebody has said how many places that has.
  var hasSpotlightNumber = false
  /// In the order of their `connect`.
  var members: [SFUConnection] = []
  /// When its first `connect` came.
  let createdAt: Instant
  /// Whether a connection of it could carry media: others have heard of the session then.
  var isReported = false

  init(id: String, sessionID: String, createdAt: Instant) {
    self.id = id
    self.createdAt = createdAt
    self.sessionID = sessionID
  }

  /// The connection with an id that hasn't left.
  func member(_ id: String) -> SFUConnection? {
    members.first { $0.connectionID == id && !$0.isEnded }
  }

  /// Bytes of JSON of all members' names and metadata.
  var metadataSize: Int { members.reduce(0) { $0 + $1.identity.size } }

  /// Only connections whose media can flow count.
  var counters: SFUCounters {
    var counters = SFUCounters()
    for member in members where member.isConnected { counters.add(member.request.role, 1) }
    return counters
  }
}
