/// Whether and how far a stream was played, on the sender's timeline: in samples of each channel, continued beyond 32 bits.
struct PlayoutPosition {
  private(set) var phase = PlayoutPolicy.Phase.starting
  /// The timestamp behind what was decoded, restored or given up last.
  private(set) var expected: Int64 = 0
  /// The number of the packet that was decoded last.
  private(set) var lastSequenceNumber: Int64 = 0
  /// Samples that were made up behind `expected`, while nobody knows whether anything is missing.
  private(set) var generated = 0

  /// Whether something comes after its time.
  func isPast(_ timestamp: Int64) -> Bool { phase != .starting && timestamp < expected }

  /// Behind everything that was made for the output.
  var end: Int64 { expected &+ Int64(generated) }

  mutating func decoded(_ sequenceNumber: Int64, timestamp: Int64, count: Int) {
    lastSequenceNumber = sequenceNumber
    expected = timestamp &+ Int64(count)
  }

  /// What is missing was restored or given up.
  mutating func advance(by count: Int) { expected &+= Int64(count) }

  /// Goes on at a packet that doesn't continue what was played.
  mutating func jump(to timestamp: Int64) {
    phase = .playing
    expected = timestamp
    generated = 0
  }

  mutating func makeUp(_ count: Int) { generated += count }

  /// Samples were made up because the sender transmits nothing on purpose.
  mutating func makeUpComfort(_ count: Int) {
    phase = .comfort
    generated += count
  }

  /// What was made up while nothing was there counts towards the gap, now that a gap is known. Returns whether there was something.
  mutating func settle() -> Bool {
    guard generated > 0 else { return false }
    expected &+= Int64(generated)
    generated = 0
    return true
  }

  /// Waits for the first packets again. What was made up doesn't count.
  mutating func restart() {
    phase = .starting
    generated = 0
  }
}
