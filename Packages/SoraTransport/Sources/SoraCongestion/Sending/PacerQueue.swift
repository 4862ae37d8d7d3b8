/// A first-in, first-out ring of packets of one priority; grows to its limit, never shrinks.
struct PacerQueue {
  struct Entry {
    var token: Int
    var size: Int32
    var enqueued: Int64
  }

  static let limit = 8_192

  private var ring: [Entry]
  private var head = 0
  private(set) var count = 0
  private(set) var bytes = 0
  /// The sum of the times of entry, for the average wait.
  private(set) var enqueuedSum: Double = 0

  init(capacity: Int) {
    ring = Array(repeating: Entry(token: 0, size: 0, enqueued: 0), count: capacity)
  }

  mutating func push(_ token: Int, size: Int, at now: Int64) -> Bool {
    if count == ring.count {
      guard count < Self.limit else { return false }
      grow()
    }
    ring[(head + count) & (ring.count - 1)] = Entry(
      token: token, size: Int32(clamping: size), enqueued: now)
    count += 1
    bytes += size
    enqueuedSum += Double(now)
    return true
  }

  var first: Entry? { count > 0 ? ring[head] : nil }

  mutating func pop() -> Entry? {
    guard count > 0 else { return nil }
    let entry = ring[head]
    head = (head + 1) & (ring.count - 1)
    count -= 1
    bytes -= Int(entry.size)
    enqueuedSum = count == 0 ? 0 : enqueuedSum - Double(entry.enqueued)
    return entry
  }

  /// Takes out what an owner doesn't want to leave any more; the rest keeps its order.
  mutating func removeAll(where isUnwanted: (Int) -> Bool) {
    for _ in 0..<count {
      guard let entry = pop(), !isUnwanted(entry.token) else { continue }
      // There is room: it has just left.
      _ = push(entry.token, size: Int(entry.size), at: entry.enqueued)
    }
  }

  private mutating func grow() {
    var larger: [Entry] = []
    larger.reserveCapacity(ring.count * 2)
    for index in 0..<count { larger.append(ring[(head + index) & (ring.count - 1)]) }
    let empty = Entry(token: 0, size: 0, enqueued: 0)
    while larger.count < ring.count * 2 { larger.append(empty) }
    ring = larger
    head = 0
  }
}
