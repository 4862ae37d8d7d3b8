import CSoraV4L2
package import SoraMedia
import Synchronization

/// What ends a wait that no frame ends: a deadline, or another thread.
///
/// It is set once for many frames: setting one for each would cost more than taking the frame. (So does a timeout of `poll`.)
package final class WaitTimer: Sendable {
  private struct State {
    /// What it is set to, until that has come.
    var time: Instant?
    var isWoken = false
  }

  /// Can be read when the time has come.
  package let fd: Int32
  private let state = Mutex(State())

  package init() throws(DriverFailure) {
    var fd: Int32 = -1
    let code = unsafe sora_v4l2_make_timer(&fd)
    if code != 0 { throw DriverFailure(code) }
    self.fd = fd
  }

  // Not when the camera ends: who stops one that has ended by itself wakes nobody, but must not set what came after it.
  deinit { sora_v4l2_close(fd) }

  /// Keeps an earlier time.
  package func set(noLaterThan deadline: Instant) {
    state.withLock { state in
      guard !state.isWoken, state.time.map({ $0 > deadline }) ?? true else { return }
      state.time = deadline
      sora_v4l2_set_timer(fd, deadline.nanoseconds)
    }
  }

  /// Whether it was `wake` that ended the wait, and not a deadline.
  package func expired() -> Bool {
    state.withLock { state in
      state.time = nil
      return state.isWoken
    }
  }

  /// The time has come, from now on.
  package func wake() {
    state.withLock { state in
      state.isWoken = true
      sora_v4l2_set_timer(fd, 0)
    }
  }
}
