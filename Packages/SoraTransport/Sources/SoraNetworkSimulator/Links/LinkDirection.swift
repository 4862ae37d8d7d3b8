public import SoraMedia

/// One direction of a link: the queue in front of its rate limit, its random draws and its statistics.
/// What it does to a datagram is in `SimulatedNetwork+Links.swift`.
final class LinkDirection {
  let index: Int32
  let from: Int
  let to: Int
  var conditions: LinkConditions
  var statistics = LinkStatistics()
  var random: SimulationRandom
  /// Gilbert-Elliott state.
  var isBad = false
  /// The latest arrival so far: jitter that doesn't reorder never goes before it.
  var latestArrival: Int64 = .min
  /// Numbers the datagrams in the order in which they were sent.
  var nextOrder: UInt64 = 0
  var highestArrived: UInt64 = 0
  var hasArrived = false
  var codel = CoDelState()
  /// Whether the head of the queue is being sent.
  var isSending = false

  // The queue: a ring of slots.
  private var ring: [Int32] = .init(repeating: 0, count: 64)
  private var head = 0
  private(set) var queuedPackets = 0
  var queuedBytes = 0
  /// When the head will have been sent.
  var headDone: Int64 = 0
  /// Bytes behind the head, for the waiting time of a newcomer.
  var headBytes = 0

  init(index: Int32, from: Int, to: Int, conditions: LinkConditions, seed: UInt64) {
    self.index = index
    self.from = from
    self.to = to
    self.conditions = conditions
    random = SimulationRandom(seed: seed)
  }

  func enqueue(_ slot: Int32, wireBytes: Int) {
    if queuedPackets == ring.count {
      var larger = [Int32](repeating: 0, count: ring.count * 2)
      for index in 0..<queuedPackets { larger[index] = ring[(head + index) & (ring.count - 1)] }
      ring = larger
      head = 0
    }
    ring[(head + queuedPackets) & (ring.count - 1)] = slot
    queuedPackets += 1
    queuedBytes += wireBytes
  }

  var headSlot: Int32? { queuedPackets > 0 ? ring[head] : nil }

  func dequeue(wireBytes: Int) {
    head = (head + 1) & (ring.count - 1)
    queuedPackets -= 1
    queuedBytes -= wireBytes
  }

  /// Nanoseconds that a datagram of this size takes at the current rate.
  func sendingTime(_ wireBytes: Int) -> Int64 {
    guard let rate = conditions.bitsPerSecond else { return 0 }
    return Int64(wireBytes) * 8_000_000_000 / Int64(max(rate, 1))
  }

  /// Nanoseconds until a datagram that joins now is at the head.
  func waitingTime(at now: Int64) -> Int64 {
    guard isSending else { return 0 }
    return max(0, headDone - now) + sendingTime(queuedBytes - headBytes)
  }
}

/// A link between two hosts or routers. Each direction has conditions of its own, which may change at any time.
public final class SimulatedLink {
  /// From the first to the second end that `link(_:_:)` was given.
  let forward: LinkDirection
  let backward: LinkDirection
  private unowned let network: SimulatedNetwork

  init(forward: LinkDirection, backward: LinkDirection, network: SimulatedNetwork) {
    self.forward = forward
    self.backward = backward
    self.network = network
  }

  /// Conditions from the first to the second end.
  public var forwardConditions: LinkConditions {
    get { forward.conditions }
    set { network.apply(newValue, to: forward) }
  }

  /// Conditions from the second to the first end.
  public var backwardConditions: LinkConditions {
    get { backward.conditions }
    set { network.apply(newValue, to: backward) }
  }

  /// Counters from the first to the second end.
  public var forwardStatistics: LinkStatistics { forward.statistics }
  /// Counters from the second to the first end.
  public var backwardStatistics: LinkStatistics { backward.statistics }

  /// Takes both directions up or down, and keeps the other conditions.
  public func setUp(_ isUp: Bool) {
    forwardConditions.isUp = isUp
    backwardConditions.isUp = isUp
  }

  /// Changes both directions when the network reaches `instant`.
  public func change(at instant: Instant, _ edit: @escaping (inout LinkConditions) -> Void) {
    network.at(instant) { [self] _ in
      var forwards = forwardConditions
      edit(&forwards)
      forwardConditions = forwards
      var backwards = backwardConditions
      edit(&backwards)
      backwardConditions = backwards
    }
  }

  /// Milliseconds of data that wait in front of each direction's rate limit now.
  public var queueTimes: (forward: Duration, backward: Duration) {
    let now = network.now.nanoseconds
    return (
      .nanoseconds(forward.waitingTime(at: now)), .nanoseconds(backward.waitingTime(at: now))
    )
  }
}
