public import SoraMedia

/// Plays keys of a telephone one after the other, as reports to send (RFC 4733 §2.5.1): says what is due when, and sends nothing itself.
/// Confined to its owner.
public struct TelephoneEventSender: Sendable {
  /// What is due.
  public enum Action: Sendable, Hashable {
    /// A key's event begins.
    case begin(Character)
    /// A report to send. Its packet's timestamp is that of `start`, when the event began, and `segment` ticks: the same for all reports of a
    /// segment.
    case report(TelephoneEvent, isFirst: Bool, start: Instant, segment: UInt32)
    /// All keys have been played.
    case finished
  }

  private struct Sounding {
    var code: UInt8
    var start: Instant
    var end: Instant
    /// Ticks of the segments that are complete.
    var before: UInt32 = 0
    var isReported = false
    /// When the next report leaves.
    var next: Instant
    /// Reports of the end that have left.
    var ends = 0
  }

  private enum Phase {
    case idle
    /// Nothing sounds until then: a comma, or the gap behind a key.
    case waiting(until: Instant)
    case sounding
  }

  /// Between two reports of an event, as RFC 4733 §2.5.1.2 has it.
  public static let interval = Duration.milliseconds(50)
  /// The first report needn't wait as long: its receiver learns of the key by it.
  private static let firstReport = Duration.milliseconds(10)
  /// Between the reports of an end, which are three, so that a burst of loss doesn't take all (§2.5.1.4).
  private static let endInterval = Duration.milliseconds(20)
  private static let endReports = 3
  /// What a comma stands for (W3C webrtc-pc §7.2).
  private static let pause = Duration.seconds(2)

  private let clockRate: Int64
  private var phase = Phase.idle
  /// The event that is told, or whose end still is.
  private var event: Sounding?
  private var waiting: Substring = ""
  private var duration = Duration.milliseconds(100)
  private var gap = Duration.milliseconds(70)

  /// - Parameter clockRate: Hz, of the payload type.
  public init(clockRate: Int) { self.clockRate = Int64(max(1, clockRate)) }

  /// The keys that haven't begun.
  public var remaining: String { String(waiting) }
  /// Whether a key is pressed at this time: audio makes room for it.
  public var isSounding: Bool {
    if case .sounding = phase { true } else { false }
  }

  /// Plays these keys in place of those that haven't begun; one that sounds goes on to its end. An empty text plays no more.
  ///
  /// - Parameters:
  ///   - keys: of a telephone, and `,` for a pause of 2 s; what is neither is skipped.
  ///   - duration: how long each sounds.
  ///   - gap: between two of them.
  ///   - now: the present time.
  public mutating func play(_ keys: String, duration: Duration, gap: Duration, at now: Instant) {
    waiting = keys[...]
    self.duration = duration
    self.gap = gap
    if case .idle = phase, !keys.isEmpty { phase = .waiting(until: now) }
  }

  /// When `next` has something.
  public var nextDeadline: Instant? {
    var deadline = event?.next
    if case .waiting(let until) = phase { deadline = earliest(deadline, until) }
    return deadline
  }

  /// What is due now; call it until it has nothing.
  public mutating func next(at now: Instant) -> Action? {
    if let action = report(at: now) { return action }
    guard case .waiting(let until) = phase, now >= until else { return nil }
    while let key = waiting.popFirst() {
      if key == "," {
        phase = .waiting(until: now + Self.pause)
        return .begin(key)
      }
      guard let code = TelephoneEvent.code(of: key) else { continue }
      let end = now + duration
      phase = .sounding
      event = Sounding(code: code, start: now, end: end, next: min(end, now + Self.firstReport))
      return .begin(key)
    }
    phase = .idle
    return .finished
  }

  private mutating func report(at now: Instant) -> Action? {
    guard var event, now >= event.next else { return nil }
    defer { self.event = event.ends < Self.endReports ? event : nil }
    let isOver = now >= event.end
    let elapsed = ticks(from: event.start, to: isOver ? event.end : now)
    let inSegment = elapsed - UInt64(event.before)
    let longest = UInt64(TelephoneEvent.longestDuration)
    var report = TelephoneEvent(code: event.code, duration: UInt16(min(max(1, inSegment), longest)))
    let segment = event.before
    let isFirst = !event.isReported
    event.isReported = true
    if inSegment > longest {
      // §2.5.1.3: the segment is told to its end, and the next begins there; it is due at once.
      event.before += UInt32(longest)
    } else if isOver {
      report.isEnd = true
      event.ends += 1
      if event.ends == 1 { phase = .waiting(until: event.end + gap) }
      event.next = now + min(Self.endInterval, gap / 3)
    } else {
      event.next = min(event.end, now + Self.interval)
    }
    return .report(report, isFirst: isFirst, start: event.start, segment: segment)
  }

  private func ticks(from start: Instant, to end: Instant) -> UInt64 {
    UInt64(rtpTicks(in: max(0, end.nanoseconds(since: start)), at: clockRate))
  }
}
