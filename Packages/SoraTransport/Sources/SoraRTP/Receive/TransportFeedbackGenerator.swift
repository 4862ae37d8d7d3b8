public import SoraMedia

/// Records when packets with transport-wide sequence numbers arrive and writes the feedback about them
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1). One for each transport, confined to its owner.
public final class TransportFeedbackGenerator {
  /// How often feedback is due.
  public var interval: Duration
  /// Packets recorded.
  public private(set) var packetsRecorded: UInt64 = 0
  /// Packets that came too late or jumped too far to be reported.
  public private(set) var packetsIgnored: UInt64 = 0
  /// Messages written.
  public private(set) var messagesWritten: UInt64 = 0

  /// Sequence numbers that the ring can cover; it starts small and doubles as the window needs.
  private static let maximumCapacity: Int64 = 8192
  private static let initialCapacity = 256

  private var extender = SequenceNumberExtender()
  /// Arrival in ticks of 250 us by sequence modulo capacity; `notReceived` where none.
  private var arrivals: [Int64]
  private static let notReceived = Int64.min
  /// The first sequence that the next message reports on.
  private var windowStart: Int64 = 0
  /// The end (exclusive) of what arrived.
  private var windowEnd: Int64 = 0
  private var isStarted = false
  /// Where the numbers began, or began anew after a jump.
  private var firstSequence: Int64 = 0
  private var hasNews = false
  private var due: Instant?
  private var feedbackCount: UInt8 = 0
  /// Media source of the last packet: the field is required, its value doesn't matter.
  private var media: UInt32 = 0
  private var symbols: [UInt8] = []

  public init(interval: Duration = .milliseconds(50)) {
    self.interval = interval
    arrivals = Array(
      repeating: TransportFeedbackGenerator.notReceived,
      count: TransportFeedbackGenerator.initialCapacity)
    symbols.reserveCapacity(TransportFeedbackGenerator.initialCapacity)
  }

  /// A packet arrived.
  public func received(sequenceNumber: UInt16, ssrc: UInt32, at now: Instant) {
    media = ssrc
    let sequence = extender.extend(sequenceNumber)
    if !isStarted {
      isStarted = true
      firstSequence = sequence
      windowStart = sequence
      windowEnd = sequence
    }
    if sequence >= windowEnd {
      if sequence - windowEnd >= TransportFeedbackGenerator.maximumCapacity {
        // A jump beyond what can be remembered: report from here.
        forgetAll()
        firstSequence = sequence
        windowStart = sequence
      } else {
        cover(through: sequence)
        var cleared = windowEnd
        while cleared < sequence {
          arrivals[slot(cleared)] = TransportFeedbackGenerator.notReceived
          cleared += 1
        }
        windowStart = max(windowStart, sequence + 1 - capacity)
      }
      windowEnd = sequence + 1
    } else {
      guard sequence > windowEnd - capacity,
        windowEnd - sequence <= TransportFeedbackGenerator.latestReport
      else {
        packetsIgnored += 1
        return
      }
      guard arrivals[slot(sequence)] == TransportFeedbackGenerator.notReceived else {
        packetsIgnored += 1
        return
      }
      // It was reported as lost: report it, and what follows it, again.
      windowStart = min(windowStart, sequence)
    }
    arrivals[slot(sequence)] = now.nanoseconds / TransportFeedback.nanosecondsPerTick
    packetsRecorded += 1
    hasNews = true
    if due == nil { due = now + interval }
  }

  /// How far back a late packet reopens what was already reported.
  private static let latestReport: Int64 = 1000

  /// When feedback is due; `nil` while there is nothing to report.
  public var nextDeadline: Instant? { due }

  /// Whether feedback is due at `now`.
  public func isDue(at now: Instant) -> Bool {
    guard let due else { return false }
    return due <= now
  }

  /// Puts off feedback that couldn't be sent: what it would say is said with the next.
  public func postpone(at now: Instant) {
    if due != nil { due = now + interval }
  }

  /// Appends one message about what has arrived since the last. Returns whether there is more to report than fitted;
  /// then call again with another datagram.
  public func write(
    into writer: inout RTCPWriter, sender: UInt32, at now: Instant
  ) throws(RTPError) -> Bool {
    guard hasNews, windowStart < windowEnd else {
      due = nil
      hasNews = false
      return false
    }
    let start = windowStart
    let room = writer.available - TransportFeedback.chunksOffset
    guard room >= 8 else {
      throw .noRoom(needed: TransportFeedback.chunksOffset + 8, available: writer.available)
    }
    // The first arrival sets the reference time (rounded down to 64 ms).
    var first = start
    while first < windowEnd, arrivals[slot(first)] == TransportFeedbackGenerator.notReceived {
      first += 1
    }
    let firstTicks =
      first < windowEnd
      ? arrivals[slot(first)] : now.nanoseconds / TransportFeedback.nanosecondsPerTick
    let reference = firstTicks >> 8
    var last = reference << 8

    symbols.removeAll(keepingCapacity: true)
    var deltaBytes = 0
    var next = start
    while next < windowEnd, symbols.count < 0xFFFF {
      var symbol: UInt8 = 0
      let ticks = arrivals[slot(next)]
      if ticks != TransportFeedbackGenerator.notReceived {
        let delta = ticks - last
        // A delta that doesn't fit into 16 bits begins a new message.
        guard Int16(exactly: delta) != nil else { break }
        symbol = (0...255).contains(delta) ? 1 : 2
        last = ticks
      }
      // Two bytes for every seven statuses is what the chunks take at most; plus padding to 32 bits.
      let chunkBytes = 2 * ((symbols.count + 1 + 6) / 7)
      guard chunkBytes + deltaBytes + Int(symbol) + 3 <= room else { break }
      symbols.append(symbol)
      deltaBytes += Int(symbol)
      next += 1
    }
    guard !symbols.isEmpty else {
      throw .noRoom(needed: TransportFeedback.chunksOffset + 8, available: writer.available)
    }

    try writer.transportFeedback(
      sender: sender, media: media, base: UInt16(truncatingIfNeeded: start),
      reference: UInt32(truncatingIfNeeded: reference) & 0xFF_FFFF, feedbackCount: feedbackCount,
      symbols: symbols, deltaBytes: deltaBytes
    ) { index in arrivals[slot(start + Int64(index))] }
    feedbackCount &+= 1
    messagesWritten += 1
    windowStart = next
    let more = windowStart < windowEnd
    hasNews = more
    due = more ? now : nil
    return more
  }

  private var capacity: Int64 { Int64(arrivals.count) }

  private func slot(_ sequence: Int64) -> Int { Int(sequence & (capacity - 1)) }

  /// Makes room for the numbers up to `end`, from the window's start on and as far back as late packets count.
  private func cover(through end: Int64) {
    let late = max(firstSequence, end - TransportFeedbackGenerator.latestReport)
    let needed = end + 1 - min(late, windowStart)
    guard needed > capacity, capacity < TransportFeedbackGenerator.maximumCapacity else { return }
    let old = arrivals
    let oldStart = windowEnd - Int64(old.count)
    var larger = old.count
    while larger < needed, larger < TransportFeedbackGenerator.maximumCapacity { larger *= 2 }
    arrivals = Array(repeating: TransportFeedbackGenerator.notReceived, count: larger)
    for sequence in oldStart..<windowEnd {
      arrivals[slot(sequence)] = old[Int(sequence & Int64(old.count - 1))]
    }
  }

  private func forgetAll() {
    for index in arrivals.indices { arrivals[index] = TransportFeedbackGenerator.notReceived }
  }
}
