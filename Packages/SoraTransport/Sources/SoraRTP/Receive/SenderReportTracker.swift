public import SoraMedia

/// Remembers the sender reports of one source: for the LSR and DLSR fields of report blocks, and to tell when, on
/// the sender's wall clock, an RTP timestamp was captured.
public struct SenderReportTracker: Sendable {
  /// The last report; `nil` before the first.
  public private(set) var last: RTCPSenderInfo?
  /// When the last report arrived.
  public private(set) var lastArrival: Instant?
  /// Reports received.
  public private(set) var count: UInt64 = 0
  /// Ticks a second of the source's RTP clock.
  public let clockRate: Int

  public init(clockRate: Int) {
    self.clockRate = max(1, min(clockRate, 1_000_000_000))
  }

  public mutating func received(_ report: RTCPSenderInfo, at now: Instant) {
    last = report
    lastArrival = now
    count += 1
  }

  /// LSR for a report block; 0 without a report (RFC 3550 §6.4.1).
  public var lastSenderReport: UInt32 { last?.ntp.middle ?? 0 }

  /// DLSR for a report block at `now`, in 1/65536 s; 0 without a report.
  public func delaySinceLast(at now: Instant) -> UInt32 {
    guard let lastArrival else { return 0 }
    let nanoseconds = max(0, min(now.nanoseconds(since: lastArrival), 65_535_000_000_000))
    return UInt32(truncatingIfNeeded: (nanoseconds << 16) / 1_000_000_000)
  }

  /// The sender's wall-clock time at which `rtpTimestamp` was captured; `nil` without a report. Two streams of one
  /// sender that share a clock (one CNAME) are synchronized by comparing these.
  public func captureTime(of rtpTimestamp: UInt32) -> NTPTime? {
    guard let last else { return nil }
    let ticks = Int64(Int32(bitPattern: rtpTimestamp &- last.rtpTimestamp))
    let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: Int64(clockRate))
    let offset = (seconds << 32) &+ (rest << 32) / Int64(clockRate)
    return NTPTime(rawValue: last.ntp.rawValue &+ UInt64(bitPattern: offset))
  }
}

/// Estimates how a sender's wall clock relates to the local monotonic clock, from the arrival of its reports.
///
/// The report that crossed the network fastest says most, so the smallest difference of the last reports counts.
public struct RemoteClock: Sendable {
  private var offsets: (Int64?, Int64?) = (nil, nil)
  private var reports = 0

  public init() {}

  /// Reports after which the older half of the window is forgotten.
  private static let halfWindow = 8

  /// A report with time `ntp` arrived at `now`; `roundTrip` is the measured round-trip time, if known.
  public mutating func received(_ ntp: NTPTime, at now: Instant, roundTrip: Duration?) {
    let transit = (roundTrip ?? .zero).wholeNanoseconds / 2
    let offset = now.nanoseconds &- transit &- ntp.unixNanoseconds
    if reports % RemoteClock.halfWindow == 0 { offsets = (offset, offsets.0) }
    offsets.0 = min(offsets.0 ?? offset, offset)
    reports += 1
  }

  /// When, on the local clock, the sender's wall clock showed `time`; `nil` before the first report.
  public func instant(of time: NTPTime) -> Instant? {
    guard let newer = offsets.0 else { return nil }
    let offset = min(newer, offsets.1 ?? newer)
    return Instant(nanoseconds: time.unixNanoseconds &+ offset)
  }
}

extension RTCPReportBlock {
  /// The round-trip time that this block shows to the sender it is about, which receives it at `now` on its own
  /// wall clock: A - LSR - DLSR (RFC 3550 §6.4.1). `nil` when the peer hasn't seen a report yet or the result
  /// makes no sense.
  public func roundTrip(at now: NTPTime) -> Duration? {
    guard lastSenderReport != 0 else { return nil }
    let units = Int32(bitPattern: now.middle &- lastSenderReport &- delaySinceLastSenderReport)
    // Clock steps give negative or absurd values; nothing on Earth takes a minute.
    guard units > -0x1_0000, units < 60 << 16 else { return nil }
    return .nanoseconds(max(0, Int64(units)) * 1_000_000_000 / 65_536)
  }
}
