import SoraWire

/// Chunks that have a TSN and aren't acknowledged cumulatively, in a ring by TSN (RFC 9260 §6.1).
struct OutstandingData {
  struct Record {
    var message: Int32
    var offset: Int32
    var count: Int32
    var fragment: UInt32
    /// Nanoseconds.
    var sentAt: Int64
    var retransmissions: UInt16
    var flags: UInt8
  }

  enum State: UInt8 {
    case none, inFlight, acknowledged, lost, abandoned
  }

  /// The highest TSN that is acknowledged with all before it.
  private(set) var cumulative: Int64
  /// The TSN that was given last.
  private(set) var last: Int64
  private var records: [Record]
  private var states: [State]
  private var mask: Int
  /// Bytes on the way, with their chunks' headers and padding, and those of payload alone.
  private(set) var flight = 0
  private(set) var flightPayload = 0
  private(set) var flightCount = 0
  private(set) var lostCount = 0
  /// Nothing is lost before it.
  private var lostHint: Int64 = 0
  /// The highest TSN that a gap block has acknowledged, and that was sent again.
  private(set) var highestAcknowledged: Int64
  private(set) var highestRetransmitted: Int64 = 0
  private(set) var gapCount = 0
  private let header: Int

  init(first: UInt32, interleaving: Bool) {
    cumulative = Int64(first) + (1 << 32) - 1
    last = cumulative
    highestAcknowledged = cumulative
    header = 4 + (interleaving ? DataHeader.interleavedCount : DataHeader.count)
    // Grows with what is on the way; most associations are idle.
    let size = 16
    records = Array(
      repeating: Record(
        message: -1, offset: 0, count: 0, fragment: 0, sentAt: 0, retransmissions: 0, flags: 0),
      count: size)
    states = Array(repeating: .none, count: size)
    mask = size - 1
  }

  var count: Int { Int(last - cumulative) }
  var isEmpty: Bool { last == cumulative }
  /// Whether one more TSN can be told apart by gap blocks.
  var hasRoom: Bool { last - cumulative < DataTracker.span - 1 }

  @inline(__always)
  private func index(_ tsn: Int64) -> Int { Int(truncatingIfNeeded: tsn) & mask }

  func record(_ tsn: Int64) -> Record { records[index(tsn)] }
  func state(_ tsn: Int64) -> State { states[index(tsn)] }

  /// Bytes that a chunk takes in a packet.
  private func size(_ record: Record) -> Int { header + (Int(record.count) + 3) & ~3 }

  mutating func append(_ record: Record, _ state: State = .inFlight) {
    if count == records.count { grow() }
    last += 1
    let place = index(last)
    records[place] = record
    states[place] = state
    if state == .inFlight { enter(record) }
  }

  /// What a SACK has changed.
  struct Change {
    var bytes = 0
    /// Of the chunk that was sent last among those that are newly acknowledged.
    var newestSentAt: Int64 = -1
    var newestTSN: Int64 = -1
    var newestWasRetransmitted = false
    /// When the newest of those was sent that were sent once; -1 for none.
    var sampleSentAt: Int64 = -1
    var isCumulative = false
    /// A chunk that was sent once has come after one that was sent later.
    var isReordered = false
  }

  /// Acknowledges all up to `target`, not beyond `last`, and releases what was kept.
  mutating func acknowledge(through target: Int64, _ messages: MessageStore, _ change: inout Change)
  {
    guard target > cumulative else { return }
    change.isCumulative = true
    while cumulative < target {
      cumulative += 1
      settle(cumulative, &change)
      let place = index(cumulative)
      if states[place] == .acknowledged { gapCount -= 1 }
      states[place] = .none
      if records[place].message >= 0 { messages.release(records[place].message) }
      records[place].message = -1
    }
    highestAcknowledged = max(highestAcknowledged, cumulative)
  }

  /// Acknowledges a gap block, whose TSNs lie beyond `cumulative` and not beyond `last`.
  mutating func acknowledge(block: ClosedRange<Int64>, _ change: inout Change) {
    for tsn in block { settle(tsn, &change) }
    highestAcknowledged = max(highestAcknowledged, block.upperBound)
  }

  private mutating func settle(_ tsn: Int64, _ change: inout Change) {
    let place = index(tsn)
    switch states[place] {
    case .inFlight: leave(records[place])
    case .lost: lostCount -= 1
    case .none, .acknowledged, .abandoned: return
    }
    states[place] = .acknowledged
    gapCount += 1
    let record = records[place]
    change.bytes += size(record)
    if record.sentAt > change.newestSentAt
      || (record.sentAt == change.newestSentAt && tsn > change.newestTSN)
    {
      change.newestSentAt = record.sentAt
      change.newestTSN = tsn
      change.newestWasRetransmitted = record.retransmissions > 0
    }
    if record.retransmissions == 0 {
      change.sampleSentAt = max(change.sampleSentAt, record.sentAt)
      if tsn < highestAcknowledged { change.isReordered = true }
    }
  }

