import CSoraNetwork
import Synchronization

/// Work handed to a loop: by actors (`job`) and by anybody (`closure`).
enum LoopWork: Sendable {
  case job(UnownedJob)
  case closure(@Sendable () -> Void)
}

/// The one part of a loop that other threads touch: a queue of work behind a mutex, and an eventfd that ends the
/// loop's wait. The loop swaps the whole queue out for an emptied one, so neither side allocates once both arrays
/// have grown to what they need.
final class LoopInbox: Sendable {
  private struct State {
    var work: ContiguousArray<LoopWork> = []
    /// The loop is asleep or about to be: the next one to add work has to wake it.
    var isWaiting = false
    var isFinished = false
  }

  private let state = Mutex(State())
  /// The eventfd.
  let wakeDescriptor: Int32

  init() throws(NetworkError) {
    wakeDescriptor = sora_net_wake_open()
    if wakeDescriptor < 0 { throw .system(call: "eventfd", code: -wakeDescriptor) }
  }

  deinit { sora_net_close(wakeDescriptor) }

  /// Adds work, from any thread.
  func add(_ work: LoopWork) {
    let wakes = state.withLock { state in
      state.work.append(work)
      defer { state.isWaiting = false }
      return state.isWaiting
    }
    if wakes { sora_net_wake_signal(wakeDescriptor) }
  }

  /// Lets the loop's thread end when the work is done.
  func finish() {
    let wakes = state.withLock { state in
      state.isFinished = true
      defer { state.isWaiting = false }
      return state.isWaiting
    }
    if wakes { sora_net_wake_signal(wakeDescriptor) }
  }

  /// Exchanges the queue for `emptied`, whose memory it takes over.
  func exchange(_ emptied: inout ContiguousArray<LoopWork>) {
    state.withLock { swap(&$0.work, &emptied) }
  }

  /// What the loop finds before it waits.
  enum Outlook {
    case work, nothing, finished
  }

  /// Tells what there is to do. After `nothing`, whoever adds work signals the eventfd.
  func prepareToWait() -> Outlook {
    state.withLock { state in
      if !state.work.isEmpty { return .work }
      if state.isFinished { return .finished }
      state.isWaiting = true
      return .nothing
    }
  }

  /// The wait is over: adding work needs no signal.
  func endWait() {
    state.withLock { $0.isWaiting = false }
  }
}
