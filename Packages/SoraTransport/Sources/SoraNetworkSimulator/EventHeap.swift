/// Something that happens at an instant. Plain memory: moving it around the heap costs no reference counting.
struct SimulationEvent {
  enum Kind: UInt8 {
    /// `index` is a link direction: the datagram at the head of its queue has been sent.
    case departure
    /// `index` is a link direction, `extra` a datagram slot.
    case arrival
    /// `index` is a datagram slot whose address is on the host that sent it.
    case loopback
    /// `index` is an endpoint.
    case deadline
    /// `index` is a callback, `extra` its generation.
    case callback
    /// `index` is a message pipe.
    case message
  }

  var time: Int64
  /// Breaks ties: first scheduled, first served.
  var order: UInt64
  var kind: Kind
  var index: Int32
  var extra: Int32

  func precedes(_ other: SimulationEvent) -> Bool {
    time != other.time ? time < other.time : order < other.order
  }
}

/// A binary heap of events over memory of its own; grows, never shrinks.
struct EventHeap: ~Copyable {
  private var storage: UnsafeMutablePointer<SimulationEvent>
  private var capacity: Int
  private(set) var count = 0
  private var nextOrder: UInt64 = 0

  init() {
    capacity = 1024
    storage = .allocate(capacity: capacity)
  }

  deinit { storage.deallocate() }

  var first: SimulationEvent? { count > 0 ? storage[0] : nil }

  mutating func push(_ kind: SimulationEvent.Kind, at time: Int64, index: Int32, extra: Int32 = 0) {
    if count == capacity { grow() }
    let event = SimulationEvent(
      time: time, order: nextOrder, kind: kind, index: index, extra: extra)
    nextOrder &+= 1
    var hole = count
    count += 1
    while hole > 0 {
      let parent = (hole - 1) >> 1
      if !event.precedes(storage[parent]) { break }
      storage[hole] = storage[parent]
      hole = parent
    }
    storage[hole] = event
  }

  mutating func pop() -> SimulationEvent? {
    guard count > 0 else { return nil }
    let result = storage[0]
    count -= 1
    guard count > 0 else { return result }
    let last = storage[count]
    var hole = 0
    while true {
      var child = 2 * hole + 1
      if child >= count { break }
      if child + 1 < count, storage[child + 1].precedes(storage[child]) { child += 1 }
      if !storage[child].precedes(last) { break }
      storage[hole] = storage[child]
      hole = child
    }
    storage[hole] = last
    return result
  }

  private mutating func grow() {
    let larger = UnsafeMutablePointer<SimulationEvent>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: storage, count: count)
    storage.deallocate()
    storage = larger
    capacity *= 2
  }
}
