public import SoraMedia
public import SoraWire

/// Records when the packets of each source arrive, and how they are marked, and writes the feedback about them (RFC 8888 §3). One for
/// each transport, confined to its owner.
public final class CongestionFeedbackGenerator {
  /// How often feedback is due.
  public var interval: Duration
  /// Packets recorded.
  public private(set) var packetsRecorded: UInt64 = 0
  /// Packets that came too late or jumped too far to be reported, or of a source too many at once.
  public private(set) var packetsIgnored: UInt64 = 0
  /// Messages written.
  public private(set) var messagesWritten: UInt64 = 0

  /// One more takes the place of one that has been silent for long.
  private static let maximumSources = 64
  private static let silence = Duration.seconds(5)

  private var sources: [SourceArrivals] = []
  private var due: Instant?

  public init(interval: Duration = .milliseconds(50)) {
    self.interval = interval
  }

  /// A packet arrived.
  public func received(
    ssrc: UInt32, sequenceNumber: UInt16, ecn: ECNCodepoint, at now: Instant
  ) {
    guard let index = index(of: ssrc, at: now),
      sources[index].received(sequenceNumber, ecn, at: now)
    else {
      packetsIgnored += 1
      return
    }
    packetsRecorded += 1
    if due == nil { due = now + interval }
  }

  private func index(of ssrc: UInt32, at now: Instant) -> Int? {
    for index in sources.indices where sources[index].ssrc == ssrc { return index }
    if sources.count >= Self.maximumSources {
      guard let silent = sources.firstIndex(where: { now - $0.latest >= Self.silence }) else {
        return nil
      }
      sources.remove(at: silent)
    }
    sources.append(SourceArrivals(ssrc: ssrc))
    return sources.count - 1
  }

  /// Forgets a source that ended.
  public func forget(ssrc: UInt32) { sources.removeAll { $0.ssrc == ssrc } }

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
  ///
  /// - Parameters:
  ///   - writer: takes the packet.
  ///   - sender: who reports.
  ///   - reportTime: the time of the report as the middle 32 bits of an NTP time.
  ///   - now: the same time on the clock of `received`.
  public func write(
    into writer: inout RTCPWriter, sender: UInt32, reportTime: UInt32, at now: Instant
  ) throws(RTPError) -> Bool {
    guard sources.contains(where: { $0.hasNews }) else {
      due = nil
      return false
    }
    var message = try writer.beginCongestionFeedback(sender: sender)
    var isFull = false
    var reports = 0
    for index in sources.indices where sources[index].hasNews && !isFull {
      let count = min(sources[index].pendingCount, writer.roomForReports(message))
      guard count > 0 else {
        isFull = true
        break
      }
      let ssrc = sources[index].ssrc
      let begin = sources[index].begin
      writer.congestionReports(&message, ssrc: ssrc, begin: begin, count: count) { offset in
        sources[index].word(offset, at: now)
      }
      isFull = count < sources[index].pendingCount
      sources[index].reported(count)
      reports += count
    }
    guard reports > 0 else {
      throw .noRoom(needed: RTCPCongestionFeedback.leastSize, available: writer.available)
    }
    writer.endCongestionFeedback(message, reportTime: reportTime)
    messagesWritten += 1
    due = isFull ? now : nil
    return isFull
  }
}

/// The packets of one source that arrived and haven't been reported, with a past to which late ones are added.
private struct SourceArrivals {
  /// Sequence numbers that the ring can cover; it starts small and doubles as the window needs.
  private static let maximumCapacity: Int64 = 4096
  private static let initialCapacity = 128
  /// How far back a late packet reopens what was already reported.
  private static let latestReport: Int64 = 500

  private struct Arrival {
    var sequence = Int64.min
    var time: Int64 = 0
    var ecn = ECNCodepoint.notECT
  }

  let ssrc: UInt32
  private var extender = SequenceNumberExtender()
  private var arrivals: [Arrival] = []
  /// The first sequence that the next message reports on.
  private var start: Int64 = 0
  /// The end (exclusive) of what arrived.
  private var end: Int64 = 0
  /// When its newest packet arrived.
  private(set) var latest = Instant.zero

  init(ssrc: UInt32) { self.ssrc = ssrc }

  var hasNews: Bool { start < end }
  var pendingCount: Int { Int(end - start) }
  var begin: UInt16 { UInt16(truncatingIfNeeded: start) }

  private var capacity: Int64 { Int64(arrivals.count) }

  private func slot(_ sequence: Int64) -> Int { Int(sequence & (capacity - 1)) }

  /// Notes a packet; false where it came too late.
  mutating func received(_ number: UInt16, _ ecn: ECNCodepoint, at now: Instant) -> Bool {
    let sequence = extender.extend(number)
    latest = now
    if arrivals.isEmpty {
      arrivals = Array(repeating: Arrival(), count: Self.initialCapacity)
      (start, end) = (sequence, sequence)
    }
    if sequence >= end {
      if sequence - end >= Self.maximumCapacity { start = sequence }
      cover(through: sequence)
      end = sequence + 1
      start = max(start, end - capacity)
    } else {
      guard end - sequence <= min(capacity, Self.latestReport) else { return false }
      guard arrivals[slot(sequence)].sequence != sequence else {
        // RFC 8888 §3.1: of copies the first counts, but each mark does.
        if ecn == .congestionExperienced { arrivals[slot(sequence)].ecn = ecn }
        return false
      }
      // It was reported as lost: report it, and what follows it, again.
      start = min(start, sequence)
    }
    arrivals[slot(sequence)] = Arrival(sequence: sequence, time: now.nanoseconds, ecn: ecn)
    return true
  }

  /// Makes room up to `last`, for what waits to be reported and for packets that come late.
  private mutating func cover(through last: Int64) {
    let needed = last + 1 - start
    guard needed > capacity, capacity < Self.maximumCapacity else { return }
    var larger = arrivals.count
    while larger < needed, larger < Self.maximumCapacity { larger *= 2 }
    let old = arrivals
    arrivals = Array(repeating: Arrival(), count: larger)
    for arrival in old where arrival.sequence != .min { arrivals[slot(arrival.sequence)] = arrival }
  }

  /// The report of the packet `offset` behind the first; 0 for one that hasn't arrived.
  func word(_ offset: Int, at now: Instant) -> UInt16 {
    let sequence = start + Int64(offset)
    let arrival = arrivals[slot(sequence)]
    guard arrival.sequence == sequence else { return 0 }
    let age = now.nanoseconds &- arrival.time
    // RFC 8888 §3.1: a packet that comes behind the report's time has no age.
    let ticks = age < 0 ? nil : Int(min(age, 9_000_000_000) * 1_024 / 1_000_000_000)
    return RTCPCongestionFeedback.Status.word(ecn: arrival.ecn, age: ticks)
  }

  /// The next message begins `count` packets later.
  mutating func reported(_ count: Int) { start += Int64(count) }
}
