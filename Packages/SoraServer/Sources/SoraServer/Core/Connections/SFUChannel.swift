/// The connections that meet under one name, from the first to the last.
///
/// Confined to its core.
final class SFUChannel {
  let id: String
  let sessionID: String
  /// What nobody is forwarded.
  var filters = ForwardingFilters()
  /// In the order of their `connect`.
  var members: [SFUConnection] = []

  init(id: String, sessionID: String) {
    self.id = id
    self.sessionID = sessionID
  }

  /// Only connections whose media can flow count.
  var counters: SFUCounters {
    var counters = SFUCounters()
    for member in members where member.isConnected { counters.add(member.request.role, 1) }
    return counters
  }
}
