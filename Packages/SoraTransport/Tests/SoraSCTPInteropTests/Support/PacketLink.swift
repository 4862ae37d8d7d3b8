import SoraMedia

/// What happens to packets between two ends, in virtual time. All of it follows from the random numbers that are handed in.
final class PacketLink {
  struct Conditions: Sendable, Equatable {
    var delay: Duration = .milliseconds(20)
    /// Added to the delay, up to this much: more than what is between two packets reorders them.
    var jitter: Duration = .zero
    /// 0...1.
    var loss = 0.0
    var duplication = 0.0
    /// How many have a bit turned over.
    var damage = 0.0

    /// Whether every packet arrives, once, and in order.
    var isClean: Bool { jitter == .zero && loss == 0 && duplication == 0 && damage == 0 }
  }

  private struct Flight {
    var at: Instant
    var order: Int
    var to: Int
    var packet: [UInt8]

    func precedes(_ other: Flight) -> Bool { (at, order) < (other.at, other.order) }
  }

  private let conditions: Conditions
  private let random: RandomSource
  /// A binary heap.
  private var flights: [Flight] = []
  private var order = 0
  private(set) var largestPacket = 0
  private(set) var packetCount = 0

  init(_ conditions: Conditions, random: RandomSource) {
    self.conditions = conditions
    self.random = random
  }

  var nextArrival: Instant? { flights.first?.at }

  func carry(_ packet: [UInt8], to: Int, at now: Instant) {
    largestPacket = max(largestPacket, packet.count)
    packetCount += 1
    let copies = happens(conditions.duplication) ? 2 : 1
    for _ in 0..<copies where !happens(conditions.loss) {
      var packet = packet
      if !packet.isEmpty, happens(conditions.damage) {
        let bit = Int(random.next() % UInt64(packet.count * 8))
        packet[bit / 8] ^= 1 << (bit % 8)
      }
      let jitter = conditions.jitter.wholeNanoseconds
      let extra = jitter > 0 ? Int64(random.next() % UInt64(jitter)) : 0
      order += 1
      insert(
        Flight(
          at: now + conditions.delay + .nanoseconds(extra), order: order, to: to, packet: packet))
    }
  }

  /// What has arrived by `now`, one after the other.
  func next(at now: Instant) -> (to: Int, packet: [UInt8])? {
    guard let first = flights.first, first.at <= now else { return nil }
    let last = flights.removeLast()
    if !flights.isEmpty {
      flights[0] = last
      sink()
    }
    return (first.to, first.packet)
  }

  private func insert(_ flight: Flight) {
    flights.append(flight)
    var index = flights.count - 1
    while index > 0, flights[index].precedes(flights[(index - 1) / 2]) {
      flights.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private func sink() {
    var index = 0
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < flights.count && flights[child].precedes(flights[least]) {
        least = child
      }
      if least == index { return }
      flights.swapAt(index, least)
      index = least
    }
  }

  private func happens(_ probability: Double) -> Bool {
    guard probability > 0 else { return false }
    return Double(random.next() >> 11) / Double(1 << 53) < probability
  }
}
