import Synchronization

/// Bytes of received messages that the app hasn't taken, of all channels of a connection that have a reader. Safe from any thread.
///
/// While too many wait the connection takes no more, and the other side's window closes: SCTP has one for all channels.
final class DataBacklog: Sendable {
  /// Beyond `high` nothing more is taken, until no more than `low` wait: not much less, for all channels of the connection stand still
  /// meanwhile, those of signaling too.
  static let high = 4 << 20
  static let low = 3 << 20

  private let state = Mutex((bytes: 0, taken: 0, isFull: false))

  /// Bytes that were taken so far.
  var taken: Int { state.withLock { $0.taken } }

  /// Adds what waits now.
  ///
  /// - Returns: whether it is full.
  func add(_ bytes: Int) -> Bool {
    state.withLock { state in
      state.bytes += bytes
      if state.bytes > Self.high { state.isFull = true }
      return state.isFull
    }
  }

  /// Takes away what was taken.
  ///
  /// - Returns: whether the connection may go on.
  func remove(_ bytes: Int) -> Bool {
    state.withLock { state in
      state.bytes -= bytes
      state.taken &+= bytes
      guard state.isFull, state.bytes <= Self.low else { return false }
      state.isFull = false
      return true
    }
  }
}
