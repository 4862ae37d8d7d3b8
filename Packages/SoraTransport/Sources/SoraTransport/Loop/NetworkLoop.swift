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
  /// How a loop works. The defaults suit WebRTC.
  public struct Configuration: Sendable, Hashable {
    /// Whether runs of datagrams of one size for one destination go to the kernel as one (UDP_SEGMENT). Where the
    /// kernel or the device refuses, they go one by one.
    public var segmentationOffload = true
    /// Whether the kernel may hand over several datagrams at once (UDP_GRO).
    public var receiveOffload = true
    /// Whether a datagram that is longer than the path's MTU leaves as IP fragments.
    ///
    /// As with libwebrtc and Pion, which leave Linux's default alone (`IP_PMTUDISC_WANT`, unless the system is set
    /// otherwise): what fits isn't to be fragmented on the way (DF), the kernel learns from ICMP messages what fits,
    /// and cuts what doesn't. WebRTC's packets of 1,200 bytes fit nearly every path, and through an odd tunnel
    /// fragments are better than nothing. `false` (`IP_PMTUDISC_DO`) is for who searches the longest packet that
    /// passes (RFC 8899): longer ones are dropped and counted in `drops.tooLong`.
    public var fragmentsLongDatagrams = true
    /// Bytes that the kernel may hold for a socket that isn't read fast enough. The system may grant less.
    public var receiveBufferBytes = 4 << 20
    /// Bytes that the kernel may hold for a socket until the device takes them. The system may grant less.
    public var sendBufferBytes = 1 << 20
    /// Messages read with one system call, 1 to 256.
    public var receiveBatch = 16
    /// Datagrams read from one socket in one turn before others have theirs; exceeded by one batch at most.
    public var receiveLimit = 256
    /// Datagrams that one socket may hold back; what comes on top is dropped and counted.
    public var queueLimit = 2048

    public init() {}
  }

  let core: LoopCore

  private init(core: LoopCore) {
    self.core = core
    core.loop = self
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
  public var isCurrent: Bool { core.isCurrent }

  /// Traps where the caller isn't on the loop.
  public func preconditionCurrent() { core.preconditionCurrent() }

  /// Closes the loop's sockets (flushing them) and disarms its timers, soon; `openUDP` throws from then on. Work and
  /// actors still run, so that whoever waits for them doesn't wait for ever.
  public func shutdown() {
    execute { [core] in core.shutDown() }
  }

  // MARK: On the loop

  /// The time at which the present turn began to deliver what it has to: read once for all of it. On the loop.
  public var now: Instant {
    core.preconditionCurrent()
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
    try core.openUDP(address, handler: handler)
  }

  /// Makes a timer, disarmed, that calls `fire` with the turn's time. On the loop.
  public func makeTimer(_ fire: @escaping (Instant) -> Void) -> LoopTimer {
    core.preconditionCurrent()
    return LoopTimer(core: core, fire)
  }

  /// What all sockets together, open and closed, have done. On the loop.
  public var statistics: NetworkStatistics {
    core.preconditionCurrent()
    return core.statistics
  }

  /// The number of open sockets. On the loop.
  public var openSockets: Int {
    core.preconditionCurrent()
    return core.sockets.count
  }

  // MARK: SerialExecutor

  public func enqueue(_ job: consuming ExecutorJob) {
    core.inbox.add(.job(UnownedJob(job)))
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    unsafe UnownedSerialExecutor(ordinary: self)
  }

  public func checkIsolated() { core.preconditionCurrent() }

  public func isIsolatingCurrentContext() -> Bool? { core.isCurrent }
}
