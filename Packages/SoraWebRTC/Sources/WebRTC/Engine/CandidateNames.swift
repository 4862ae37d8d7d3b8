package import SoraICE
import SoraWire
import Synchronization

/// Finds the addresses of a peer's candidates that have names, a few at a time. A peer may send many, and each costs a thread or sockets
/// for as long as nobody answers. From any thread.
package final class CandidateNames: Sendable {
  /// Looks a name up, and calls `done` once, from any thread; without addresses where there are none.
  package typealias LookUp =
    @Sendable (_ name: String, _ done: @escaping @Sendable ([IPAddress]) -> Void) -> Void

  private let turns = LookupTurns(atOnce: 4, waiting: 64)
  private let lookUp: LookUp
  private let found: @Sendable (ICECandidate) -> Void

  /// - Parameters:
  ///   - lookUp: finds addresses.
  ///   - found: takes a candidate with one of its addresses.
  package init(_ lookUp: @escaping LookUp, found: @escaping @Sendable (ICECandidate) -> Void) {
    self.lookUp = lookUp
    self.found = found
  }

  /// Has a candidate's name looked up.
  package func resolve(_ candidate: ICECandidate) {
    guard case .name(let name) = candidate.address else { return }
    turns.begin { [self] in
      lookUp(name) { [self] addresses in
        for address in addresses { found(candidate.resolved(to: address)) }
        turns.end()
      }
    }
  }
}

/// What runs a few at a time, and who waits for that.
final class LookupTurns: Sendable {
  private struct State {
    var running = 0
    var waiting: [@Sendable () -> Void] = []
  }

  private let most: Int
  private let mostWaiting: Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - most: how many run at once.
  ///   - mostWaiting: how many wait. Beyond it the oldest are given up.
  init(atOnce most: Int, waiting mostWaiting: Int) {
    self.most = most
    self.mostWaiting = mostWaiting
  }

  /// Runs `body` when it is its turn; `end` must follow once it is done.
  func begin(_ body: @escaping @Sendable () -> Void) {
    let starts = state.withLock { state in
      guard state.running >= most else {
        state.running += 1
        return true
      }
      if state.waiting.count >= mostWaiting { state.waiting.removeFirst() }
      state.waiting.append(body)
      return false
    }
    if starts { body() }
  }

  func end() {
    let next = state.withLock { state -> (@Sendable () -> Void)? in
      if !state.waiting.isEmpty { return state.waiting.removeFirst() }
      state.running -= 1
      return nil
    }
    next?()
  }
}
