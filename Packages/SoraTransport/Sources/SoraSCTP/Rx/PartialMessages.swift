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
  /// As a binary heap by number.
  private var heap: [PartialMessage] = []
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
    swap(&partial, &heap[position])
  }

  mutating func remove(at position: Int) -> PartialMessage {
    let last = heap.count - 1
    if position != last { swapAt(position, last) }
    let removed = heap.removeLast()
    if last > Self.few {
      positions[removed.number] = nil
    } else if last == Self.few {
      positions.removeAll(keepingCapacity: positions.capacity <= 4 * Self.few)
      if heap.capacity > 2 * Self.few { heap = heap.map { $0 } }
    }
    if position < last { siftDown(siftUp(position)) }
    return removed
  }

  /// Takes one of those up to `number`, the first first.
  mutating func popFirst(through number: UInt32) -> PartialMessage? {
    guard let first = heap.first, !precedes(number, first.number) else { return nil }
    return remove(at: 0)
  }

  /// Takes any.
  mutating func popAny() -> PartialMessage? { heap.isEmpty ? nil : remove(at: heap.count - 1) }

  private func position(of number: UInt32) -> Int? {
    isIndexed ? positions[number] : heap.firstIndex { $0.number == number }
  }

  private mutating func insert(_ number: UInt32) -> Int {
    let last = heap.count
    heap.append(PartialMessage(number: number))
    if last == Self.few {
      for position in heap.indices { positions[heap[position].number] = position }
    } else if isIndexed {
      positions[number] = last
    }
    return siftUp(last)
  }

  private mutating func siftUp(_ position: Int) -> Int {
    var position = position
    while position > 0 {
      let parent = (position - 1) / 2
      guard precedes(heap[position].number, heap[parent].number) else { break }
      swapAt(position, parent)
      position = parent
    }
    return position
  }

  private mutating func siftDown(_ position: Int) {
    var position = position
    while true {
      var child = 2 * position + 1
      guard child < heap.count else { return }
      if child + 1 < heap.count, precedes(heap[child + 1].number, heap[child].number) { child += 1 }
      guard precedes(heap[child].number, heap[position].number) else { return }
      swapAt(position, child)
      position = child
    }
  }

  private mutating func swapAt(_ a: Int, _ b: Int) {
    heap.swapAt(a, b)
    guard isIndexed else { return }
    positions[heap[a].number] = a
    positions[heap[b].number] = b
  }

  private func precedes(_ a: UInt32, _ b: UInt32) -> Bool { Int32(bitPattern: a &- b) < 0 }
}
