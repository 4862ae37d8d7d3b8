import SoraMedia
import SoraWire

/// Sends messages' fragments with TSNs, sends again what is lost, and keeps to the windows of path and peer.
final class Transmitter {
  private(set) var outstanding: OutstandingData
  private(set) var congestion: CongestionControl
  private(set) var roundTrip: RoundTripEstimate
  private(set) var counters = Counters()
  private var losses = LossDetection()
  private var probe = TailLossProbe()
  private var timer = BackoffTimer()
  private var forward: ForwardPoint
  private let queue: SendQueue
  private let messages: MessageStore
  private let options: Options
  /// Bytes that the peer has said it takes.
  private var peerWindow: Int
  /// Losses up to it are those that the window was already made smaller for.
  private var recoveryPoint: Int64
  private var lastSentAt: Int64 = 0
  /// A chunk was sent for the fourth time since the path's MTU was last doubted.
  private var hasStubbornLoss = false

  struct Options {
    var interleaving: Bool
    var partialReliability: Bool
    var errorLimit: Int?
    /// Bytes of the packets that every path takes. Larger ones carry several chunks: one that has a TSN can't be cut again when the path
    /// gets narrower (RFC 9260 §6.9).
    var mtu: Int
  }

  struct Counters {
    var retransmissions: UInt64 = 0
    var timeouts: UInt64 = 0
    var probes: UInt64 = 0
    var spurious: UInt64 = 0
    /// Messages whose last fragment was sent.
    var messages: UInt64 = 0
  }

  init(
    first: UInt32, peerWindow: UInt32, queue: SendQueue, messages: MessageStore,
    roundTrip: RoundTripEstimate, options: Options
  ) {
    outstanding = OutstandingData(first: first, interleaving: options.interleaving)
    congestion = CongestionControl(mtu: options.mtu)
    self.roundTrip = roundTrip
    self.queue = queue
    self.messages = messages
    self.options = options
    self.peerWindow = Int(peerWindow)
    forward = ForwardPoint(cumulative: outstanding.cumulative)
    recoveryPoint = outstanding.cumulative
  }

  /// Bytes that the peer still takes.
  var openWindow: Int { max(0, peerWindow - outstanding.flightPayload) }
  /// Nothing waits, and all was acknowledged.
  var isDone: Bool { queue.isEmpty && outstanding.isEmpty }
  /// Timeouts in a row.
  var errors: Int { timer.errors }
  private var isRecovering: Bool { outstanding.cumulative < recoveryPoint }

  func setMTU(_ mtu: Int) { congestion.setMTU(mtu) }

  /// Whether large packets may be what is lost: all are, or the same chunks again and again, while smaller ones that follow come through.
  func takeDoubtInMTU() -> Bool {
    defer { hasStubbornLoss = false }
    return errors >= 2 || hasStubbornLoss
  }

  // MARK: - Acknowledgements

  /// Takes the value of a SACK. `false` for one that is older than another, or acknowledges what was never sent.
  func receiveAcknowledgement(_ value: RawSpan, at now: Instant) -> Bool {
    guard value.byteCount >= 12 else { return false }
    let target = TSN.extended(value.u32(0), near: outstanding.cumulative)
    let blocks = Int(value.u16(8))
    let repeated = Int(value.u16(10))
    guard value.byteCount >= 12 + 4 * (blocks + repeated), target >= outstanding.cumulative,
      target <= outstanding.last
    else { return false }
    // In order, so that each TSN is looked at once (RFC 9260 §3.3.4).
    var before: UInt16 = 0
    for index in 0..<blocks {
      let first = value.u16(12 + 4 * index)
      let last = value.u16(14 + 4 * index)
      guard first > before, first <= last, target + Int64(last) <= outstanding.last else {
        return false
      }
      before = last
    }
    let isLimited = outstanding.flight + options.mtu >= congestion.window
    let hadNoRoom = peerWindow < options.mtu
    peerWindow = Int(value.u32(4))
    let wasRecovering = isRecovering
    var change = OutstandingData.Change()
    outstanding.acknowledge(through: target, messages, &change)
    for index in 0..<blocks {
      let first = target + Int64(value.u16(12 + 4 * index))
      outstanding.acknowledge(
        block: first...target + Int64(value.u16(14 + 4 * index)), &change)
    }
    if repeated > 0, counters.retransmissions > 0 {
      counters.spurious += UInt64(repeated)
      losses.spurious(cumulative: outstanding.cumulative, last: outstanding.last)
    }
    // A window of 0 keeps the peer alive, and the association (RFC 9260 §6.1).
    if peerWindow == 0 { timer.forgive() }
    if hadNoRoom, peerWindow >= 2 * options.mtu, !change.isCumulative, outstanding.flightCount == 1
    {
      // What asked for the window was dropped for lack of it.
      outstanding.markAllLost()
      timer.ease()
    }
    settle(
      change, wasRecovering: wasRecovering, isLimited: isLimited, hasDuplicates: repeated > 0,
      at: now)
    return true
  }

