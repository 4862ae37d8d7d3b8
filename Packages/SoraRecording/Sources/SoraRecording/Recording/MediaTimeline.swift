package import SoraMedia

/// Puts the frames of one stream's tracks on one clock: this machine's, as if the network took no time.
///
/// A track's RTP timestamps say how far its frames are apart; how the tracks belong together is what the sender's reports say,
/// which tie both to its wall clock (RFC 3550 §6.4.1), and where there are none, their arrival. What ties them is followed
/// slowly, so that times neither jitter nor jump. Sans-I/O, plain memory.
package struct MediaTimeline: Sendable {
  /// The shortest difference of the last seconds between when something came and when it was sent: that of the fastest packet.
  private struct FastestTransit: Sendable {
    private var newer: Int64?
    private var older: Int64?
    private var begun: Int64 = 0
    private static let half: Int64 = 8_000_000_000

    /// Notes a difference, and returns the shortest.
    mutating func note(_ difference: Int64, at now: Int64) -> Int64 {
      if newer == nil || now &- begun > Self.half {
        older = newer
        newer = difference
        begun = now
      }
      newer = min(newer ?? difference, difference)
      return min(newer ?? difference, older ?? difference)
    }
  }

  /// A value that follows another one, by 2 % of the time that passes at most.
  private struct Slewed: Sendable {
    private(set) var value: Int64?
    private var last: Int64 = 0
    /// What differs less is jitter of the measurement.
    private static let deadBand: Int64 = 3_000_000
    /// What differs more is another clock.
    private static let jump: Int64 = 500_000_000

    mutating func follow(_ target: Int64, at now: Int64) -> Int64 {
      let step = max(0, now &- last) / 50
      last = max(last, now)
      guard let value, (target &- value).magnitude < UInt64(Self.jump) else {
        self.value = target
        return target
      }
      let difference = target &- value
      let excess = max(0, abs(difference) - Self.deadBand)
      let moved = value &+ (difference < 0 ? -1 : 1) * min(excess, step)
      self.value = moved
      return moved
    }
  }

  private struct Track: Sendable {
    var clockRate: Int64
    var lastTimestamp: UInt32?
    var lastReceived: Int64 = 0
    /// Timestamps without their wrapping, in nanoseconds since the first.
    var ticks: Int64 = 0
    var transit = FastestTransit()
    var offset = Slewed()
  }

  private var tracks: [Track]
  private var senderTransit = FastestTransit()
  private var senderOffset = Slewed()
  /// Reports one after the other whose clock is another than before.
  private var strangeReports = 0

  /// A source whose timestamps differ by more from the time that has passed has begun anew, or stood still.
  private static let restart: Int64 = 5_000_000_000
  /// The sender's clock may be off by this from what it was before it is taken for another.
  private static let strange: Int64 = 2_000_000_000
  private static let strangeReportsTaken = 100

  /// - Parameter clockRates: ticks per second of each track.
  package init(clockRates: [Int]) {
    tracks = clockRates.map { Track(clockRate: Int64(max(1, $0))) }
  }

  /// A track's frames come from another source from now on.
  package mutating func restart(track: Int) {
    tracks[track] = Track(clockRate: tracks[track].clockRate)
    // Its sender has a clock of its own.
    senderTransit = FastestTransit()
    senderOffset = Slewed()
  }

  /// When a frame was captured, on this machine's clock.
  ///
  /// - Parameter track: of `clockRates`.
  package mutating func time(of frame: EncodedTrackFrame, track: Int) -> Instant {
    let received = frame.receiveTime.nanoseconds
    let position = advance(track, frame.frame.rtpTimestamp, received)
    // A packet of audio leaves when its last sample is there, and its timestamp is that of the first.
    let length = frame.codec == .opus ? OpusTime.duration(of: frame.frame.payload.span) : .zero
    var target = tracks[track].transit.note(
      received &- length.wholeNanoseconds &- position, at: received)
    if let capture = frame.captureTime?.wholeNanoseconds, let offset = follow(capture, received) {
      target = capture &+ offset &- position
    }
    return Instant(nanoseconds: position &+ tracks[track].offset.follow(target, at: received))
  }

  /// Where a timestamp is in its track, in nanoseconds.
  private mutating func advance(_ index: Int, _ timestamp: UInt32, _ received: Int64) -> Int64 {
    let track = tracks[index]
    if let last = track.lastTimestamp {
      let step = Int64(Int32(bitPattern: timestamp &- last))
      let passed = received &- track.lastReceived
      if abs(step * 1_000_000_000 / track.clockRate &- passed) > Self.restart {
        tracks[index].transit = FastestTransit()
        tracks[index].offset = Slewed()
      }
      tracks[index].ticks &+= step
    }
    tracks[index].lastTimestamp = timestamp
    tracks[index].lastReceived = received
    let (seconds, rest) = tracks[index].ticks.quotientAndRemainder(dividingBy: track.clockRate)
    return seconds &* 1_000_000_000 &+ rest * 1_000_000_000 / track.clockRate
  }

  /// How much later this machine's clock is than the sender's; nil where the report can't be right.
  private mutating func follow(_ capture: Int64, _ received: Int64) -> Int64? {
    let difference = received &- capture
    if let offset = senderOffset.value, (difference &- offset).magnitude > UInt64(Self.strange) {
      strangeReports += 1
      guard strangeReports > Self.strangeReportsTaken else { return nil }
      senderTransit = FastestTransit()
    }
    strangeReports = 0
    return senderOffset.follow(senderTransit.note(difference, at: received), at: received)
  }
}
