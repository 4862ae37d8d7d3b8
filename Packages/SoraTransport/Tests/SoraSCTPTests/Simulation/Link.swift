import SoraMedia

/// One direction of a path, in virtual time: what goes in comes out later, once, twice, late or never, as the seed decides.
final class Link {
  struct Conditions {
    var delay = Duration.milliseconds(10)
    /// Bits per second; `nil` for no limit.
    var rate: Int64?
    /// Bytes that wait for the link at most.
    var queue = 256 * 1024
    var loss = 0.0
    var duplication = 0.0
    /// How many packets are late, and by how much.
    var reordering = 0.0
    var lateness = Duration.milliseconds(15)
    var mtu = Int.max
  }

  private struct Flight {
    var at: Int64
    var order: UInt64
    var bytes: [UInt8]
  }

  var conditions: Conditions
  /// Decides on packets by hand: `true` drops one.
  var drops: (([UInt8]) -> Bool)?
  private(set) var carried = 0
  private(set) var lost = 0
  private let random: RandomSource
  private var heap: [Flight] = []
  private var order: UInt64 = 0
  private var freeAt: Int64 = 0

  init(_ conditions: Conditions, seed: UInt64) {
    self.conditions = conditions
    random = RandomSource(seed: seed)
  }

  var next: Instant? { heap.first.map { Instant(nanoseconds: $0.at) } }

  func send(_ packet: RawSpan, at now: Instant) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(packet.byteCount)
    packet.withUnsafeBytes { bytes.append(contentsOf: $0) }
    if packet.byteCount > conditions.mtu || drops?(bytes) == true || chance(conditions.loss) {
      lost += 1
      return
    }
    var at = now.nanoseconds
    if let rate = conditions.rate {
      let start = max(at, freeAt)
      guard (start - at) * rate / 8_000_000_000 < Int64(conditions.queue) else {
        lost += 1
        return
      }
      freeAt = start + Int64(bytes.count + 28 + 29) * 8_000_000_000 / rate
      at = freeAt
    }
    at += conditions.delay.wholeNanoseconds
    if chance(conditions.reordering) { at += conditions.lateness.wholeNanoseconds }
    push(bytes, at)
    if chance(conditions.duplication) { push(bytes, at + 1_000_000) }
  }

  func receive(at now: Instant) -> [UInt8]? {
    guard let first = heap.first, first.at <= now.nanoseconds else { return nil }
    carried += 1
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var index = 0
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < heap.count && isBefore(heap[child], heap[least]) {
        least = child
      }
      if least == index { break }
      heap.swapAt(index, least)
      index = least
    }
    return first.bytes
  }

  private func chance(_ probability: Double) -> Bool {
    probability > 0 && Double(random.next() >> 11) / Double(1 << 53) < probability
  }

  private func isBefore(_ a: Flight, _ b: Flight) -> Bool {
    a.at != b.at ? a.at < b.at : a.order < b.order
  }

  private func push(_ bytes: [UInt8], _ at: Int64) {
    order += 1
    heap.append(Flight(at: at, order: order, bytes: bytes))
    var index = heap.count - 1
    while index > 0, isBefore(heap[index], heap[(index - 1) / 2]) {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }
}
