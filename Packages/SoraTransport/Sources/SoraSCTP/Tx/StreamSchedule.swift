/// Whose turn it is: a heap of streams by the virtual time at which they have had their share (RFC 8260 §3.6).
struct StreamSchedule {
  private struct Turn {
    var time: Int64
    var place: Int
    /// Streams that are even take turns in the order in which they came.
    var order: Int64

    static func < (a: Turn, b: Turn) -> Bool {
      a.time != b.time ? a.time < b.time : a.order < b.order
    }
  }

  private var heap: [Turn] = []
  private var orders: Int64 = 0
  /// How far virtual time is.
  private(set) var now: Int64 = 0

  var isEmpty: Bool { heap.isEmpty }

  /// The place of the stream whose turn it is.
  var first: Int? { heap.first?.place }

  mutating func insert(_ place: Int, at time: Int64) {
    orders += 1
    heap.append(Turn(time: max(time, now), place: place, order: orders))
    var index = heap.count - 1
    while index > 0, heap[index] < heap[(index - 1) / 2] {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  func contains(_ place: Int) -> Bool { heap.contains { $0.place == place } }

  /// Takes out a stream wherever it stands; rare.
  mutating func remove(_ place: Int) {
    guard let index = heap.firstIndex(where: { $0.place == place }) else { return }
    heap.remove(at: index)
    heap.sort { $0 < $1 }
  }

  /// Takes out the first stream, and says which virtual time it had. There must be one.
  mutating func removeFirst() -> Int64 {
    let time = heap[0].time
    now = max(now, time)
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var index = 0
    while true {
      let left = 2 * index + 1
      guard left < heap.count else { break }
      let right = left + 1
      let child = right < heap.count && heap[right] < heap[left] ? right : left
      guard heap[child] < heap[index] else { break }
      heap.swapAt(child, index)
      index = child
    }
    return time
  }
}
