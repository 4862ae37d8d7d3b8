import SoraMedia

/// What a `DeadlineQueue` holds.
protocol DeadlineQueued: AnyObject {
  /// Decides among equal deadlines: the lower first.
  var order: UInt64 { get }
  /// Its place in the queue, which alone sets it; negative outside of it.
  var deadlineIndex: Int { get set }
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

  var nextDeadline: Instant? { heap.first?.deadline }

  /// Sets or removes the deadline of a connection.
  mutating func set(_ deadline: Instant?, of connection: Connection) {
    let index = connection.deadlineIndex
    guard let deadline else {
      if index >= 0 { remove(at: index) }
      return
    }
    if index < 0 {
      heap.append(Entry(deadline: deadline, order: connection.order, connection: connection))
      connection.deadlineIndex = heap.count - 1
      up(heap.count - 1)
    } else if heap[index].deadline != deadline {
      heap[index].deadline = deadline
      up(index)
      down(connection.deadlineIndex)
    }
  }

  /// Takes out the first connection whose deadline has come.
  mutating func popDue(at now: Instant) -> Connection? {
    guard let first = heap.first, first.deadline <= now else { return nil }
    remove(at: 0)
    return first.connection
  }

  private mutating func remove(at index: Int) {
    heap[index].connection.deadlineIndex = -1
    let last = heap.removeLast()
    guard index < heap.count else { return }
    heap[index] = last
    last.connection.deadlineIndex = index
    up(index)
    down(last.connection.deadlineIndex)
  }

  private func precedes(_ one: Entry, _ other: Entry) -> Bool {
    one.deadline == other.deadline ? one.order < other.order : one.deadline < other.deadline
  }

  private mutating func up(_ start: Int) {
    var index = start
    while index > 0 {
      let parent = (index - 1) / 2
      guard precedes(heap[index], heap[parent]) else { return }
      exchange(index, parent)
      index = parent
    }
  }

  private mutating func down(_ start: Int) {
    var index = start
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < heap.count && precedes(heap[child], heap[least]) {
        least = child
      }
      if least == index { return }
      exchange(index, least)
      index = least
    }
  }

  private mutating func exchange(_ one: Int, _ other: Int) {
    heap.swapAt(one, other)
    heap[one].connection.deadlineIndex = one
    heap[other].connection.deadlineIndex = other
  }
}
