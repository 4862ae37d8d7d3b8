import SoraWire

/// Puts messages together from DATA chunks, whose fragments have one TSN after the other (RFC 9260 §6.9).
///
/// What comes in order is copied once, into its message; what comes beyond a gap is kept by its TSN. A message that is whole there goes on at
/// once: it may be of another stream than what is missing, or of none's order.
struct DataReassembly {
  private struct Fragment {
    var header: DataHeader
    var payload: [UInt8]
    /// Of the run of fragments of one message that this one is at an end of: its other end.
    var runStart: Int64
    var runEnd: Int64
  }

  private struct Assembly {
    var header: DataHeader
    var payload: [UInt8]
  }

  private var head: Assembly?
  /// By TSN; a power of two that grows with what is kept.
  private var fragments: [Fragment?] = []
  private var stored = 0
  /// The highest TSN that is kept.
  private var highest: Int64 = 0
  private let pool: BufferPool
  private let limit: Int
  /// How large the last message of several fragments was: the next may be as large.
  private var lastSize = 0
  /// Bytes that are kept, with what keeping them costs.
  private(set) var bytes = 0

  init(pool: BufferPool, limit: Int) {
    self.pool = pool
    self.limit = limit
  }

  /// Takes what the cumulative TSN waited for. Throws for a message that is larger than the limit.
  mutating func insertNext(
    _ header: DataHeader, _ payload: RawSpan, into streams: inout InboundStreams
  ) throws(ReassemblyFailure) {
    if header.isBeginning {
      dropHead()
      var memory = pool.take(header.isEnd ? payload.byteCount : max(lastSize, payload.byteCount))
      memory.append(copying: payload)
      guard !header.isEnd else {
        finish(header, memory, into: &streams)
        return
      }
      bytes += memory.count
      head = Assembly(header: header, payload: memory)
      return
    }
    // The beginning was given up by its sender, or never sent.
    guard let first = head?.header, first.stream == header.stream,
      first.isUnordered == header.isUnordered
    else {
      dropHead()
      return
    }
    guard first.number == header.number || first.isUnordered else {
      dropHead()
      return
    }
    guard (head?.payload.count ?? 0) + payload.byteCount <= limit else { throw .messageTooLarge }
    head?.payload.append(copying: payload)
    bytes += payload.byteCount
    guard header.isEnd, let whole = head.take() else { return }
    bytes -= whole.payload.count
    lastSize = whole.payload.count
    finish(whole.header, whole.payload, into: &streams)
  }

  /// Keeps what came beyond a gap.
  mutating func insertAhead(
    _ header: DataHeader, tsn: Int64, cumulative: Int64, _ payload: RawSpan,
    into streams: inout InboundStreams
  ) throws(ReassemblyFailure) {
    var memory = pool.take(payload.byteCount)
    memory.append(copying: payload)
    guard !header.isWhole else {
      finish(header, memory, into: &streams)
      return
    }
    reserve(Int(tsn - cumulative), cumulative: cumulative)
    var start = tsn
    var end = tsn
    if !header.isBeginning, tsn - 1 > cumulative, let before = fragments[index(tsn - 1)],
      !before.header.isEnd
    {
      start = before.runStart
    }
    if !header.isEnd, tsn + 1 <= highest, let after = fragments[index(tsn + 1)],
      !after.header.isBeginning
    {
      end = after.runEnd
    }
    bytes += memory.count + EventQueue.overhead
    stored += 1
    highest = max(highest, tsn)
    fragments[index(tsn)] = Fragment(
      header: header, payload: memory, runStart: start, runEnd: end)
    fragments[index(start)]?.runEnd = end
    fragments[index(end)]?.runStart = start
    if fragments[index(start)]?.header.isBeginning == true,
      fragments[index(end)]?.header.isEnd == true
    {
      try assemble(start...end, into: &streams)
    }
  }

