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
@safe struct EventHeap: ~Copyable {
  private var storage: UnsafeMutablePointer<SimulationEvent>
  private var capacity: Int
  private(set) var count = 0
  private var nextOrder: UInt64 = 0

  init() {
    capacity = 1024
    unsafe storage = .allocate(capacity: capacity)
  }

  deinit { unsafe storage.deallocate() }

  var first: SimulationEvent? { unsafe count > 0 ? storage[0] : nil }

  mutating func push(_ kind: SimulationEvent.Kind, at time: Int64, index: Int32, extra: Int32 = 0) {
    if count == capacity { grow() }
    let event = SimulationEvent(
      time: time, order: nextOrder, kind: kind, index: index, extra: extra)
    nextOrder &+= 1
    var hole = count
    count += 1
    while hole > 0 {
      let parent = (hole - 1) >> 1
      if unsafe !event.precedes(storage[parent]) { break }
      unsafe storage[hole] = unsafe storage[parent]
      hole = parent
    }
    unsafe storage[hole] = event
  }

  mutating func pop() -> SimulationEvent? {
    guard count > 0 else { return nil }
    let result = unsafe storage[0]
    count -= 1
    guard count > 0 else { return result }
    let last = unsafe storage[count]
    var hole = 0
    while true {
      var child = 2 * hole + 1
      if child >= count { break }
      if child + 1 < count, unsafe storage[child + 1].precedes(storage[child]) { child += 1 }
      if unsafe !storage[child].precedes(last) { break }
      unsafe storage[hole] = unsafe storage[child]
      hole = child
    }
    unsafe storage[hole] = last
    return result
  }

  private mutating func grow() {
    let larger = UnsafeMutablePointer<SimulationEvent>.allocate(capacity: capacity * 2)
    unsafe larger.moveInitialize(from: storage, count: count)
    unsafe storage.deallocate()
    unsafe storage = unsafe larger
    capacity *= 2
  }
}