  /// Takes the cumulative TSN of a SHUTDOWN.
  func receiveCumulative(_ wire: UInt32, at now: Instant) -> Bool {
    let target = TSN.extended(wire, near: outstanding.cumulative)
    guard target <= outstanding.last else { return false }
    guard target > outstanding.cumulative else { return true }
    let wasRecovering = isRecovering
    var change = OutstandingData.Change()
    outstanding.acknowledge(through: target, messages, &change)
    settle(
      change, wasRecovering: wasRecovering, isLimited: false, hasDuplicates: false, at: now)
    return true
  }

  private func settle(
    _ change: OutstandingData.Change, wasRecovering: Bool, isLimited: Bool, hasDuplicates: Bool,
    at now: Instant
  ) {
    let nanoseconds = now.nanoseconds
    if change.sampleSentAt >= 0 {
      roundTrip.add(nanoseconds - change.sampleSentAt, at: nanoseconds)
      congestion.measured(
        nanoseconds - change.sampleSentAt, sent: outstanding.last,
        cumulative: outstanding.cumulative)
    }
    losses.acknowledged(change, shortest: roundTrip.shortest, at: nanoseconds)
    detectLosses(at: now)
    if probe.acknowledged(through: outstanding.cumulative, hasDuplicates: hasDuplicates),
      !isRecovering
    {
      congestion.lost()
    }
    if wasRecovering, !isRecovering { losses.recovered() }
    if change.bytes > 0, isLimited, !isRecovering {
      congestion.acknowledged(change.bytes, roundTrip: roundTrip.smoothed, at: nanoseconds)
    }
    forward.update(outstanding, roundTrip: roundTrip.smoothed, at: nanoseconds)
    if outstanding.isEmpty {
      timer.stop()
      timer.ease()
      probe.reset()
    } else if change.isCumulative || change.bytes > 0 {
      if change.isCumulative { timer.ease() }
      startTimer(at: now)
      if isRecovering {
        probe.stop()
      } else {
        probe.arm(sentAt: lastSentAt, estimate: roundTrip, at: nanoseconds)
      }
    }
  }

  private func detectLosses(at now: Instant) {
    guard
      losses.detect(
        &outstanding, estimate: roundTrip, isRecovering: isRecovering, at: now.nanoseconds)
    else { return }
    // What is lost is known: nothing has to be asked for (RFC 8985 §7.2).
    probe.stop()
    if !isRecovering {
      recoveryPoint = outstanding.last
      congestion.lost()
    }
    abandonExhausted(at: now)
  }

  // MARK: - Time

  var deadline: Instant? {
    var next = timer.deadline
    if let due = losses.deadline { next = earliest(next, Instant(nanoseconds: due)) }
    if let due = probe.deadline { next = earliest(next, Instant(nanoseconds: due)) }
    return next
  }

  /// Does what is due. `false` when the peer hasn't answered for too long.
  func poll(at now: Instant) -> Bool {
    if let due = losses.deadline, due <= now.nanoseconds {
      detectLosses(at: now)
      forward.update(outstanding, roundTrip: roundTrip.smoothed, at: now.nanoseconds)
    }
    if timer.expire(at: now) { return timedOut(at: now) }
    if probe.poll(at: now.nanoseconds), outstanding.flightCount == 0 { probe.stop() }
    return true
  }