  /// Goes over what the cumulative TSN has passed, from `first` to `last`.
  mutating func advance(
    _ first: Int64, through last: Int64, into streams: inout InboundStreams
  ) throws(ReassemblyFailure) {
    guard stored > 0, first <= last else { return }
    for tsn in first...last {
      guard let fragment = remove(tsn) else { continue }
      try insertNext(fragment.header, fragment.payload.rawSpan, into: &streams)
      pool.give(fragment.payload)
    }
  }

  /// Forgets what the sender has given up, up to `last`. `tracker` is as it was before: a gap may be wide, so only what came is sought.
  mutating func forget(through last: Int64, _ tracker: DataTracker) {
    dropHead()
    guard stored > 0 else { return }
    let lastKept = min(last, highest)
    var first = tracker.cumulative + 1
    while let block = tracker.block(from: first), block.lowerBound <= lastKept {
      for tsn in block.lowerBound...min(block.upperBound, lastKept) {
        if let fragment = remove(tsn) { pool.give(fragment.payload) }
      }
      first = block.upperBound + 1
    }
    // The run that was cut begins behind it.
    let tsn = last + 1
    guard tsn <= highest, let next = fragments[index(tsn)], next.runStart < tsn else { return }
    fragments[index(tsn)]?.runStart = tsn
    fragments[index(tsn)]?.runEnd = next.runEnd
    var end = tsn
    while end < highest, let after = fragments[index(end + 1)], !after.header.isBeginning,
      fragments[index(end)]?.header.isEnd == false
    {
      end += 1
    }
    fragments[index(tsn)]?.runEnd = end
    fragments[index(end)]?.runStart = tsn
  }

  private mutating func assemble(
    _ run: ClosedRange<Int64>, into streams: inout InboundStreams
  ) throws(ReassemblyFailure) {
    var total = 0
    for tsn in run { total += fragments[index(tsn)]?.payload.count ?? 0 }
    guard total <= limit else { throw .messageTooLarge }
    guard let header = fragments[index(run.lowerBound)]?.header else { return }
    var whole = pool.take(total)
    for tsn in run {
      guard let fragment = remove(tsn) else { continue }
      whole.append(copying: fragment.payload.rawSpan)
      pool.give(fragment.payload)
    }
    lastSize = total
    finish(header, whole, into: &streams)
  }

  private func finish(
    _ header: DataHeader, _ payload: [UInt8], into streams: inout InboundStreams
  ) {
    let message = SCTPMessage(
      stream: header.stream, ppid: header.ppid, isUnordered: header.isUnordered, payload: payload)
    if header.isUnordered {
      streams.deliverUnordered(message)
    } else {
      streams.deliver(message, number: header.number)
    }
  }

  private mutating func dropHead() {
    guard let dropped = head.take() else { return }
    bytes -= dropped.payload.count
    pool.give(dropped.payload)
  }

  private mutating func remove(_ tsn: Int64) -> Fragment? {
    let place = index(tsn)
    guard let fragment = fragments[place].take() else { return nil }
    stored -= 1
    bytes -= fragment.payload.count + EventQueue.overhead
    return fragment
  }

  private func index(_ tsn: Int64) -> Int {
    Int(truncatingIfNeeded: tsn) & (fragments.count - 1)
  }

  /// Makes room for a TSN `ahead` of the cumulative one.
  private mutating func reserve(_ ahead: Int, cumulative: Int64) {
    // One more on both sides, so that neighbours are never another lap's.
    guard ahead + 2 > fragments.count else { return }
    var size = max(256, fragments.count)
    while size < ahead + 2 { size *= 2 }
    var larger = [Fragment?](repeating: nil, count: size)
    if stored > 0 {
      for tsn in cumulative + 1...max(highest, cumulative + 1) {
        larger[Int(truncatingIfNeeded: tsn) & (size - 1)] = fragments[index(tsn)].take()
      }
    }
    fragments = larger
  }
}

/// Why a message can't be put together.
enum ReassemblyFailure: Error {
  case messageTooLarge
}
