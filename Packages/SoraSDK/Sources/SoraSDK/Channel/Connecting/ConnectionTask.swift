import Synchronization

/// One attempt to connect. Safe from any thread.
public final class ConnectionTask: Sendable {
  /// Where an attempt stands.
  public enum State: Sendable {
    case connecting
    /// It ended: the channel is connected, or the attempt failed.
    case completed
    /// `cancel` ended it.
    case canceled
  }

  private let storage = Mutex(State.connecting)
  /// Ends the attempt, if it still goes on.
  private let onCancel: @Sendable () -> Void

  init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

  /// Where the attempt stands.
  public var state: State { storage.withLock { $0 } }

  /// Ends the attempt at once with `SoraError.connectionCancelled`. Does nothing once it has ended.
  public func cancel() { onCancel() }

  /// Ends; the first call counts.
  func end(_ state: State) {
    storage.withLock { if $0 == .connecting { $0 = state } }
  }
}
