import CSoraNetwork
import SoraClock
import SoraICE
import SoraMedia

/// What a loop's thread works on. `NetworkLoop` is the handle that others hold; the core outlives it until its
/// thread has ended.
@safe final class LoopCore: @unchecked Sendable {
  // @unchecked: `context` and `inbox` are `let`s of Sendable types; `executor` is written once, before the thread starts; everything
  // else is touched only by the loop's thread, which the entry points check.

  let context: LoopContext
  let inbox: LoopInbox
  private let events: UnsafeMutablePointer<sora_net_event>
  /// The handle that actors are pinned to, for as long as somebody holds it.
  weak var executor: (any SerialExecutor)?

  // Confined to the thread from here on.
  private(set) var now: Instant = .zero
  let timers: TimerHeap
  let sockets: LoopSockets
  private let changes: InterfaceChanges
  private var isShutDown = false
  private var work: ContiguousArray<LoopWork> = []
  private var due: ContiguousArray<LoopTimer> = []

  private static let eventCapacity: Int32 = 128
  private static let wakeToken: UInt64 = 0

  init(configuration: NetworkLoopConfiguration) throws(NetworkError) {
    inbox = try LoopInbox()
    context = try LoopContext(configuration: configuration)
    timers = TimerHeap(context: context)
    sockets = LoopSockets(context: context)
    changes = InterfaceChanges(context: context)
    unsafe events = .allocate(capacity: Int(Self.eventCapacity))
    unsafe events.initialize(repeating: sora_net_event(), count: Int(Self.eventCapacity))
    let result = sora_net_poller_add(context.poller, inbox.wakeDescriptor, Self.wakeToken)
    if result < 0 { throw .system(call: "epoll_ctl", code: -result) }
  }

  deinit { unsafe events.deallocate() }

  // MARK: The thread

  func start(name: String) throws(NetworkError) {
    let context = unsafe Unmanaged.passRetained(self)
    let result = unsafe sora_net_thread_start(
      name,
      { context in
        guard let context = unsafe context else { return }
        unsafe Unmanaged<LoopCore>.fromOpaque(context).takeRetainedValue().run()
      }, unsafe context.toOpaque())
    if result < 0 {
      unsafe context.release()
      throw .system(call: "pthread_create", code: -result)
    }
  }

  private func run() {
    context.adoptThread()
    while true {
      if let socket = sockets.candidate, turn(reading: socket) { continue }
      switch inbox.prepareToWait() {
      case .work: turn(timeout: 0)
      case .nothing: turn(timeout: timeToNextDeadline())
      case .finished:
        shutDown()
        return
      }
    }
  }

  private func timeToNextDeadline() -> Int64 {
    guard timers.bound != LoopTimer.never, let deadline = timers.earliest() else { return -1 }
    let (wait, overflow) = deadline.subtractingReportingOverflow(SystemClock.now.nanoseconds)
    return overflow ? -1 : max(0, wait)
  }

  /// Waits, then: receives, ends batches, runs work, fires timers, flushes.
  private func turn(timeout: Int64) {
    let count = unsafe sora_net_poller_wait(context.poller, events, Self.eventCapacity, timeout)
    inbox.endWait()
    now = SystemClock.now
    sockets.waited()
    if count > 0 {
      for index in 0..<Int(count) { unsafe handle(events[index], isOnly: count == 1) }
    }
    endTurn()
  }

  /// A turn that needs no wait, because `socket` has something. Whether it has.
  private func turn(reading socket: UDPSocket) -> Bool {
    now = SystemClock.now
    guard sockets.read(ahead: socket, at: now) else { return false }
    endTurn()
    return true
  }

  private func endTurn() {
    sockets.endBatches(at: now)
    runWork()
    fireTimers()
    sockets.flushAll()
  }

  private func handle(_ event: sora_net_event, isOnly: Bool) {
    if event.token == Self.wakeToken {
      sora_net_wake_drain(inbox.wakeDescriptor)
      return
    }
    if event.token == InterfaceChanges.token {
      changes.read()
      return
    }
    sockets.handle(event, isOnly: isOnly, at: now)
  }

  private func runWork() {
    guard inbox.hasWork else { return }
    inbox.exchange(&work)
    // Held meanwhile, so that the executor doesn't go away under a job that drops the last reference.
    let executor = self.executor
    for index in work.indices {
      switch work[index] {
      case .closure(let body): body()
      case .job(let job):
        // An actor holds its loop, and a job its actor.
        guard let executor else {
          preconditionFailure("an actor has outlived the loop it is pinned to")
        }
        unsafe job.runSynchronously(on: executor.asUnownedSerialExecutor())
      }
    }
    work.removeAll(keepingCapacity: true)
    now = SystemClock.now
  }

  private func fireTimers() {
    guard timers.bound <= now.nanoseconds else { return }
    // All that are due are taken out first, so that a timer that is set again at once waits for the next turn.
    while let timer = timers.popDue(at: now.nanoseconds) {
      timer.isFiring = true
      due.append(timer)
    }
    guard !due.isEmpty else { return }
    for index in due.indices {
      let timer = due[index]
      // Cleared when an earlier callback has set or cancelled it.
      guard timer.isFiring else { continue }
      timer.isFiring = false
      timer.due = LoopTimer.never
      timer.fire?(now)
    }
    due.removeAll(keepingCapacity: true)
  }

  // MARK: On the thread

  func openUDP(
    _ address: TransportAddress, handler: any DatagramHandler
  ) throws(NetworkError) -> UDPSocket {
    if isShutDown { throw .closed }
    return try sockets.openUDP(address, handler: handler)
  }

  func watchInterfaces(_ change: @escaping () -> Void) throws(NetworkError) -> InterfaceWatch {
    if isShutDown { throw .closed }
    return try changes.watch(change)
  }

  // MARK: The end

  /// Closes the sockets and disarms the timers. Work is still run after it.
  func shutDown() {
    isShutDown = true
    sockets.closeAll()
    changes.close()
    timers.removeAll()
    for timer in due { timer.isFiring = false }
  }
}
