public import SoraICE
public import SoraMedia
import Synchronization

/// A thread over epoll that serves the packets and timers of many connections, and runs the actors pinned to it.
///
/// Everything of a connection that handles packets lives on one loop: its sockets, its timers, and the actor that
/// the API talks to, whose `unownedExecutor` is `loop.asUnownedSerialExecutor()`. So nothing on the way of a packet
/// needs a lock or a hop.
///
/// In each turn a loop waits, reads what has arrived (calling handlers), ends the batches, runs the work that
/// was handed to it, fires timers, and flushes what was sent. Callbacks must not block.
///
/// The thread ends when the last reference has gone and no socket is open. Whoever pins an actor to a loop keeps the
/// loop in a property of the actor.
public final class NetworkLoop: SerialExecutor, Sendable {
  public typealias Configuration = NetworkLoopConfiguration

  let core: LoopCore

  private init(core: LoopCore) {
    self.core = core
    core.executor = self
  }

  deinit { core.inbox.finish() }

  private static let made = Atomic<Int>(0)

  /// Starts a loop.
  public static func make(configuration: Configuration = .init()) throws(NetworkError)
    -> NetworkLoop
  {
    var configuration = configuration
    configuration.receiveBatch = min(256, max(1, configuration.receiveBatch))
    configuration.queueLimit = max(1, configuration.queueLimit)
    let core = try LoopCore(configuration: configuration)
    let loop = NetworkLoop(core: core)
    let number = made.add(1, ordering: .relaxed).newValue
    try core.start(name: "sora-loop-\(number % 100_000)")
    return loop
  }

  // MARK: From any thread

  /// Runs `body` on the loop, after the work that was handed to it before. From any thread, the loop's included.
  public func execute(_ body: @escaping @Sendable () -> Void) {
    core.inbox.add(.closure(body))
  }

  /// Runs `body` on the loop and returns its result. Not from the loop's own callbacks, which can't wait.
  public func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      execute { continuation.resume(returning: body()) }
    }
  }

  /// Whether the caller is on the loop.
  public var isCurrent: Bool { core.context.isCurrent }

  /// Traps where the caller isn't on the loop.
  public func preconditionCurrent() { core.context.preconditionCurrent() }

  /// Closes the loop's sockets (flushing them) and disarms its timers, soon; `openUDP` throws from then on. Work and
  /// actors still run, so that whoever waits for them doesn't wait for ever.
  public func shutdown() {
    execute { [core] in core.shutDown() }
  }

  // MARK: On the loop

  /// The time at which the present turn began to deliver what it has to: read once for all of it. On the loop.
  public var now: Instant {
    core.context.preconditionCurrent()
    return core.now
  }

  /// Opens a UDP socket. On the loop.
  ///
  /// - Parameters:
  ///   - address: one of the host's addresses or the unspecified one; port 0 takes any that is free.
  ///   - handler: is handed what arrives. Held until the socket is closed.
  public func openUDP(_ address: TransportAddress, handler: any DatagramHandler)
    throws(NetworkError) -> UDPSocket
  {
    core.context.preconditionCurrent()
    return try core.openUDP(address, handler: handler)
  }

  /// Makes a timer, disarmed, that calls `fire` with the turn's time. On the loop.
  public func makeTimer(_ fire: @escaping (Instant) -> Void) -> LoopTimer {
    core.context.preconditionCurrent()
    return LoopTimer(heap: core.timers, fire)
  }

  /// What all sockets together, open and closed, have done. On the loop.
  public var statistics: NetworkStatistics {
    core.context.preconditionCurrent()
    return core.sockets.statistics
  }

  /// The number of open sockets. On the loop.
  public var openSockets: Int {
    core.context.preconditionCurrent()
    return core.sockets.count
  }

  // MARK: SerialExecutor

  public func enqueue(_ job: consuming ExecutorJob) {
    core.inbox.add(.job(UnownedJob(job)))
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    unsafe UnownedSerialExecutor(ordinary: self)
  }

  public func checkIsolated() { core.context.preconditionCurrent() }

  public func isIsolatingCurrentContext() -> Bool? { core.context.isCurrent }
}
