package import SoraMedia

/// What a `DeadlineQueue` holds.
package protocol DeadlineQueued: AnyObject {
  var deadlineMark: DeadlineMark { get set }
}

/// What a `DeadlineQueue` notes in each that it holds, and makes for each.
package struct DeadlineMark {
  /// Decides among equal deadlines: the lower first.
  fileprivate let order: UInt64
  /// The seat in the queue; negative outside of it.
  fileprivate var seat = -1
  fileprivate var isTouched = false

  fileprivate init(order: UInt64) { self.order = order }
}

/// Names its connection by a seat: entries move about, and each move of a reference would count its owners anew.
private struct Deadline {
  var instant: Instant
  var order: UInt64
  var seat: Int

  static func < (one: Deadline, other: Deadline) -> Bool {
    one.instant == other.instant ? one.order < other.order : one.instant < other.instant
  }
}

/// Connections in the order of their deadlines: a binary heap that knows the place of each, so that a thousand idle connections
/// cost nothing. Equal deadlines keep the order in which the marks were made.
package struct DeadlineQueue<Connection: DeadlineQueued> {
  private struct Seat {
    var connection: Connection?
    /// The entry's place in the heap.
    var index = -1
  }

  private var heap = BinaryHeap<Deadline>()
  private var seats: [Seat] = []
  private var freeSeats: [Int] = []
  /// Connections whose deadlines may have changed since they were set.
  private var touched: [Connection] = []
  private var nextOrder: UInt64 = 0

  package init() {}

  /// A mark for another connection, behind those of before.
  package mutating func makeMark() -> DeadlineMark {
    defer { nextOrder += 1 }
    return DeadlineMark(order: nextOrder)
  }

  /// A connection's deadline may have changed: it is set anew before the queue is asked next (`takeTouched`).
  package mutating func touch(_ connection: Connection) {
    guard !connection.deadlineMark.isTouched else { return }
    connection.deadlineMark.isTouched = true
    touched.append(connection)
  }

  /// Takes out one that was touched; nil where all deadlines are right.
  package mutating func takeTouched() -> Connection? {
    guard let connection = touched.popLast() else { return nil }
    connection.deadlineMark.isTouched = false
    return connection
  }

  /// A connection's deadline may have come nearer, and hasn't changed otherwise.
  ///
  /// - Parameter deadline: the latest that it can be now; nil where nothing is known.
  package mutating func bringForward(_ connection: Connection, to deadline: Instant?) {
    guard let deadline, !connection.deadlineMark.isTouched else { return }
    let seat = connection.deadlineMark.seat
    if seat < 0 || deadline < heap[seats[seat].index].instant { set(deadline, of: connection) }
  }

  package var nextDeadline: Instant? { heap.first?.instant }

  /// Sets or removes the deadline of a connection.
  package mutating func set(_ deadline: Instant?, of connection: Connection) {
    let seat = connection.deadlineMark.seat
    guard let deadline else {
      if seat >= 0 { _ = remove(at: seats[seat].index) }
      return
    }
    guard seat >= 0 else { return insert(connection, deadline) }
    let index = seats[seat].index
    guard heap[index].instant != deadline else { return }
    heap.update(at: index, by: <, placed: { seats[$0.seat].index = $1 }) { $0.instant = deadline }
  }

  /// Takes out the first connection whose deadline has come.
  package mutating func popDue(at now: Instant) -> Connection? {
    guard let first = heap.first, first.instant <= now else { return nil }
    return remove(at: 0)
  }

  private mutating func insert(_ connection: Connection, _ deadline: Instant) {
    let seat = freeSeats.popLast() ?? seats.count
    if seat == seats.count { seats.append(Seat()) }
    seats[seat].connection = connection
    connection.deadlineMark.seat = seat
    let entry = Deadline(instant: deadline, order: connection.deadlineMark.order, seat: seat)
    heap.insert(entry, by: <) { seats[$0.seat].index = $1 }
  }

  private mutating func remove(at index: Int) -> Connection? {
    let seat = heap.remove(at: index, by: <, placed: { seats[$0.seat].index = $1 }).seat
    freeSeats.append(seat)
    let connection = seats[seat].connection.take()
    connection?.deadlineMark.seat = -1
    return connection
  }
}
