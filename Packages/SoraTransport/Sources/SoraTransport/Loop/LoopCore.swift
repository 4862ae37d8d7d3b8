import CSoraNetwork
import SoraClock
import SoraICE
import SoraMedia

/// What a loop's thread works on. `NetworkLoop` is the handle that others hold; the core outlives it until its
/// thread has ended.
@safe final class LoopCore: @unchecked Sendable {
  // @unchecked: `configuration`, `inbox` and the descriptors are `let`s of Sendable types; `loop` is written once,
  // before the thread starts; everything else is touched only by the loop's thread, which the entry points check.

  let configuration: NetworkLoop.Configuration
  let inbox: LoopInbox
  let poller: Int32
  let receiver: UnsafeMutablePointer<sora_net_receiver>
  let sender: OpaquePointer
  /// Datagrams of each message that the sender holds.
  let plan: UnsafeMutablePointer<Int>
  private let events: UnsafeMutablePointer<sora_net_event>
  /// The handle, for as long as somebody holds it.
  weak var loop: NetworkLoop?

  // Confined to the thread from here on.
  var now: Instant = .zero
  let timers = TimerHeap()
  let slab = SendSlab()
  let groups = SendGroups()
  private(set) var sockets: [UInt64: UDPSocket] = [:]
  private var entries: [ObjectIdentifier: HandlerEntry] = [:]
  private var lastToken: UInt64 = 0
  /// What the sockets that are closed by now have done.
  private var closedSockets = NetworkStatistics()
  private(set) var isShutDown = false
  var changes: InterfaceChanges
  private var ahead = ReadingAhead<UDPSocket>()

  /// Sockets with something to flush at the end of the turn.
  let unflushed = TurnList<UDPSocket>()
  /// Handlers that received something in this turn.
  let batched = TurnList<HandlerEntry>()
  private var work: ContiguousArray<LoopWork> = []
  private var due: ContiguousArray<LoopTimer> = []

  private static let eventCapacity: Int32 = 128
  private static let wakeToken: UInt64 = 0

  init(configuration: NetworkLoop.Configuration) throws(NetworkError) {
    self.configuration = configuration
    inbox = try LoopInbox()
    poller = sora_net_poller_open()
    changes = InterfaceChanges(poller: poller)
    if poller < 0 { throw .system(call: "epoll_create1", code: -poller) }
    let slotSize = configuration.receiveOffload ? 65_535 : 2048
    unsafe receiver = unsafe sora_net_receiver_create(
      Int32(configuration.receiveBatch), Int32(slotSize))
    unsafe sender = unsafe sora_net_sender_create()
    unsafe plan = .allocate(capacity: SORA_NET_SEND_MESSAGES)
    unsafe plan.initialize(repeating: 0, count: SORA_NET_SEND_MESSAGES)
    unsafe events = .allocate(capacity: Int(Self.eventCapacity))
    unsafe events.initialize(repeating: sora_net_event(), count: Int(Self.eventCapacity))
    let result = sora_net_poller_add(poller, inbox.wakeDescriptor, Self.wakeToken)
    if result < 0 { throw .system(call: "epoll_ctl", code: -result) }
  }

  deinit {
    if poller >= 0 { sora_net_close(poller) }
    unsafe sora_net_receiver_destroy(receiver)
    unsafe sora_net_sender_destroy(sender)
    unsafe plan.deallocate()
    unsafe events.deallocate()
  }

  @inline(__always)
  var isCurrent: Bool { unsafe sora_net_current_loop() == identity }

  var identity: UnsafeRawPointer { unsafe .init(Unmanaged.passUnretained(self).toOpaque()) }

  @inline(__always)
  func preconditionCurrent() {
    precondition(isCurrent, "this may only be used on its network loop")
  }

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
    unsafe sora_net_set_current_loop(identity)
    while true {
      if let socket = ahead.candidate, turn(reading: socket) { continue }
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
    let count = unsafe sora_net_poller_wait(poller, events, Self.eventCapacity, timeout)
    inbox.endWait()
    now = SystemClock.now
    ahead.waited()
    if count > 0 {
      for index in 0..<Int(count) { unsafe handle(events[index], isOnly: count == 1) }
    }
    endTurn()
  }

  /// A turn that needs no wait, because `socket` has something. Whether it has.
  private func turn(reading socket: UDPSocket) -> Bool {
    now = SystemClock.now
    let datagrams = socket.receive(at: now, limit: ahead.left)
    ahead.read(datagrams)
    if datagrams > 0 { endTurn() }
    return datagrams > 0
  }

