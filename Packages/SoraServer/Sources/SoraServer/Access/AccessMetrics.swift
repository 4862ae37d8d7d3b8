import Synchronization

/// What went wrong with those who decide and those who are told. Safe from any thread.
package final class AccessMetrics: Sendable {
  package enum Count: String, CaseIterable, Sendable {
    /// Clients that were not let in.
    case refusals
    /// Questions to the authentication webhook without a usable reply.
    case authWebhookFailure
    /// Events that the event webhook has taken.
    case eventsDelivered
    /// Tries to hand it an event that failed.
    case eventTriesFailed
    /// Events that were given up, after all tries or for want of room.
    case eventsDropped
  }

  private let counts = Mutex<[Count: UInt64]>([:])

  package init() {}

  func count(_ what: Count) { counts.withLock { $0[what, default: 0] += 1 } }

  package subscript(what: Count) -> UInt64 { counts.withLock { $0[what] ?? 0 } }
}
