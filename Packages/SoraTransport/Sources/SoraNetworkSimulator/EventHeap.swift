import SoraMedia

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

/// What is to happen, in order.
struct EventHeap: ~Copyable {
  private var events = BinaryHeap<SimulationEvent>()
  private var nextOrder: UInt64 = 0

  var first: SimulationEvent? { events.first }

  mutating func push(_ kind: SimulationEvent.Kind, at time: Int64, index: Int32, extra: Int32 = 0) {
    let event = SimulationEvent(
      time: time, order: nextOrder, kind: kind, index: index, extra: extra)
    nextOrder &+= 1
    events.insert(event, by: { $0.precedes($1) })
  }

  mutating func pop() -> SimulationEvent? { events.popFirst { $0.precedes($1) } }
}
