import CSoraRedis
import Dispatch
import SoraMedia
import Synchronization

/// Where a Redis's host is. The system's resolver takes as long as it likes: it is asked on a thread of its own, one at a time, and what
/// comes too late for one connection is there for the next.
package final class RedisHost: Sendable {
  /// What the resolver found: addresses, or why there are none.
  package typealias Answer = Result<[String], ClusterError>

  private struct State {
    /// Signalled with the answer; nil where nobody is asked.
    var asked: DispatchSemaphore?
    var answer: Answer?
  }

  private static let mostAddresses = 4

  private let name: String
  private let resolve: @Sendable (String) -> Answer
  private let queue = DispatchQueue(label: "sora.cluster.names")
  private let state = Mutex(State())

  /// - Parameters:
  ///   - name: a name, or an address.
  ///   - resolve: finds its addresses, and may block.
  package init(
    _ name: String, resolve: @escaping @Sendable (String) -> Answer = RedisHost.bySystem
  ) {
    self.name = name
    self.resolve = resolve
  }

  /// Its addresses. For one thread at a time.
  ///
  /// - Parameter timeout: how long to wait for the resolver.
  /// - Throws: `ClusterError.unreachable`.
  func addresses(within timeout: Duration) throws(ClusterError) -> [String] {
    _ = asked().wait(timeout: .now() + .nanoseconds(Int(timeout.wholeNanoseconds)))
    let answer = state.withLock { state in
      if state.answer != nil { state.asked = nil }
      return state.answer.take()
    }
    guard let answer else { throw .unreachable("\(name) wasn't resolved in time") }
    return try answer.get()
  }

  /// Asks, unless that is under way.
  private func asked() -> DispatchSemaphore {
    let (semaphore, isNew) = state.withLock { state in
      let (known, semaphore) = (state.asked, state.asked ?? DispatchSemaphore(value: 0))
      state.asked = semaphore
      return (semaphore, known == nil)
    }
    guard isNew else { return semaphore }
    queue.async { [self] in
      let answer = resolve(name)
      state.withLock { $0.answer = answer }
      semaphore.signal()
    }
    return semaphore
  }

  /// The system's resolver.
  package static func bySystem(_ name: String) -> Answer {
    let size = Int(SORA_REDIS_ADDRESS_SIZE)
    var texts = [CChar](repeating: 0, count: mostAddresses * size)
    var reason = [CChar](repeating: 0, count: RedisConnection.reasonSize)
    let count = unsafe sora_redis_resolve(name, &texts, mostAddresses, &reason, reason.count)
    guard count > 0 else { return .failure(.unreachable(RedisConnection.text(of: reason))) }
    return .success(
      (0..<count).map { RedisConnection.text(of: Array(texts[($0 * size)..<(($0 + 1) * size)])) })
  }
}
