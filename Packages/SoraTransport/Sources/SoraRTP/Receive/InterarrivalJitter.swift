import SoraMedia

/// How unevenly the packets of a source arrive (RFC 3550 §6.4.1, A.8).
struct InterarrivalJitter: Sendable {
  /// Ticks per second of the source's RTP clock.
  private let clockRate: Int64
  /// Ticks, times 16.
  private var estimate: Int64 = 0
  private var lastTransit: Int64?
  private var lastTimestamp: UInt32?

  init(clockRate: Int) { self.clockRate = Int64(clockRate) }

  /// In units of the RTP clock.
  var ticks: UInt32 { UInt32(clamping: estimate >> 4) }

  var seconds: Double { Double(estimate) / 16 / Double(clockRate) }

  /// Packets of one frame share a timestamp and are sent in a burst; only the first of each tells about the network.
  mutating func add(_ timestamp: UInt32, at now: Instant) {
    if timestamp == lastTimestamp { return }
    lastTimestamp = timestamp
    let transit = rtpTicks(in: now.nanoseconds, at: clockRate) &- Int64(timestamp)
    defer { lastTransit = transit }
    guard let lastTransit else { return }
    // Only 32 bits of the timestamp exist, so only as many of the difference mean something.
    let difference = abs(Int64(Int32(truncatingIfNeeded: transit &- lastTransit)))
    // A jump of the source's clock isn't jitter.
    if difference > clockRate * 5 { return }
    estimate += difference - ((estimate + 8) >> 4)
  }

  /// The source began anew: the next packet has none before it.
  mutating func restart() { lastTransit = nil }
}
