import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Several loops that share the connections of a process. Safe from any thread.
public final class NetworkLoopGroup: Sendable {
  /// The process's loops: one a processor, at most four. They are never shut down.
  public static let shared = NetworkLoopGroup(
    count: min(4, max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))))

  /// The number of loops.
  public let count: Int
  private let configuration: NetworkLoop.Configuration
  private let state: Mutex<State>

  private struct State {
    var loops: [NetworkLoop] = []
    var turn = 0
  }

  /// A group of `count` (at least 1) loops, each started when it is first needed.
  public init(count: Int, configuration: NetworkLoop.Configuration = .init()) {
    self.count = max(1, count)
    self.configuration = configuration
    state = Mutex(State())
  }

  /// The loops in turn, so that connections spread over them.
  public func next() throws(NetworkError) -> NetworkLoop {
    try state.withLock { state throws(NetworkError) in
      let loop = try obtain(&state)
      state.turn = (state.turn + 1) % count
      return loop
    }
  }

  /// Starts the loop that `next` gives next, where it doesn't run yet, so that nobody has to wait for it then.
  public func prepare() throws(NetworkError) {
    try state.withLock { state throws(NetworkError) in _ = try obtain(&state) }
  }

  /// The loop whose turn it is.
  private func obtain(_ state: inout State) throws(NetworkError) -> NetworkLoop {
    if state.turn < state.loops.count { return state.loops[state.turn] }
    let loop = try NetworkLoop.make(configuration: configuration)
    state.loops.append(loop)
    return loop
  }

  /// Shuts down the loops that were started; see `NetworkLoop.shutdown()`.
  public func shutdown() {
    for loop in state.withLock({ $0.loops }) { loop.shutdown() }
  }
}
