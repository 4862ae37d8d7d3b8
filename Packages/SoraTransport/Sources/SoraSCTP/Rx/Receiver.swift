import SoraMedia
import SoraWire

/// What an association does with the data of its peer: which TSNs came, whole messages of them, and the window that is left.
final class Receiver {
  enum Outcome {
    case taken
    /// No room, or known already.
    case dropped
    case invalidStream(UInt16)
    case failed(cause: UInt16, SCTPAbortReason)
  }

  private(set) var tracker: DataTracker
  var policy: AcknowledgementPolicy
  private var streams: InboundStreams
  private var data: DataReassembly
  private var interleaved: InterleavedReassembly
  private let events: EventQueue
  private let settings: SCTPConfiguration
  private let incomingStreams: UInt16
  let interleaving: Bool
  /// The window that the peer was told last.
  private var toldWindow: Int
  private(set) var duplicates: UInt64 = 0
  private(set) var refused: UInt64 = 0

  init(
    first: UInt32, incomingStreams: UInt16, interleaving: Bool, settings: SCTPConfiguration,
    events: EventQueue, pool: BufferPool
  ) {
    tracker = DataTracker(first: first)
    policy = AcknowledgementPolicy(delay: settings.acknowledgementDelay)
    streams = InboundStreams(events: events, interleaving: interleaving)
    data = DataReassembly(pool: pool, limit: settings.maximumMessageSize)
    interleaved = InterleavedReassembly(pool: pool, limit: settings.maximumMessageSize)
    self.events = events
    self.settings = settings
    self.incomingStreams = incomingStreams
    self.interleaving = interleaving
    toldWindow = settings.receiveWindow
  }

  var delivered: UInt64 { streams.delivered }

  private var used: Int {
    events.messageBytes + streams.bytes + data.bytes + interleaved.bytes
  }

  /// Bytes that the peer may send.
  var window: Int { max(0, settings.receiveWindow - used) }

  /// Takes a DATA or I-DATA chunk.
  func receive(_ chunk: borrowing Chunk) -> Outcome {
    guard
      let header = DataHeader(chunk.value, flags: chunk.flags, interleaved: interleaving)
    else {
      return .failed(cause: CauseCode.protocolViolation, .protocolViolation("DATA is too short"))
    }
    let payload = chunk.value.part(
      from: interleaving ? DataHeader.interleavedCount : DataHeader.count)
    guard payload.byteCount > 0 else {
      return .failed(cause: CauseCode.noUserData, .protocolViolation("DATA without data"))
    }
    if header.flags & ChunkFlags.immediate != 0 { policy.require() }
    let tsn = TSN.extended(header.tsn, near: tracker.cumulative)
    let verdict = tracker.verdict(tsn)
    switch verdict {
    case .duplicate:
      duplicates += 1
      tracker.noteDuplicate(header.tsn)
      policy.require()
      return .dropped
    case .tooFar:
      refused += 1
      policy.require()
      return .dropped
    case .next, .ahead: break
    }
    guard header.stream < incomingStreams else {
      insert(tsn)
      return .invalidStream(header.stream)
    }
    if used + payload.byteCount > settings.receiveWindow {
      // What fills a gap lets messages go on, unless it is the reader who doesn't take them.
      guard verdict == .next, events.messageBytes < settings.receiveWindow else {
        refused += 1
        policy.require()
        return .dropped
      }
      guard used < settings.receiveWindow + settings.maximumMessageSize else {
        return .failed(
          cause: CauseCode.outOfResource, .messageTooLarge(limit: settings.receiveWindow))
      }
    }
    guard !interleaving || header.isWhole || !interleaved.isFull else {
      refused += 1
      policy.require()
      return .dropped
    }
    let before = tracker.cumulative
    insert(tsn)
    do throws(ReassemblyFailure) {
      if interleaving {
        try interleaved.insert(header, payload, into: &streams)
      } else if verdict == .next {
        try data.insertNext(header, payload, into: &streams)
        try data.advance(before + 2, through: tracker.cumulative, into: &streams)
      } else {
        try data.insertAhead(
          header, tsn: tsn, cumulative: before, payload, into: &streams)
      }
    } catch {
      return .failed(
        cause: CauseCode.outOfResource, .messageTooLarge(limit: settings.maximumMessageSize))
    }
    return .taken
  }

