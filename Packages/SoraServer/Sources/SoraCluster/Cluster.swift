import Dispatch
import Foundation
public import Logging
import SoraClock
import SoraMedia
import Synchronization

/// This server's part in a cluster: a `ClusterMember` over a Redis, on a thread of its own, so that nobody waits for a Redis that is away.
///
/// Everything may be called from any thread. `leave` must be the last call.
public final class Cluster: Sendable {
  /// This node's name in the cluster.
  public let id: String

  private struct State {
    var member: ClusterMember
    var nextTicket: UInt64 = 0
    var waiting: [UInt64: Waiter] = [:]
    /// Whether nobody is answered any more.
    var isOver = false
  }

  private enum Waiter {
    case decision(CheckedContinuation<ClusterDecision, Never>)
    case location(CheckedContinuation<ClusterLocation, Never>)
    case beat(CheckedContinuation<Void, Never>)
  }

  private let state: Mutex<State>
  private let wake = DispatchSemaphore(value: 0)
  private let address: RedisAddress
  private let logger: Logger
  private let onMoved: @Sendable (String) -> Void
  private let end: AsyncStream<Void>
  private let ended: AsyncStream<Void>.Continuation

  /// Joins a cluster. A Redis that can't be reached is tried again and again, which the log tells.
  ///
  /// - Parameters:
  ///   - address: where the Redis is.
  ///   - node: what the others are told of this node.
  ///   - timing: the times of the cluster.
  ///   - logger: for what goes wrong. Gets no password.
  ///   - onMoved: called with a channel that another node has now, on the cluster's thread: connections here must go.
  /// - Throws: `ClusterError.noLibrary` where hiredis is missing.
  public init(
    _ address: RedisAddress, _ node: ClusterNode, timing: ClusterTiming = ClusterTiming(),
    logger: Logger, onMoved: @escaping @Sendable (String) -> Void
  ) throws(ClusterError) {
    try RedisStore.check()
    id = node.id
    self.address = address
    self.logger = logger
    self.onMoved = onMoved
    (end, ended) = AsyncStream.makeStream()
    state = Mutex(
      State(member: ClusterMember(node: node, timing: timing, at: SystemClock.now)))
    let thread = Thread { [self] in run(timing) }
    thread.name = "sora-cluster"
    thread.start()
  }

  // MARK: What the server asks and says

  /// Where a client goes that wants into a channel. Behind `here`, `settle` must follow.
  ///
  /// - Parameter channel: its name.
  /// - Returns: the decision, within a few seconds whatever the Redis does.
  public func place(_ channel: String) async -> ClusterDecision {
    await withCheckedContinuation { continuation in
      ask(.decision(continuation)) { $0.place(channel, ticket: $1, at: SystemClock.now) }
    }
  }

  /// Which node has a channel.
  ///
  /// - Parameter channel: its name.
  /// - Returns: where it is, within a few seconds whatever the Redis does.
  public func locate(_ channel: String) async -> ClusterLocation {
    await withCheckedContinuation { continuation in
      ask(.location(continuation)) { $0.locate(channel, ticket: $1, at: SystemClock.now) }
    }
  }

  /// Takes no channel any more, and waits until the other nodes can know.
  public func drain() async {
    await withCheckedContinuation { continuation in
      ask(.beat(continuation)) { $0.drain(ticket: $1, at: SystemClock.now) }
    }
  }

  /// What became of a client that `place` has let in. Together with `emptied` in the order of what happened.
  ///
  /// - Parameters:
  ///   - channel: its name.
  ///   - isOccupied: whether the channel has connections now.
  public func settle(_ channel: String, isOccupied: Bool) {
    change { $0.settle(channel, isOccupied: isOccupied) }
  }

  /// The last connection of a channel has gone.
  ///
  /// - Parameter channel: its name.
  public func emptied(_ channel: String) { change { $0.emptied(channel) } }

  /// How much this node has to do.
  ///
  /// - Parameter load: what the others are told within half a second.
  public func report(_ load: ClusterLoad) { state.withLock { $0.member.report(load) } }

  /// The signaling URL of the node that has most room, besides this one; nil where there is no other.
  public var otherURL: String? { state.withLock { $0.member.other(at: SystemClock.now)?.url } }

  /// The nodes that are there, as far as this one knows, itself included.
  public var nodes: [ClusterNode] { state.withLock { $0.member.nodes(at: SystemClock.now) } }