  /// Notes as lost what was sent before the chunk of `sentAt` and `tsn` and could be here since `patience` (RFC 8985 §6.2 step 5). Returns
  /// whether anything was, and when the next would be: nanoseconds.
  mutating func detectLosses(
    sentBefore sentAt: Int64, tsn newest: Int64, patience: Int64, at now: Int64
  ) -> (hasLost: Bool, next: Int64?) {
    var hasLost = false
    var next: Int64?
    var tsn = cumulative + 1
    while tsn <= last {
      let place = index(tsn)
      if states[place] == .inFlight {
        let sent = records[place].sentAt
        if sent < sentAt || (sent == sentAt && tsn < newest) {
          let due = sent + patience
          if due <= now {
            markLost(tsn)
            hasLost = true
          } else {
            next = min(next ?? due, due)
          }
        } else if tsn > highestAcknowledged, tsn > highestRetransmitted {
          // What follows was sent later still.
          break
        }
      }
      tsn += 1
    }
    return (hasLost, next)
  }

  /// Takes all that is on the way for lost. Where the peer has dropped what it had acknowledged (RFC 9260 §6.2.1), that, too: the
  /// cumulative TSN would have moved over it.
  mutating func markAllLost() {
    let isReneged = !isEmpty && states[index(cumulative + 1)] == .acknowledged
    var tsn = cumulative + 1
    while tsn <= last {
      switch states[index(tsn)] {
      case .inFlight: markLost(tsn)
      case .acknowledged where isReneged:
        gapCount -= 1
        states[index(tsn)] = .lost
        lostCount += 1
        lostHint = lostCount == 1 ? tsn : min(lostHint, tsn)
      case .none, .acknowledged, .lost, .abandoned: break
      }
      tsn += 1
    }
  }

  private mutating func markLost(_ tsn: Int64) {
    let place = index(tsn)
    leave(records[place])
    states[place] = .lost
    lostHint = lostCount == 0 ? tsn : min(lostHint, tsn)
    lostCount += 1
  }

  /// The first chunk that is lost, from `tsn` on.
  mutating func nextLost() -> Int64? {
    guard lostCount > 0 else { return nil }
    var tsn = max(lostHint, cumulative + 1)
    while tsn <= last {
      if states[index(tsn)] == .lost {
        lostHint = tsn
        return tsn
      }
      tsn += 1
    }
    return nil
  }

  /// The chunk on the way that was given its TSN last.
  func lastInFlight() -> Int64? {
    var tsn = last
    while tsn > cumulative {
      if states[index(tsn)] == .inFlight { return tsn }
      tsn -= 1
    }
    return nil
  }

  /// Notes that a chunk, lost or on the way, was sent again.
  mutating func retransmitted(_ tsn: Int64, at now: Int64) {
    let place = index(tsn)
    if states[place] == .lost {
      lostCount -= 1
      states[place] = .inFlight
      enter(records[place])
    }
    records[place].sentAt = now
    records[place].retransmissions = records[place].retransmissions &+ 1
    highestRetransmitted = max(highestRetransmitted, tsn)
  }

  /// Gives up the chunks of a message.
  mutating func abandon(_ slot: Int32, _ range: ClosedRange<Int64>) {
    var tsn = max(range.lowerBound, cumulative + 1)
    while tsn <= min(range.upperBound, last) {
      let place = index(tsn)
      if records[place].message == slot {
        switch states[place] {
        case .inFlight: leave(records[place])
        case .lost: lostCount -= 1
        case .acknowledged: gapCount -= 1
        case .none, .abandoned: break
        }
        states[place] = .abandoned
      }
      tsn += 1
    }
  }

  /// The messages of chunks here that weren't given up, each once, in the order of their TSNs.
  func unacknowledgedMessages(_ messages: MessageStore) -> [Int32] {
    var found: [Int32] = []
    var seen: Set<Int32> = []
    var tsn = cumulative + 1
    while tsn <= last {
      let slot = records[index(tsn)].message
      if slot >= 0, !messages[slot].isAbandoned, seen.insert(slot).inserted { found.append(slot) }
      tsn += 1
    }
    return found
  }

  /// Lets go of all messages.
  mutating func releaseAll(_ messages: MessageStore) {
    var change = Change()
    acknowledge(through: last, messages, &change)
  }

  private mutating func enter(_ record: Record) {
    flight += size(record)
    flightPayload += Int(record.count)
    flightCount += 1
  }

  private mutating func leave(_ record: Record) {
    flight -= size(record)
    flightPayload -= Int(record.count)
    flightCount -= 1
  }

  private mutating func grow() {
    let size = records.count * 2
    var larger = Array(repeating: records[0], count: size)
    var largerStates = Array(repeating: State.none, count: size)
    var tsn = cumulative + 1
    while tsn <= last {
      let place = Int(truncatingIfNeeded: tsn) & (size - 1)
      larger[place] = records[index(tsn)]
      largerStates[place] = states[index(tsn)]
      tsn += 1
    }
    records = larger
    states = largerStates
    mask = size - 1
  }
}
