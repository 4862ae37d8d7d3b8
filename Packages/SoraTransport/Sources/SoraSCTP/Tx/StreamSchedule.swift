import SoraMedia

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

  private var heap = BinaryHeap<Turn>()
  private var orders: Int64 = 0
  /// How far virtual time is.
  private(set) var now: Int64 = 0

  var isEmpty: Bool { heap.isEmpty }

  /// The place of the stream whose turn it is.
  var first: Int? { heap.first?.place }

  mutating func insert(_ place: Int, at time: Int64) {
    orders += 1
    heap.insert(Turn(time: max(time, now), place: place, order: orders), by: <)
  }

  func contains(_ place: Int) -> Bool { heap.firstPlace(where: { $0.place == place }) != nil }

  /// Takes out a stream wherever it stands; rare.
  mutating func remove(_ place: Int) {
    guard let index = heap.firstPlace(where: { $0.place == place }) else { return }
    _ = heap.remove(at: index, by: <)
  }

  /// Takes out the first stream, and says which virtual time it had. There must be one.
  mutating func removeFirst() -> Int64 {
    let time = heap.remove(at: 0, by: <).time
    now = max(now, time)
    return time
  }
}
