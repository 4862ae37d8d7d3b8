import SoraWire

/// Puts messages together from I-DATA chunks: each says which fragment of which message it is (RFC 8260 §2.2).
struct InterleavedReassembly {
  private struct Stream {
    var ordered = PartialMessages()
    var unordered = PartialMessages()

    subscript(isUnordered: Bool) -> PartialMessages {
      @inline(__always) get { isUnordered ? unordered : ordered }
      @inline(__always) _modify {
        if isUnordered { yield &unordered } else { yield &ordered }
      }
    }
  }

  /// How many messages may be in parts at once: one of each stream that is used, and some that are unordered.
  private static let partialLimit = 8192

  private var streams = StreamTable<Stream> { _ in Stream() }
  private let pool: BufferPool
  private let limit: Int
  private var partials = 0
  /// How large the last message of several fragments was.
  private var lastSize = 0
  /// Bytes that are kept, with what keeping them costs.
  private(set) var bytes = 0

  init(pool: BufferPool, limit: Int) {
    self.pool = pool
    self.limit = limit
  }

  /// Whether there is room for one more message in parts.
  var isFull: Bool { partials >= InterleavedReassembly.partialLimit }

  /// Takes a fragment. Throws for a message that is larger than the limit.
  mutating func insert(
    _ header: DataHeader, _ payload: RawSpan, into inbound: inout InboundStreams
  ) throws(ReassemblyFailure) {
    if header.isWhole {
      var memory = pool.take(payload.byteCount)
      memory.append(copying: payload)
      finish(header.stream, header.number, header.ppid, header.isUnordered, memory, into: &inbound)
      return
    }
    let place = streams.reserve(header.stream)
    let isUnordered = header.isUnordered
    let mayAdd = !isFull
    guard
      let (index, isNew) = streams[place][isUnordered].reserve(header.number, mayAdd: mayAdd)
    else { return }
    if isNew {
      partials += 1
      bytes += EventQueue.overhead
    }
    var partial = PartialMessage(number: header.number)
    streams[place][isUnordered].exchange(&partial, at: index)
    if header.isBeginning { partial.ppid = header.ppid }
    let isWhole: Bool
    if partial.count + payload.byteCount > limit {
      streams[place][isUnordered].exchange(&partial, at: index)
      throw .messageTooLarge
    } else if header.fragment == partial.next {
      if partial.payload.capacity == 0 { partial.payload = pool.take(expected(payload.byteCount)) }
      partial.payload.append(copying: payload)
      partial.count += payload.byteCount
      partial.next &+= 1
      bytes += payload.byteCount
      isWhole = header.isEnd || appendPending(&partial)
    } else {
      keep(header, payload, in: &partial)
      isWhole = false
    }
    streams[place][isUnordered].exchange(&partial, at: index)
    guard isWhole else { return }
    let whole = streams[place][isUnordered].remove(at: index)
    release(whole)
    lastSize = whole.payload.count
    finish(header.stream, whole.number, whole.ppid, isUnordered, whole.payload, into: &inbound)
  }

  /// Forgets the messages of a stream up to `number`, which were given up (RFC 8260 §2.3.1).
  mutating func forget(_ stream: UInt16, isUnordered: Bool, through number: UInt32) {
    guard let place = streams.place(of: stream) else { return }
    while let partial = streams[place][isUnordered].popFirst(through: number) { drop(partial) }
  }

  mutating func reset(_ stream: UInt16) {
    guard let place = streams.place(of: stream) else { return }
    while let partial = streams[place].ordered.popAny() { drop(partial) }
    while let partial = streams[place].unordered.popAny() { drop(partial) }
  }

  /// A peer may ask for it as often as it likes: those that are reset already cost nothing.
  mutating func resetAll() {
    for place in streams.indices { reset(streams.stream(at: place)) }
    streams.removeAll()
  }

  /// Room for a message that begins with `count` bytes: the next may be as large as the last, while they are few.
  private func expected(_ count: Int) -> Int { partials <= 64 ? max(count, lastSize) : count * 2 }

  private mutating func keep(
    _ header: DataHeader, _ payload: RawSpan, in partial: inout PartialMessage
  ) {
    guard Int32(bitPattern: header.fragment &- partial.next) > 0 else { return }
    guard partial.pending[header.fragment] == nil else { return }
    var memory = pool.take(payload.byteCount)
    memory.append(copying: payload)
    partial.pending[header.fragment] = PartialMessage.Pending(isEnd: header.isEnd, payload: memory)
    partial.count += payload.byteCount
    bytes += payload.byteCount + EventQueue.overhead
  }

  /// Appends what waited for the fragment that came. Says whether the message is whole.
  private mutating func appendPending(_ partial: inout PartialMessage) -> Bool {
    while let next = partial.pending.removeValue(forKey: partial.next) {
      partial.payload.append(copying: next.payload.rawSpan)
      partial.next &+= 1
      bytes -= EventQueue.overhead
      pool.give(next.payload)
      if next.isEnd { return true }
    }
    return false
  }

  /// Accounts for one that is removed.
  private mutating func release(_ partial: PartialMessage) {
    partials -= 1
    bytes -= partial.count + EventQueue.overhead * (1 + partial.pending.count)
    for pending in partial.pending.values { pool.give(pending.payload) }
  }

  private mutating func drop(_ partial: PartialMessage) {
    release(partial)
    pool.give(partial.payload)
  }

  private func finish(
    _ stream: UInt16, _ number: UInt32, _ ppid: UInt32, _ isUnordered: Bool, _ payload: [UInt8],
    into inbound: inout InboundStreams
  ) {
    let message = SCTPMessage(
      stream: stream, ppid: ppid, isUnordered: isUnordered, payload: payload)
    if isUnordered {
      inbound.deliverUnordered(message)
    } else {
      inbound.deliver(message, number: number)
    }
  }
}
