/// Puts whole messages into the order of their streams, and hands them out (RFC 9260 §6.5).
struct InboundStreams {
  private struct Stream {
    var expected: UInt32 = 0
    var waiting = WaitingMessages()
  }

  private var streams = StreamTable<Stream> { _ in Stream() }
  private let events: EventQueue
  /// Stream sequence numbers have 16 bits, message identifiers 32 (RFC 8260 §2.1).
  private let mask: UInt32
  /// Bytes of messages that wait for their turn, with what keeping them costs.
  private(set) var bytes = 0
  private(set) var delivered: UInt64 = 0

  init(events: EventQueue, interleaving: Bool) {
    self.events = events
    mask = interleaving ? .max : 0xFFFF
  }

  mutating func deliverUnordered(_ message: SCTPMessage) {
    delivered += 1
    events.append(.message(message))
  }

  /// Takes a whole message with its number; one that comes a second time is dropped.
  mutating func deliver(_ message: SCTPMessage, number: UInt32) {
    let place = streams.reserve(message.stream)
    let ahead = (number &- streams[place].expected) & mask
    if ahead == 0 {
      streams[place].expected = (number &+ 1) & mask
      deliverUnordered(message)
      if !streams[place].waiting.isEmpty { release(place) }
      return
    }
    guard ahead <= mask / 2 else { return }
    let cost = message.payload.count + EventQueue.overhead
    if streams[place].waiting.insert(message, number: number, mask: mask) { bytes += cost }
  }

  /// Passes over messages up to `number`, which won't come; those that are whole are handed out (RFC 3758 §3.6).
  mutating func skip(_ stream: UInt16, through number: UInt32) {
    let place = streams.reserve(stream)
    guard (number &- streams[place].expected) & mask <= mask / 2 else { return }
    let target = (number &+ 1) & mask
    let expected = streams[place].expected
    let distance = (target &- expected) & mask
    while let first = streams[place].waiting.first, (first &- expected) & mask < distance {
      deliverFirst(of: place)
    }
    streams[place].expected = target
    release(place)
  }

  /// Begins a stream anew (RFC 6525 §5.2.2).
  mutating func reset(_ stream: UInt16) {
    guard let place = streams.place(of: stream) else { return }
    while let message = streams[place].waiting.popFirst(mask: mask) {
      bytes -= message.payload.count + EventQueue.overhead
    }
    streams[place] = Stream()
  }

  /// A peer may ask for it as often as it likes: those that are reset already cost nothing.
  mutating func resetAll() {
    for place in streams.indices { reset(streams.stream(at: place)) }
    streams.removeAll()
  }

  private mutating func release(_ place: Int) {
    while streams[place].waiting.first == streams[place].expected {
      deliverFirst(of: place)
      streams[place].expected = (streams[place].expected &+ 1) & mask
    }
  }

  private mutating func deliverFirst(of place: Int) {
    guard let message = streams[place].waiting.popFirst(mask: mask) else { return }
    bytes -= message.payload.count + EventQueue.overhead
    deliverUnordered(message)
  }
}