  private func timedOut(at now: Instant) -> Bool {
    guard !outstanding.isEmpty else { return true }
    counters.timeouts += 1
    if let limit = options.errorLimit, timer.errors > limit { return false }
    // A peer whose window is closed is slow, and not the path.
    if outstanding.flightCount > 0, peerWindow > 0 { congestion.timedOut() }
    probe.reset()
    losses.stop()
    recoveryPoint = outstanding.cumulative
    outstanding.markAllLost()
    abandonExhausted(at: now)
    forward.update(outstanding, roundTrip: 0, at: now.nanoseconds)
    forward.require(outstanding)
    startTimer(at: now)
    return true
  }

  private func startTimer(at now: Instant) {
    timer.start(at: now, timeout: roundTrip.timeout, longest: roundTrip.longest)
  }

  // MARK: - Giving up

  /// Gives up the messages that may not be sent once more (RFC 3758 §3.5, RFC 7496 §3).
  private func abandonExhausted(at now: Instant) {
    guard options.partialReliability, messages.limited > 0, outstanding.lostCount > 0 else {
      return
    }
    var tsn = outstanding.cumulative + 1
    while tsn <= outstanding.last {
      if outstanding.state(tsn) == .lost {
        let record = outstanding.record(tsn)
        let limit = messages[record.message].maximumRetransmissions
        if limit.map({ record.retransmissions >= $0 }) ?? false
          || messages.isExpired(record.message, at: now.nanoseconds)
        {
          abandon(record.message)
        }
      }
      tsn += 1
    }
    forward.update(outstanding, roundTrip: roundTrip.smoothed, at: now.nanoseconds)
  }

  private func abandon(_ slot: Int32) {
    messages.retain(slot)
    messages.abandon(slot)
    if queue.drop(slot) {
      // What was never sent gets one TSN as its end, so that the next message isn't taken for its rest.
      messages.retain(slot)
      outstanding.append(
        OutstandingData.Record(
          message: slot, offset: 0, count: 0, fragment: messages[slot].fragments, sentAt: 0,
          retransmissions: 0, flags: ChunkFlags.end), .abandoned)
      messages[slot].lastTSN = outstanding.last
    }
    outstanding.abandon(slot, messages[slot].firstTSN...messages[slot].lastTSN)
    messages.release(slot)
  }

  // MARK: - Sending

  /// Whether `write` has something to write, unless it doesn't fit.
  var mayWrite: Bool {
    let hasWindow = outstanding.flight < congestion.window
    return forward.isDue || probe.isWanted || outstanding.lostCount > 0 && hasWindow
      || !queue.isEmpty && outstanding.hasRoom && hasWindow
  }

  /// Writes what may leave now into a packet of `limit` bytes.
  func write(into packet: inout PacketWriter, limit: Int, at now: Instant) {
    let nanoseconds = now.nanoseconds
    if outstanding.isEmpty, !queue.isEmpty, lastSentAt > 0,
      nanoseconds - lastSentAt > roundTrip.timeout
    {
      congestion.idled()
      lastSentAt = nanoseconds
    }
    if forward.isDue {
      forward.write(
        into: &packet, limit: limit, outstanding, messages, interleaving: options.interleaving,
        at: nanoseconds)
      if !timer.isRunning { startTimer(at: now) }
    }
    writeLost(into: &packet, limit: limit, at: now)
    if outstanding.lostCount == 0 { writeNew(into: &packet, limit: limit, at: now) }
    if probe.isWanted { writeProbe(into: &packet, limit: limit, at: now) }
  }

  private var header: Int {
    4 + (options.interleaving ? DataHeader.interleavedCount : DataHeader.count)
  }

  private func writeLost(into packet: inout PacketWriter, limit: Int, at now: Instant) {
    while outstanding.lostCount > 0, outstanding.flight < congestion.window,
      let tsn = outstanding.nextLost()
    {
      guard writeAgain(tsn, into: &packet, limit: limit, at: now) else { return }
      startTimer(at: now)
    }
  }

  private func writeAgain(
    _ tsn: Int64, into packet: inout PacketWriter, limit: Int, at now: Instant
  ) -> Bool {
    let record = outstanding.record(tsn)
    let size = header + (Int(record.count) + 3) & ~3
    guard size <= packet.room(limit) else { return false }
    writeChunk(record, tsn, flags: 0, into: &packet)
    outstanding.retransmitted(tsn, at: now.nanoseconds)
    if record.retransmissions == 2 { hasStubbornLoss = true }
    counters.retransmissions += 1
    lastSentAt = now.nanoseconds
    return true
  }

