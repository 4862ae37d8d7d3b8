import SoraMedia

/// A message that isn't whole.
struct PartialMessage {
  struct Pending {
    var isEnd: Bool
    var payload: [UInt8]
  }

  var number: UInt32
  var ppid: UInt32 = 0
  /// The fragment that `payload` waits for.
  var next: UInt32 = 0
  var payload: [UInt8] = []
  /// Fragments beyond it, by number.
  var pending: [UInt32: Pending] = [:]
  /// Bytes of `payload` and `pending`.
  var count = 0
}

/// The messages of a stream that aren't whole: those with an order, or those without, as each have their own numbers (RFC 8260 §2.1).
/// To find one costs the same however many there are, to add or to remove one as much as the logarithm.
///
/// Numbers are serial. Where a peer has some that are more than half a circle apart, they may be passed over late.
struct PartialMessages {
  private var heap = BinaryHeap<PartialMessage>()
  /// Where they are in `heap`, while they are more than a few.
  private var positions: [UInt32: Int] = [:]

  /// So many are sought one by one, which costs less than a hash. What is reserved beyond that isn't kept without need: a peer chooses
  /// how many streams once had how many.
  private static let few = 8

  private var isIndexed: Bool { heap.count > Self.few }

  /// The place of a message, until one is added or removed; where it isn't there it is added, if it may be.
  mutating func reserve(_ number: UInt32, mayAdd: Bool) -> (position: Int, isNew: Bool)? {
    // Mostly it is the first.
    if !heap.isEmpty, heap[0].number == number { return (0, false) }
    if let position = position(of: number) { return (position, false) }
    return mayAdd ? (insert(number), true) : nil
  }

  /// Takes a message out while it changes, as a copy would copy its bytes, and puts it in again.
  mutating func exchange(_ partial: inout PartialMessage, at position: Int) {
    heap.withElement(at: position) { swap(&partial, &$0) }
  }

  mutating func remove(at position: Int) -> PartialMessage {
    let isIndexed = isIndexed
    let removed = heap.remove(at: position, by: Self.precedes) {
      if isIndexed { positions[$0.number] = $1 }
    }
    if heap.count > Self.few {
      positions[removed.number] = nil
    } else if heap.count == Self.few {
      positions.removeAll(keepingCapacity: positions.capacity <= 4 * Self.few)
      if heap.capacity > 2 * Self.few { heap.shrink() }
    }
    return removed
  }

  /// Takes one of those up to `number`, the first first.
  mutating func popFirst(through number: UInt32) -> PartialMessage? {
    guard let first = heap.first?.number, !Self.precedes(number, first) else { return nil }
    return remove(at: 0)
  }

  /// Takes any.
  mutating func popAny() -> PartialMessage? { heap.isEmpty ? nil : remove(at: heap.count - 1) }

  private func position(of number: UInt32) -> Int? {
    isIndexed ? positions[number] : heap.firstPlace { $0.number == number }
  }

  private mutating func insert(_ number: UInt32) -> Int {
    if heap.count == Self.few {
      for position in 0..<Self.few { positions[heap[position].number] = position }
    }
    let isIndexed = heap.count >= Self.few
    return heap.insert(PartialMessage(number: number), by: Self.precedes) {
      if isIndexed { positions[$0.number] = $1 }
    }
  }

  private static func precedes(_ a: PartialMessage, _ b: PartialMessage) -> Bool {
    precedes(a.number, b.number)
  }

  private static func precedes(_ a: UInt32, _ b: UInt32) -> Bool { Int32(bitPattern: a &- b) < 0 }
}
