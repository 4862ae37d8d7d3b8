import SoraMedia

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
  var queue = LinkQueue()
  /// What is being sent from the head of the queue: when that will be done, and its bytes. nil while the link is idle.
  var sending: (done: Int64, bytes: Int)?

  init(index: Int32, from: Int, to: Int, conditions: LinkConditions, seed: UInt64) {
    self.index = index
    self.from = from
    self.to = to
    self.conditions = conditions
    random = SimulationRandom(seed: seed)
  }

  var onDeparture: ((QueuedDatagram, Instant) -> Void)?

  var isSending: Bool { sending != nil }

  /// Nanoseconds that a datagram of this size takes at the current rate.
  func sendingTime(_ wireBytes: Int) -> Int64 {
    guard let rate = conditions.bitsPerSecond else { return 0 }
    return Int64(wireBytes) * 8_000_000_000 / Int64(max(rate, 1))
  }

  /// Nanoseconds until a datagram that joins now is at the head.
  func waitingTime(at now: Int64) -> Int64 {
    guard let sending else { return 0 }
    return max(0, sending.done - now) + sendingTime(queue.bytes - sending.bytes)
  }
}
