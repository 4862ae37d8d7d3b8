import SoraMedia
import SoraRTP

/// Round trips that a receiver measured by its own reference times (RFC 3611 §4.4): W3C `RTCRemoteOutboundRtpStreamStats`.
public struct ReferencedRoundTrips: Sendable, Equatable {
  /// The newest; nil before the first.
  public internal(set) var latest: Duration?
  public internal(set) var total = Duration.zero
  public internal(set) var count: UInt64 = 0
}

/// The round-trip time of a transport: from reports about what is sent, from answers to our reference times, or from elsewhere.
struct RoundTripMeter {
  /// The newest; nil before any.
  private(set) var current: Duration?
  private(set) var referenced = ReferencedRoundTrips()
  /// Whether `current` comes from RTCP, which is better than what anything else measures.
  private var isReported = false
  /// The newest reference times that left.
  private var marks: (Mark?, Mark?) = (nil, nil)
  /// The peer's reference times that wait for an answer.
  private var heard: [Heard] = []

  private static let maximumHeard = 24

  private struct Mark {
    /// Of its NTP time.
    var middle: UInt32
    var sentAt: Instant
  }

  private struct Heard {
    var ssrc: UInt32
    var middle: UInt32
    var arrivedAt: Instant
  }

  /// Takes a round trip from elsewhere, such as ICE's checks; whether it is news. RTCP knows better.
  mutating func note(_ measured: Duration) -> Bool {
    guard !isReported, measured != current else { return false }
    current = measured
    return true
  }

  /// Takes one that RTCP shows.
  mutating func report(_ measured: Duration) {
    isReported = true
    current = measured
  }

  // MARK: Our reference times

  /// A reference time of ours leaves.
  mutating func sent(_ ntp: NTPTime, at now: Instant) {
    marks = (Mark(middle: ntp.middle, sentAt: now), marks.0)
  }

  /// An answer came. Measured by our own clock: of the peer's only a difference counts.
  ///
  /// - Returns: the round trip; nil where it answers nothing that we remember.
  mutating func answered(_ delay: RTCPReceiverDelay, at now: Instant) -> Duration? {
    guard delay.lastReferenceTime != 0 else { return nil }
    for case let mark? in [marks.0, marks.1] where mark.middle == delay.lastReferenceTime {
      let held = Int64(delay.delay) * 1_000_000_000 / 65_536
      let measured = Duration.nanoseconds(max(0, now.nanoseconds(since: mark.sentAt) &- held))
      referenced.latest = measured
      referenced.total += measured
      referenced.count += 1
      report(measured)
      return measured
    }
    return nil
  }

  // MARK: The peer's

  /// A reference time of the peer's came; of each source the newest is answered.
  mutating func heard(_ ntp: NTPTime, from ssrc: UInt32, at now: Instant) {
    heard.removeAll { $0.ssrc == ssrc }
    if heard.count == Self.maximumHeard { heard.removeFirst() }
    heard.append(Heard(ssrc: ssrc, middle: ntp.middle, arrivedAt: now))
  }

  var owesAnswers: Bool { !heard.isEmpty }

  /// The answers for the report that leaves now; each is given once.
  mutating func takeAnswers(at now: Instant) -> [RTCPReceiverDelay] {
    defer { heard.removeAll(keepingCapacity: true) }
    return heard.map { item in
      let elapsed = max(0, min(now.nanoseconds(since: item.arrivedAt), 65_535_000_000_000))
      return RTCPReceiverDelay(
        ssrc: item.ssrc, lastReferenceTime: item.middle,
        delay: UInt32(truncatingIfNeeded: (elapsed << 16) / 1_000_000_000))
    }
  }
}
