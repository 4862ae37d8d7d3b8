package import SoraMedia

/// Whether a simulcast layer's frames come: encoders that starve leave layers out without a word. Plain memory.
package struct LayerFlow {
  /// A layer that has come for so long is measured, and is expected to go on.
  static let ripening = Duration.seconds(1)
  /// A layer has stopped when another one's frames have come for so long without it, and for so many frames.
  private static let longestSilence = Duration.milliseconds(150)
  private static let missedFrames = 4.0
  /// How far back a timestamp is a late packet's, in ticks of 90 kHz: ten seconds. Further back it is a clock that was set, or that has
  /// gone on for half of its range while nothing came.
  private static let latest: UInt32 = 900_000

  package private(set) var isFlowing = false
  private var since = Instant.zero
  /// When the newest two frames began.
  private var newest = Instant.zero
  private var previous: Instant?
  private var timestamp: UInt32?

  package init() {}

  /// Whether it may be trusted to go on.
  func isRipe(at now: Instant) -> Bool { isFlowing && now - since >= Self.ripening }

  /// A packet came.
  ///
  /// - Returns: whether it begins a frame.
  package mutating func take(_ timestamp: UInt32, at now: Instant) -> Bool {
    if let known = self.timestamp, known &- timestamp <= Self.latest { return false }
    self.timestamp = timestamp
    previous = isFlowing ? newest : nil
    newest = now
    return true
  }

  /// Its source began anew, with timestamps of its own.
  mutating func rebase() { timestamp = nil }

  /// - Returns: whether it didn't flow before.
  package mutating func begin(at now: Instant) -> Bool {
    guard !isFlowing else { return false }
    isFlowing = true
    since = now
    return true
  }

  mutating func stop() {
    isFlowing = false
    previous = nil
  }

  /// Whether this layer's frames come while the other's don't. The last but one counts: those of one instant come one after the
  /// other.
  package func hasOutrun(_ other: LayerFlow) -> Bool {
    guard let previous else { return false }
    let longest = max(Self.longestSilence, (newest - previous) * Self.missedFrames)
    return previous - other.newest > longest
  }
}
