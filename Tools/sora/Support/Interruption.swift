import Dispatch
import Foundation
import Synchronization

/// Ctrl-C and `kill`: the first asks for an orderly end, the second ends the process at once.
package final class Interruption: @unchecked Sendable {
  // @unchecked: `sources` is written by `init` alone; the rest is in a mutex.

  private struct State {
    var isRequested = false
    /// The signal that asked; nil where something else did.
    var signal: Int32?
    var hangUp: (@Sendable () -> Void)?
    var handlers: [@Sendable () -> Void] = []
  }
  private let state = Mutex(State())
  private var sources: [any DispatchSourceSignal] = []

  /// Takes over `SIGINT`, `SIGTERM` and `SIGHUP`. One a process.
  package init() {
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(
        signal: number, queue: DispatchQueue.global(qos: .userInitiated))
      source.setEventHandler { [weak self] in self?.receive(number) }
      source.activate()
      sources.append(source)
    }
  }

  package var isRequested: Bool { state.withLock { $0.isRequested } }

  /// Whether `SIGTERM` asked for the end, as service managers do.
  package var isTermination: Bool { state.withLock { $0.signal == SIGTERM } }

  /// From now on `SIGHUP` calls `handler` each time and ends nothing, as it is with services.
  package func onHangUp(_ handler: @escaping @Sendable () -> Void) {
    state.withLock { $0.hangUp = handler }
  }

  /// Calls `handler` once when an end is asked for; at once where it was already.
  package func onRequest(_ handler: @escaping @Sendable () -> Void) {
    let isRequested = state.withLock { state in
      if !state.isRequested { state.handlers.append(handler) }
      return state.isRequested
    }
    if isRequested { handler() }
  }

  /// Asks for an orderly end, as the first signal does. Returns false where somebody has asked before.
  @discardableResult
  package func request() -> Bool { request(by: nil) }

  private func request(by signal: Int32?) -> Bool {
    let handlers = state.withLock { state -> [@Sendable () -> Void]? in
      guard !state.isRequested else { return nil }
      state.isRequested = true
      state.signal = signal
      defer { state.handlers = [] }
      return state.handlers
    }
    for handler in handlers ?? [] { handler() }
    return handlers != nil
  }

  private func receive(_ number: Int32) {
    if number == SIGHUP, let hangUp = state.withLock({ $0.hangUp }) { return hangUp() }
    guard !request(by: number) else { return }
    signal(number, SIG_DFL)
    kill(getpid(), number)
  }
}
