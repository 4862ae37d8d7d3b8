import SoraWire

/// A message that waits, or of which parts aren't acknowledged.
struct OutboundMessage {
  var payload: [UInt8] = []
  var stream: UInt16 = 0
  var ppid: UInt32 = 0
  /// The stream sequence number or message identifier; given with the first fragment.
  var number: UInt32 = 0
  var isUnordered = false
  var maximumRetransmissions: UInt16?
  /// Nanoseconds; `Int64.max` for never.
  var expiresAt = Int64.max
  var token: UInt64 = 0
  /// Fragments that have a TSN, and one while it stands in a queue.
  var references: Int32 = 0
  /// Bytes and fragments that were cut off so far.
  var offset = 0
  var fragments: UInt32 = 0
  var firstTSN: Int64 = 0
  var lastTSN: Int64 = 0
  var isAbandoned = false

  var isLimited: Bool { maximumRetransmissions != nil || expiresAt != .max }
  var isStarted: Bool { fragments > 0 }
}

/// The memory of messages that this end sends: whoever refers to one has its slot.
final class MessageStore {
  private var messages: [OutboundMessage] = []
  private var free: [Int32] = []
  private let pool: BufferPool
  private let events: EventQueue
  private let limit: Int
  /// Bytes of all messages here.
  private(set) var bytes = 0
  /// Messages that may be given up.
  private(set) var limited = 0
  private(set) var abandoned: UInt64 = 0
  /// Whether `sendBufferLow` is owed.
  private var isWaitedFor = false

  init(pool: BufferPool, events: EventQueue, limit: Int) {
    self.pool = pool
    self.events = events
    self.limit = limit
  }

  /// What a message takes beside its bytes, about: else a million of one byte each would be a hundred times what they count.
  private static let overhead = 128

  /// What `limit` bounds: all bytes, and `overhead` for each message.
  var held: Int { bytes + (messages.count - free.count) * Self.overhead }

  func hasRoom(_ count: Int) -> Bool {
    // One alone may be as large as the limit says.
    if held + count + (held == 0 ? 0 : Self.overhead) <= limit { return true }
    isWaitedFor = true
    return false
  }

  /// The slot of a new message, with one reference.
  func add(_ message: consuming OutboundMessage) -> Int32 {
    bytes += message.payload.count
    if message.isLimited { limited += 1 }
    message.references = 1
    guard let slot = free.popLast() else {
      messages.append(message)
      return Int32(messages.count - 1)
    }
    messages[Int(slot)] = message
    return slot
  }

  subscript(slot: Int32) -> OutboundMessage {
    get { messages[Int(slot)] }
    _modify { yield &messages[Int(slot)] }
  }

  func retain(_ slot: Int32) { messages[Int(slot)].references += 1 }

  func release(_ slot: Int32) {
    messages[Int(slot)].references -= 1
    guard messages[Int(slot)].references == 0 else { return }
    bytes -= messages[Int(slot)].payload.count
    if messages[Int(slot)].isLimited { limited -= 1 }
    var payload: [UInt8] = []
    swap(&payload, &messages[Int(slot)].payload)
    pool.give(payload)
    free.append(slot)
    if isWaitedFor, held <= limit / 2 {
      isWaitedFor = false
      events.append(.sendBufferLow)
    }
  }

  func isExpired(_ slot: Int32, at nanoseconds: Int64) -> Bool {
    messages[Int(slot)].expiresAt <= nanoseconds
  }

  /// Notes that a message is given up, and says so where it has a token.
  func abandon(_ slot: Int32) {
    guard !messages[Int(slot)].isAbandoned else { return }
    messages[Int(slot)].isAbandoned = true
    abandoned += 1
    let token = messages[Int(slot)].token
    if token != 0 {
      events.append(.sendFailed(stream: messages[Int(slot)].stream, token: token))
    }
  }

  /// Writes a fragment's bytes to `place` of a packet.
  @inline(__always)
  func write(
    _ slot: Int32, _ offset: Int, _ count: Int, into memory: inout MutableRawSpan, at place: Int
  ) {
    let payload = messages[Int(slot)].payload
    memory.put(payload.rawSpan.part(offset, count), at: place)
  }
}
