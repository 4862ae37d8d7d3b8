import SoraMedia

/// What a `DeadlineQueue` holds.
protocol DeadlineQueued: AnyObject {
  var deadlineMark: DeadlineMark { get set }
}

/// What a `DeadlineQueue` notes in each that it holds.
struct DeadlineMark {
  /// Decides among equal deadlines: the lower first.
  fileprivate let order: UInt64
  /// The place in the queue; negative outside of it.
  fileprivate var index = -1
  fileprivate var isTouched = false

  init(order: UInt64) { self.order = order }
}

/// Connections in the order of their deadlines: a binary heap that knows the place of each, so that a thousand idle connections
/// cost nothing. Equal deadlines keep the order of the connections' making.
struct DeadlineQueue<Connection: DeadlineQueued> {
  private struct Entry {
    var deadline: Instant
    var order: UInt64
    var connection: Connection
  }

  private var heap: [Entry] = []
  /// Connections whose deadlines may have changed since they were set.
  private var touched: [Connection] = []

  /// A connection's deadline may have changed: it is set anew before the queue is asked next (`takeTouched`).
  mutating func touch(_ connection: Connection) {
    guard !connection.deadlineMark.isTouched else { return }
    connection.deadlineMark.isTouched = true
    touched.append(connection)
  }

  /// Takes out one that was touched; nil where all deadlines are right.
  mutating func takeTouched() -> Connection? {
    guard let connection = touched.popLast() else { return nil }
    connection.deadlineMark.isTouched = false
    return connection
  }

  var nextDeadline: Instant? { heap.first?.deadline }

  /// Sets or removes the deadline of a connection.
  mutating func set(_ deadline: Instant?, of connection: Connection) {
    let index = connection.deadlineMark.index
    guard let deadline else {
      if index >= 0 { remove(at: index) }
      return
    }
    if index < 0 {
      heap.append(
        Entry(deadline: deadline, order: connection.deadlineMark.order, connection: connection))
      connection.deadlineMark.index = heap.count - 1
      up(heap.count - 1)
    } else if heap[index].deadline != deadline {
      heap[index].deadline = deadline
      up(index)
      down(connection.deadlineMark.index)
    }
  }

  /// Takes out the first connection whose deadline has come.
  mutating func popDue(at now: Instant) -> Connection? {
    guard let first = heap.first, first.deadline <= now else { return nil }
    remove(at: 0)
    return first.connection
  }

  private mutating func remove(at index: Int) {
    heap[index].connection.deadlineMark.index = -1
    let last = heap.removeLast()
    guard index < heap.count else { return }
    heap[index] = last
    last.connection.deadlineMark.index = index
    up(index)
    down(last.connection.deadlineMark.index)
  }

  /// By index, for a copied entry counts one more owner of its connection.
  private func precedes(_ one: Int, _ other: Int) -> Bool {
    heap[one].deadline == heap[other].deadline
      ? heap[one].order < heap[other].order : heap[one].deadline < heap[other].deadline
  }

  private mutating func up(_ start: Int) {
    var index = start
    while index > 0 {
      let parent = (index - 1) / 2
      guard precedes(index, parent) else { return }
      exchange(index, parent)
      index = parent
    }
  }

  private mutating func down(_ start: Int) {
    var index = start
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < heap.count && precedes(child, least) {
        least = child
      }
      if least == index { return }
      exchange(index, least)
      index = least
    }
  }

  private mutating func exchange(_ one: Int, _ other: Int) {
    heap.swapAt(one, other)
    heap[one].connection.deadlineMark.index = one
    heap[other].connection.deadlineMark.index = other
  }
}