  private func endTurn() {
    endBatches()
    runWork()
    fireTimers()
    flushAll()
  }

  private func handle(_ event: sora_net_event, isOnly: Bool) {
    if event.token == Self.wakeToken {
      sora_net_wake_drain(inbox.wakeDescriptor)
      return
    }
    if event.token == InterfaceChanges.token {
      guard changes.read() else { return }
      for watch in changes.watches { watch.change?() }
      return
    }
    // Not there when an earlier callback of this turn has closed it.
    guard let socket = sockets[event.token] else { return }
    if event.ready & UInt32(SORA_NET_FAILED) != 0 { socket.readErrors() }
    if event.ready & UInt32(SORA_NET_WRITABLE) != 0 { socket.roomAppeared() }
    if event.ready & UInt32(SORA_NET_READABLE | SORA_NET_FAILED) != 0 {
      let limit = configuration.receiveLimit
      let datagrams = socket.receive(at: now, limit: limit)
      if isOnly, !socket.isClosed { ahead.found(only: socket, left: limit - datagrams) }
    }
  }

  private func endBatches() {
    batched.drain { entry in
      entry.isListed = false
      if entry.sockets > 0 { entry.handler.batchEnded(at: now) }
    }
  }

  private func runWork() {
    guard inbox.hasWork else { return }
    inbox.exchange(&work)
    // Held meanwhile, so that the executor doesn't go away under a job that drops the last reference.
    let loop = self.loop
    for index in work.indices {
      switch work[index] {
      case .closure(let body): body()
      case .job(let job):
        // An actor holds its loop, and a job its actor.
        guard let loop else {
          preconditionFailure("an actor has outlived the loop it is pinned to")
        }
        unsafe job.runSynchronously(on: loop.asUnownedSerialExecutor())
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

  private func flushAll() {
    unflushed.drain { socket in
      socket.isListed = false
      socket.flush()
    }
  }

  // MARK: Sockets

  func openUDP(_ address: TransportAddress, handler: any DatagramHandler) throws(NetworkError)
    -> UDPSocket
  {
    preconditionCurrent()
    if isShutDown { throw .closed }
    var name = sora_net_address(address)
    name.scope = NetworkLoop.scope(of: name)
    var options = sora_net_udp_options(
      receive_buffer: Int32(clamping: configuration.receiveBufferBytes),
      send_buffer: Int32(clamping: configuration.sendBufferBytes),
      receive_offload: configuration.receiveOffload ? 1 : 0, segmentation_offload: 0,
      refuses_fragments: configuration.fragmentsLongDatagrams ? 0 : 1)
    var bound = sora_net_address()
    let descriptor = unsafe sora_net_udp_open(&name, &options, &bound)
    if descriptor < 0 { throw .binding(address, code: -descriptor) }
    bound.scope = name.scope
    let token = lastToken + 1
    let result = sora_net_poller_add(poller, descriptor, token)
    if result < 0 {
      sora_net_close(descriptor)
      throw .system(call: "epoll_ctl", code: -result)
    }
    lastToken = token
    let entry = entries[ObjectIdentifier(handler)] ?? HandlerEntry(handler)
    entries[ObjectIdentifier(handler)] = entry
    entry.sockets += 1
    let socket = UDPSocket(
      core: self, descriptor: descriptor, token: token, bound: bound, entry: entry,
      mergesSends: configuration.segmentationOffload && options.segmentation_offload != 0)
    sockets[token] = socket
    return socket
  }

  func watchInterfaces(_ change: @escaping () -> Void) throws(NetworkError) -> InterfaceWatch {
    preconditionCurrent()
    if isShutDown { throw .closed }
    let watch = InterfaceWatch(core: self, change)
    try changes.add(watch)
    return watch
  }

  /// A socket is being closed.
  func forget(_ socket: UDPSocket) {
    sora_net_poller_remove(poller, socket.descriptor)
    sockets[socket.token] = nil
    ahead.forget(socket)
    socket.entry.sockets -= 1
    if socket.entry.sockets == 0 {
      entries[ObjectIdentifier(socket.entry.handler)] = nil
    }
    closedSockets += socket.statistics
  }

  var statistics: NetworkStatistics {
    var sum = closedSockets
    for socket in sockets.values { sum += socket.statistics }
    return sum
  }

  // MARK: The end

  /// Closes the sockets and disarms the timers. Work is still run after it.
  func shutDown() {
    isShutDown = true
    for socket in Array(sockets.values) { socket.close() }
    changes.close()
    timers.removeAll()
    for timer in due { timer.isFiring = false }
  }
}
