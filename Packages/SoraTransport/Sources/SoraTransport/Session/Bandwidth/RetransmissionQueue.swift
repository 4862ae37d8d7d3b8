import SoraMedia

/// Retransmissions that wait for feedback to tell whether their packets have arrived after all. Bounded, in the order of
/// their requests.
struct RetransmissionQueue {
  struct Entry {
    var token: PacketToken
    /// The transport-wide number that the packet left under last.
    var transportSequence: Int64
    var size: Int
    var due: Instant
  }

  private static let limit = 256

  private var entries: [Entry] = []

  var isEmpty: Bool { entries.isEmpty }

  /// When the first of them has waited long enough.
  var nextDeadline: Instant? {
    var deadline: Instant?
    for entry in entries { deadline = earliest(deadline, entry.due) }
    return deadline
  }

  /// Returns false where too many wait already; then the packet should go at once.
  mutating func append(_ entry: Entry) -> Bool {
    guard entries.count < Self.limit else { return false }
    entries.append(entry)
    return true
  }

  /// Takes out those that have arrived, and hands over those that have waited long enough.
  ///
  /// - Returns: how many had arrived.
  mutating func settle(
    at now: Instant, hasArrived: (Int64) -> Bool, send: (Entry) -> Void
  ) -> Int {
    guard !entries.isEmpty else { return 0 }
    var arrived = 0
    var kept = 0
    for index in entries.indices {
      let entry = entries[index]
      if hasArrived(entry.transportSequence) {
        arrived += 1
      } else if entry.due <= now {
        send(entry)
      } else {
        entries[kept] = entry
        kept += 1
      }
    }
    entries.removeLast(entries.count - kept)
    return arrived
  }

  /// Forgets what a stream that ended had waiting.
  mutating func removeAll(of stream: Int) { entries.removeAll { $0.token.stream == stream } }
}
