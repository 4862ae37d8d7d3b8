import SoraMedia
import SoraWire

/// Allocations that were lost while a call runs, and are asked for again from the same server, each when its time has come.
struct RelayRemakes {
  /// A try that waits for its time.
  struct Remake {
    let server: Int
    /// The socket and the server's address; `nil` for a stream.
    let way: (base: TransportAddress, remote: TransportAddress)?
    let tries: Int
    fileprivate(set) var at: Instant
    /// What the new one shall take the place of: see `ICERelay`.
    fileprivate(set) var predecessor: ICERelay?
  }

  private let configuration: ICEGathering.Configuration
  private let random: RandomSource
  private var waiting: [Remake] = []

  init(configuration: ICEGathering.Configuration, random: RandomSource) {
    self.configuration = configuration
    self.random = random
  }

  var isEmpty: Bool { waiting.isEmpty }

  /// When the first of them is due; `nil` where there is none.
  var nextDeadline: Instant? { waiting.map(\.at).min() }

  /// Whether one of them is to take the place of a relay.
  func replaces(_ relay: ICERelay) -> Bool { waiting.contains { $0.predecessor === relay } }

  /// Plans another allocation in the place of one that is lost. Returns false where it was tried too often.
  mutating func plan(_ relay: ICERelay, at now: Instant) -> Bool {
    // One that has lasted has shown that the server is well.
    let hasLasted = relay.allocatedAt.map { now - $0 >= .seconds(60) } ?? false
    let tries = hasLasted ? 0 : relay.tries
    guard tries < configuration.maximumRemakes else { return false }
    let remote = relay.client.visited.first ?? relay.client.server
    waiting.append(
      Remake(
        server: relay.server, way: relay.base.map { ($0, remote) }, tries: tries + 1,
        at: now + pause(before: tries), predecessor: relay.predecessor))
    return true
  }

  /// The first try comes at once, but not that of every client of a restarted server in the same moment.
  private func pause(before tries: Int) -> Duration {
    guard tries > 0 else { return .milliseconds(1 + Int64(random.next() % 50)) }
    var pause = configuration.remakeDelay.wholeNanoseconds
    for _ in 1..<tries {
      pause = min(pause * 3 / 2, configuration.maximumRemakeDelay.wholeNanoseconds)
    }
    return .nanoseconds(pause / 1000 * (800 + Int64(random.next() % 401)))
  }

  /// Takes out those whose time has come.
  mutating func takeDue(at now: Instant) -> [Remake] {
    let due = waiting.filter { $0.at <= now }
    if !due.isEmpty { waiting.removeAll { $0.at <= now } }
    return due
  }

  /// Has all of them be due now: what failed for want of a way may succeed.
  mutating func hurry(at now: Instant) {
    for index in waiting.indices { waiting[index].at = now }
  }

  /// A relay is lost for good: where one was to take its place, that is an ordinary one now. Returns whether there is such a one.
  mutating func lost(_ relay: ICERelay) -> Bool {
    guard let index = waiting.firstIndex(where: { $0.predecessor === relay }) else { return false }
    waiting[index].predecessor = nil
    return true
  }

  /// Drops those whose predecessors speak again.
  mutating func dropNeedless() { waiting.removeAll { $0.predecessor?.isAnswered == true } }

  /// A socket is gone.
  mutating func forget(base: TransportAddress) { waiting.removeAll { $0.way?.base == base } }

  mutating func removeAll() { waiting = [] }
}
