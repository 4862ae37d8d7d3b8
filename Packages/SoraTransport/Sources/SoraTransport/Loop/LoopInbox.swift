import CSoraNetwork
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Work handed to a loop: by actors (`job`) and by anybody (`closure`).
enum LoopWork: Sendable {
  case job(UnownedJob)
  case closure(@Sendable () -> Void)
}

/// The one part of a loop that other threads touch: a queue of work behind a mutex, and an eventfd that ends the
/// loop's wait. The loop swaps the whole queue out for an emptied one, so neither side allocates once both arrays
/// have grown to what they need; a turn that finds no work takes the mutex once, before it waits.
@safe final class LoopInbox: @unchecked Sendable {
  // @unchecked: the variables are touched only between `lock` and `unlock`. (A pthread mutex, because the thread
  // sanitizer doesn't see the standard library's `Mutex` on Linux and would report every use.)

  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var work: ContiguousArray<LoopWork> = []
  /// There is work. Changed with the mutex held.
  private let isFilled = Atomic(false)
  /// The loop is asleep or about to be: the next one to add work has to wake it. Set with the mutex held, and so seen
  /// by whoever finds the mutex free after that.
  private let isWaiting = Atomic(false)
  private var isFinished = false
  /// The eventfd.
  let wakeDescriptor: Int32

  init() throws(NetworkError) {
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
    wakeDescriptor = sora_net_wake_open()
    if wakeDescriptor < 0 { throw .system(call: "eventfd", code: -wakeDescriptor) }
  }

  deinit {
    if wakeDescriptor >= 0 { sora_net_close(wakeDescriptor) }
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  private func lock() { unsafe pthread_mutex_lock(mutex) }
  private func unlock() { unsafe pthread_mutex_unlock(mutex) }

  /// Adds work, from any thread.
  func add(_ item: LoopWork) {
    lock()
    work.append(item)
    isFilled.store(true, ordering: .releasing)
    unlock()
    wake()
  }

  /// Lets the loop's thread end when the work is done.
  func finish() {
    lock()
    isFinished = true
    unlock()
    wake()
  }

  private func wake() {
    guard isWaiting.exchange(false, ordering: .acquiringAndReleasing) else { return }
    sora_net_wake_signal(wakeDescriptor)
  }

  /// Whether work has been added since the last exchange.
  var hasWork: Bool { isFilled.load(ordering: .acquiring) }

  /// Exchanges the queue for `emptied`, whose memory it takes over.
  func exchange(_ emptied: inout ContiguousArray<LoopWork>) {
    lock()
    swap(&work, &emptied)
    isFilled.store(false, ordering: .relaxed)
    unlock()
  }

  /// What the loop finds before it waits.
  enum Outlook {
    case work, nothing, finished
  }

  /// Tells what there is to do. After `nothing`, whoever adds work signals the eventfd.
  func prepareToWait() -> Outlook {
    lock()
    defer { unlock() }
    if !work.isEmpty { return .work }
    if isFinished { return .finished }
    isWaiting.store(true, ordering: .releasing)
    return .nothing
  }

  /// The wait is over: adding work needs no signal.
  func endWait() {
    isWaiting.store(false, ordering: .releasing)
  }
}