  /// What metrics say.
  public var status: ClusterStatus {
    state.withLock { state in
      ClusterStatus(
        isLinked: state.member.isLinked, nodes: state.member.nodes(at: SystemClock.now).count,
        channels: state.member.placeCount, counts: state.member.counts)
    }
  }

  /// Gives up all places, tells the others, and waits for that: for a few seconds where the Redis hangs.
  public func leave() async {
    change { $0.leave() }
    for await _ in end {}
  }

  private func change(_ body: (inout ClusterMember) -> Void) {
    state.withLock { body(&$0.member) }
    wake.signal()
  }

  private func ask(_ waiter: Waiter, _ body: (inout ClusterMember, UInt64) -> Void) {
    let isOver = state.withLock { state in
      guard !state.isOver else { return true }
      let ticket = state.nextTicket
      state.nextTicket += 1
      state.waiting[ticket] = waiter
      body(&state.member, ticket)
      return false
    }
    if isOver { Self.giveUp(waiter) }
    wake.signal()
  }

  // MARK: The thread

  private func run(_ timing: ClusterTiming) {
    let store = RedisStore(address, id: id, timing: timing)
    while true {
      let (request, deadline) = state.withLock { state in
        (state.member.nextRequest(at: SystemClock.now), state.member.nextDeadline)
      }
      guard tellOutcomes() else { return }
      guard let request else {
        let wait = (deadline ?? .distantFuture).nanoseconds(since: SystemClock.now)
        // Whoever says something wakes it; an hour is as good as no end.
        _ = wake.wait(
          timeout: .now() + .nanoseconds(Int(min(max(0, wait), 3_600_000_000_000))))
        continue
      }
      do throws(ClusterError) {
        let reply = try store.perform(request)
        state.withLock { $0.member.received(reply, at: SystemClock.now) }
      } catch {
        state.withLock { $0.member.failed("\(error)", at: SystemClock.now) }
      }
    }
  }

  /// Hands on what was decided, in its order. False at the end.
  private func tellOutcomes() -> Bool {
    var goesOn = true
    let told = state.withLock { state in
      state.member.takeOutcomes().map { outcome in
        (outcome, outcome.ticket.flatMap { state.waiting.removeValue(forKey: $0) })
      }
    }
    for (outcome, waiter) in told {
      switch (outcome, waiter) {
      case (.decided(_, let decision), .decision(let continuation)?):
        continuation.resume(returning: decision)
      case (.located(_, let location), .location(let continuation)?):
        continuation.resume(returning: location)
      case (.beaten, .beat(let continuation)?): continuation.resume()
      case (.moved(let channel), _):
        logger.warning("another node has the channel", metadata: ["channel_id": "\(channel)"])
        onMoved(channel)
      case (.linked, _):
        logger.notice("in the cluster", metadata: ["redis": "\(address)", "node_id": "\(id)"])
      case (.unlinked(let reason), _):
        logger.error(
          "the cluster can't be asked; the channels that are here go on",
          metadata: ["redis": "\(address)", "reason": "\(reason)"])
      case (.left, _):
        goesOn = false
        finish()
      default: break
      }
    }
    return goesOn
  }

  /// Nobody is answered any more: who waits is told so.
  private func finish() {
    let waiting = state.withLock { state in
      defer { state.waiting = [:] }
      state.isOver = true
      return Array(state.waiting.values)
    }
    for waiter in waiting { Self.giveUp(waiter) }
    ended.finish()
  }

  private static func giveUp(_ waiter: Waiter) {
    switch waiter {
    case .decision(let continuation): continuation.resume(returning: .unavailable)
    case .location(let continuation): continuation.resume(returning: .unknown)
    case .beat(let continuation): continuation.resume()
    }
  }
}

/// A node's part in a cluster, at one moment.
public struct ClusterStatus: Sendable, Hashable {
  /// Whether the Redis answers.
  public var isLinked: Bool
  /// Nodes that are there, this one included.
  public var nodes: Int
  /// Channels that have their place here.
  public var channels: Int
  public var counts: ClusterCounts
}

extension ClusterOutcome {
  fileprivate var ticket: UInt64? {
    switch self {
    case .decided(let ticket, _), .located(let ticket, _), .beaten(let ticket): ticket
    case .moved, .linked, .unlinked, .left: nil
    }
  }
}