  private func writeNew(into packet: inout PacketWriter, limit: Int, at now: Instant) {
    while !queue.isEmpty, outstanding.hasRoom, outstanding.flight < congestion.window {
      guard writeNext(into: &packet, limit: limit, at: now) else { return }
    }
  }

  /// Writes the next fragment, if it fits and the peer takes it.
  private func writeNext(
    into packet: inout PacketWriter, limit: Int, at now: Instant
  ) -> Bool {
    let nanoseconds = now.nanoseconds
    if options.partialReliability, messages.limited > 0 {
      while let slot = queue.expiredHead(at: nanoseconds) {
        abandon(slot)
        forward.update(outstanding, roundTrip: roundTrip.smoothed, at: nanoseconds)
      }
    }
    let whole = (options.mtu - CommonHeader.count - header) & ~3
    let room = min(whole, (packet.room(limit) - header) & ~3)
    guard room > 0, let count = queue.nextCount(room: room, whole: whole, at: nanoseconds),
      // With nothing on the way one chunk asks for the window (RFC 9260 §6.1).
      count <= openWindow || outstanding.flightPayload == 0 && outstanding.isEmpty,
      let fragment = queue.take(
        count, tsn: outstanding.last + 1, interleaving: options.interleaving)
    else { return false }
    let record = OutstandingData.Record(
      message: fragment.message, offset: Int32(fragment.offset), count: Int32(fragment.count),
      fragment: fragment.fragment, sentAt: nanoseconds, retransmissions: 0, flags: fragment.flags)
    outstanding.append(record)
    if fragment.flags & ChunkFlags.end != 0 { counters.messages += 1 }
    // Nothing follows that would make the peer answer soon (RFC 7053 §4.1).
    let flags = queue.isEmpty ? ChunkFlags.immediate : 0
    writeChunk(record, outstanding.last, flags: flags, into: &packet)
    lastSentAt = nanoseconds
    if !timer.isRunning { startTimer(at: now) }
    if !isRecovering { probe.arm(sentAt: nanoseconds, estimate: roundTrip, at: nanoseconds) }
    return true
  }

  private func writeProbe(into packet: inout PacketWriter, limit: Int, at now: Instant) {
    if !queue.isEmpty, outstanding.hasRoom, writeNext(into: &packet, limit: limit, at: now) {
      probe.sent(last: outstanding.last, isRetransmission: false)
    } else if let tsn = outstanding.lastInFlight(), mayRepeat(tsn) {
      guard writeAgain(tsn, into: &packet, limit: limit, at: now) else { return }
      probe.sent(last: outstanding.last, isRetransmission: true)
    } else {
      probe.stop()
      return
    }
    counters.probes += 1
    startTimer(at: now)
  }

  private func mayRepeat(_ tsn: Int64) -> Bool {
    let record = outstanding.record(tsn)
    guard options.partialReliability,
      let limit = messages[record.message].maximumRetransmissions
    else { return true }
    return record.retransmissions < limit
  }

  private func writeChunk(
    _ record: OutstandingData.Record, _ tsn: Int64, flags: UInt8, into packet: inout PacketWriter
  ) {
    let interleaving = options.interleaving
    let messages = messages
    let slot = record.message
    packet.append(
      interleaving ? ChunkType.interleavedData : ChunkType.data, flags: record.flags | flags,
      length: header + Int(record.count)
    ) { memory, start in
      memory.put32(TSN.wire(tsn), at: start)
      memory.put16(messages[slot].stream, at: start + 4)
      if interleaving {
        memory.put16(0, at: start + 6)
        memory.put32(messages[slot].number, at: start + 8)
        memory.put32(record.fragment == 0 ? messages[slot].ppid : record.fragment, at: start + 12)
      } else {
        memory.put16(UInt16(truncatingIfNeeded: messages[slot].number), at: start + 6)
        memory.put32(messages[slot].ppid, at: start + 8)
      }
      messages.write(
        slot, Int(record.offset), Int(record.count), into: &memory,
        at: start + (interleaving ? DataHeader.interleavedCount : DataHeader.count))
    }
  }

  // MARK: - Beginning anew

  /// Puts what isn't acknowledged back into the queue, for an association that begins anew. This transmitter is done then.
  func surrender() {
    queue.restart(with: outstanding.unacknowledgedMessages(messages))
    outstanding.releaseAll(messages)
  }
}
