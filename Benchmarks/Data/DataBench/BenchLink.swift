import SoraMedia

/// One direction of a link in memory: copies each packet once, as whatever encrypts it would. With a delay, a rate or loss, in
/// virtual time; without, what was sent can be taken at once.
final class BenchLink {
  struct Conditions {
    var delay = Duration.zero
    /// nil: as fast as they come.
    var bitsPerSecond: Double?
    /// Bytes that wait for their turn; what comes then is lost.
    var queue = 0
    /// 0...1.
    var loss = 0.0
  }

  private static let slotSize = 2_048

  private let conditions: Conditions
  private let random: RandomSource
  /// A ring of slots.
  private var slots: [UnsafeMutableRawPointer]
  private var counts: [Int]
  private var arrivals: [Instant]
  private var head = 0
  private var waiting = 0
  /// When the last packet will have left.
  private var lastDeparture = Instant.zero
  /// What it is for whoever sends.
  var now = Instant.zero
  private(set) var packetCount = 0

  init(_ conditions: Conditions, seed: UInt64) {
    self.conditions = conditions
    random = RandomSource(seed: seed)
    slots = (0..<8).map { _ in .allocate(byteCount: Self.slotSize, alignment: 16) }
    counts = Array(repeating: 0, count: slots.count)
    arrivals = Array(repeating: .zero, count: slots.count)
  }

  deinit { for slot in slots { slot.deallocate() } }

  func send(_ packet: UnsafeRawBufferPointer) {
    packetCount += 1
    guard packet.count <= Self.slotSize, !isLost() else { return }
    var departure = now
    if let rate = conditions.bitsPerSecond {
      let start = max(now, lastDeparture)
      guard (start - now).inSeconds * rate / 8 <= Double(conditions.queue) else { return }
      departure = start + .nanoseconds(Int64(Double(packet.count) * 8e9 / rate))
      lastDeparture = departure
    }
    if waiting == slots.count { grow() }
    let index = (head + waiting) % slots.count
    slots[index].copyMemory(from: packet.baseAddress!, byteCount: packet.count)
    counts[index] = packet.count
    arrivals[index] = departure + conditions.delay
    waiting += 1
  }

  private func isLost() -> Bool {
    conditions.loss > 0 && Double(random.next() >> 11) / Double(1 << 53) < conditions.loss
  }

  var nextArrival: Instant? { waiting > 0 ? arrivals[head] : nil }

  /// Hands over what has arrived by `now`.
  func deliver(at now: Instant, _ body: (UnsafeRawBufferPointer) -> Void) {
    while waiting > 0, arrivals[head] <= now {
      let index = head
      body(UnsafeRawBufferPointer(start: slots[index], count: counts[index]))
      head = (head + 1) % slots.count
      waiting -= 1
    }
  }

  private func grow() {
    let count = slots.count
    slots = (0..<count).map { slots[(head + $0) % count] }
    counts = (0..<count).map { counts[(head + $0) % count] }
    arrivals = (0..<count).map { arrivals[(head + $0) % count] }
    slots += (0..<count).map { _ in .allocate(byteCount: Self.slotSize, alignment: 16) }
    counts += Array(repeating: 0, count: count)
    arrivals += Array(repeating: .zero, count: count)
    head = 0
  }
}
