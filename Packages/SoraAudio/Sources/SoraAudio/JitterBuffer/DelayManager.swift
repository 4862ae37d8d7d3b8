import SoraMedia

/// How long audio is kept back, from when its packets come. Media times and delays are in nanoseconds.
struct DelayManager {
  /// Of what comes with a later packet.
  private static let longestCopyDelay: Int64 = 300_000_000

  private var estimator = ArrivalDelayEstimator()
  private var overtaken = OvertakenPackets()

  /// The transit time of the fastest packets; nil before the first.
  var fastestTransit: Int64? { estimator.fastestTransit }
  /// The delay that nearly all packets keep within.
  var targetDelay: Int64 { estimator.targetDelay }

  /// Takes note of a packet.
  ///
  /// - Parameters:
  ///   - mediaTime: of its first sample.
  ///   - isOvertaken: whether newer packets came before it.
  ///   - now: the present time.
  mutating func note(mediaTime: Int64, isOvertaken: Bool, at now: Instant) {
    if overtaken.waits(for: lateness(of: mediaTime, at: now), isOvertaken: isOvertaken) {
      estimator.add(arrival: now.nanoseconds, mediaTime: mediaTime)
    }
  }

  /// Takes note of what came with a later packet and is to be waited for.
  mutating func noteCopy(mediaTime: Int64, at now: Instant) {
    if lateness(of: mediaTime, at: now) < Self.longestCopyDelay {
      estimator.add(arrival: now.nanoseconds, mediaTime: mediaTime)
    }
  }

  /// Says that packets restore the ones before them.
  mutating func expectRedundancy() { estimator.expectRedundancy() }

  /// The sender's clock, or the path, isn't what it was.
  mutating func restart() { estimator.reset() }

  /// Another stream comes.
  mutating func reset() {
    estimator.reset()
    overtaken = OvertakenPackets()
  }

  /// How much later than the fastest packets something comes.
  private func lateness(of mediaTime: Int64, at now: Instant) -> Int64 {
    let transit = now.nanoseconds &- mediaTime
    return transit &- (estimator.fastestTransit ?? transit)
  }
}
