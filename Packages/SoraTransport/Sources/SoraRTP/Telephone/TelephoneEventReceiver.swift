public import SoraMedia

/// Makes events of the reports that packets bring, which repeat, overtake and get lost (RFC 4733 §2.5.2). Confined to its owner.
public struct TelephoneEventReceiver: Sendable {
  /// What happened to an event.
  public struct Change: Sendable, Hashable {
    public var code: UInt8
    /// dB below full scale.
    public var volume: UInt8
    public var isEnd: Bool
    /// Ticks of the RTP clock that the event has lasted, over all of its segments.
    public var duration: UInt64
  }

  private struct Current {
    var code: UInt8
    var volume: UInt8
    /// Of the segment.
    var timestamp: UInt32
    /// Ticks of the segments before it.
    var before: UInt64 = 0
    var duration: UInt16
    var heard: Instant

    /// Whether a report that is `ahead` of this segment is of a later segment of the same event: segments are as long as a duration can be
    /// (RFC 4733 §2.5.1.3), and some may have been lost whole.
    func goesOn(as event: TelephoneEvent, ahead: Int32) -> Bool {
      event.code == code && ahead % Int32(TelephoneEvent.longestDuration) == 0
    }
  }

  /// Without a report for so long, an event is over: senders report 50 ms apart, and two packets in a row may be lost.
  public static let patience = Duration.milliseconds(250)
  /// Repeats of an event that has ended come no later, and timestamps that wrap don't look like them.
  private static let memory = Duration.seconds(10)

  private var current: Current?
  /// The segment that ended last.
  private var ended: (timestamp: UInt32, at: Instant)?

  public init() {}

  /// Takes the reports of a packet.
  ///
  /// - Parameters:
  ///   - payload: the packet's, lent for the call.
  ///   - timestamp: the packet's.
  ///   - marker: whether the packet is the first of an event; where it is, the event goes on from no segment.
  ///   - now: the present time.
  /// - Returns: what they change, in order.
  /// - Throws: `RTPError.malformedPayload` for what isn't made of whole reports; nothing changes.
  public mutating func receive(
    _ payload: RawSpan, timestamp: UInt32, marker: Bool, at now: Instant
  ) throws(RTPError) -> [Change] {
    var changes: [Change] = []
    for (index, report) in try TelephoneEvent.reports(in: payload).enumerated() {
      receive(
        report.event, timestamp &+ report.offset, isFirst: marker && index == 0, at: now,
        into: &changes)
    }
    return changes
  }

  private mutating func receive(
    _ event: TelephoneEvent, _ timestamp: UInt32, isFirst: Bool, at now: Instant,
    into changes: inout [Change]
  ) {
    if let ended, now - ended.at > Self.memory { self.ended = nil }
    if var known = current {
      let ahead = Int32(bitPattern: timestamp &- known.timestamp)
      // Of a segment or an event before this one.
      if ahead < 0 { return }
      let isSame = ahead == 0
      if isSame || !isFirst && known.goesOn(as: event, ahead: ahead) {
        if !isSame {
          known.before += UInt64(ahead)
          known.timestamp = timestamp
          known.duration = 0
        }
        known.duration = max(known.duration, event.duration)
        known.heard = now
        current = known
        if event.isEnd { end(at: now, into: &changes) }
        return
      }
      // All of its end got lost.
      end(at: now, into: &changes)
    } else if let ended, Int32(bitPattern: timestamp &- ended.timestamp) <= 0 {
      return
    }
    current = Current(
      code: event.code, volume: event.volume, timestamp: timestamp, duration: event.duration,
      heard: now)
    changes.append(
      Change(
        code: event.code, volume: event.volume, isEnd: false, duration: UInt64(event.duration)))
    if event.isEnd { end(at: now, into: &changes) }
  }

  private mutating func end(at now: Instant, into changes: inout [Change]) {
    guard let known = current else { return }
    current = nil
    ended = (known.timestamp, now)
    changes.append(
      Change(
        code: known.code, volume: known.volume, isEnd: true,
        duration: known.before + UInt64(known.duration)))
  }

  /// When an event that nothing is heard of is taken for over.
  public var nextDeadline: Instant? { current.map { $0.heard + Self.patience } }

  /// Ends an event that nothing has been heard of for `patience`.
  public mutating func poll(at now: Instant) -> Change? {
    guard let deadline = nextDeadline, now >= deadline else { return nil }
    var changes: [Change] = []
    end(at: now, into: &changes)
    return changes.first
  }
}
