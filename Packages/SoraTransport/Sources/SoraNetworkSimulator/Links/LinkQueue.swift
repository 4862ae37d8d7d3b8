/// What waits for the rate limit of a link's direction, with what is being sent at its head: a ring of the datagrams' slots.
struct LinkQueue {
  private var ring: [Int32] = .init(repeating: 0, count: 64)
  private var start = 0
  private var count = 0
  /// Bytes on the wire, of all.
  private(set) var bytes = 0

  var head: Int32? { count > 0 ? ring[start] : nil }

  mutating func append(_ slot: Int32, wireBytes: Int) {
    if count == ring.count {
      var larger = [Int32](repeating: 0, count: ring.count * 2)
      for index in 0..<count { larger[index] = ring[(start + index) & (ring.count - 1)] }
      ring = larger
      start = 0
    }
    ring[(start + count) & (ring.count - 1)] = slot
    count += 1
    bytes += wireBytes
  }

  /// Takes out the head, which there is.
  mutating func removeHead(wireBytes: Int) {
    start = (start + 1) & (ring.count - 1)
    count -= 1
    bytes -= wireBytes
  }
}