  private func insert(_ tsn: Int64) {
    let hadGap = tracker.hasGap
    tracker.insert(tsn)
    // Also when the gap has just been closed: the sender waits for that.
    if hadGap || tracker.hasGap { policy.require() }
  }

  /// Takes FORWARD-TSN or I-FORWARD-TSN (RFC 3758 §3.6, RFC 8260 §2.3.1). `false` where it can't be read.
  func receiveForward(_ value: RawSpan) -> Bool {
    guard value.byteCount >= 4 else { return false }
    let entry = interleaving ? 8 : 4
    guard (value.byteCount - 4) % entry == 0 else { return false }
    let target = TSN.extended(value.u32(0), near: tracker.cumulative)
    policy.require()
    guard target > tracker.cumulative else { return true }
    if !interleaving { data.forget(through: target, tracker) }
    tracker.forward(to: target)
    for offset in stride(from: 4, to: value.byteCount, by: entry) {
      let stream = value.u16(offset)
      guard stream < incomingStreams else { continue }
      if interleaving {
        let isUnordered = value.u16(offset + 2) & 1 != 0
        let number = value.u32(offset + 4)
        interleaved.forget(stream, isUnordered: isUnordered, through: number)
        if !isUnordered { streams.skip(stream, through: number) }
      } else {
        streams.skip(stream, through: UInt32(value.u16(offset + 2)))
      }
    }
    if !interleaving {
      // Larger than the limit is noticed with the next fragment, too.
      try? data.advance(target + 1, through: tracker.cumulative, into: &streams)
    }
    return true
  }

  /// The peer counts these streams from 0 again; all of them where there are none.
  func reset(_ list: [UInt16]) {
    if list.isEmpty {
      streams.resetAll()
      interleaved.resetAll()
    }
    for stream in list {
      streams.reset(stream)
      interleaved.reset(stream)
    }
  }

  /// The reader has taken messages: tells the peer of a window that was small.
  func readerTookMessage() {
    let step = settings.receiveWindow / 4
    if toldWindow < step, window >= toldWindow + step { policy.require() }
  }

  /// Writes a SACK, if it fits into `limit` bytes of a packet (RFC 9260 §3.3.4).
  func writeAcknowledgement(into packet: inout PacketWriter, limit: Int) {
    let room = packet.room(limit) - 16
    guard room >= 0 else { return }
    var blocks = 0
    var next = tracker.cumulative + 1
    while blocks < min(room / 4, 256), let block = tracker.block(from: next) {
      blocks += 1
      next = block.upperBound + 1
    }
    let repeated = min(tracker.duplicates.count, room / 4 - blocks)
    toldWindow = window
    packet.append(ChunkType.sack, flags: 0, length: 16 + 4 * (blocks + repeated)) { memory, start in
      memory.put32(TSN.wire(tracker.cumulative), at: start)
      memory.put32(UInt32(clamping: toldWindow), at: start + 4)
      memory.put16(UInt16(blocks), at: start + 8)
      memory.put16(UInt16(repeated), at: start + 10)
      var offset = start + 12
      var next = tracker.cumulative + 1
      for _ in 0..<blocks {
        guard let block = tracker.block(from: next) else { break }
        memory.put16(UInt16(clamping: block.lowerBound - tracker.cumulative), at: offset)
        memory.put16(UInt16(clamping: block.upperBound - tracker.cumulative), at: offset + 2)
        next = block.upperBound + 1
        offset += 4
      }
      for index in 0..<repeated {
        memory.put32(tracker.duplicates[index], at: offset)
        offset += 4
      }
    }
    tracker.forgetDuplicates()
    policy.sent()
  }
}
