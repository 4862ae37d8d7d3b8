import SoraMedia

/// Remembers what was sent under which transport-wide sequence number until feedback about it comes.
struct SentPacketRing {
  struct Entry {
    var sequence: Int64
    var sendTime: Instant
    var size: Int32
    /// -1 outside of probes.
    var probeCluster: Int32
    var isReported: Bool
  }

  /// 8,192 packets are more than four seconds at 20 Mbit/s.
  private static let capacity = 8192
  private var entries: [Entry]
  /// The next number, never wrapped.
  private(set) var nextSequence: Int64 = 1

  init() {
    entries = Array(
      repeating: Entry(
        sequence: -1, sendTime: .zero, size: 0, probeCluster: -1, isReported: true),
      count: Self.capacity)
  }

  /// Takes the next number for a packet that leaves now.
  mutating func append(size: Int, probeCluster: Int?, at now: Instant) -> Int64 {
    let sequence = nextSequence
    nextSequence += 1
    entries[Int(sequence) & (Self.capacity - 1)] = Entry(
      sequence: sequence, sendTime: now, size: Int32(size),
      probeCluster: Int32(truncatingIfNeeded: probeCluster ?? -1), isReported: false)
    return sequence
  }

  /// The number whose low 16 bits feedback named: the newest such that was sent.
  func extend(_ number: UInt16) -> Int64 {
    let newest = nextSequence - 1
    return newest - Int64(UInt16(truncatingIfNeeded: newest) &- number)
  }

  /// What is known of a sent packet that no feedback has reported as received yet.
  func unreported(_ sequence: Int64) -> Entry? {
    guard sequence > 0 else { return nil }
    let entry = entries[Int(sequence) & (Self.capacity - 1)]
    return entry.sequence == sequence && !entry.isReported ? entry : nil
  }

  mutating func markReported(_ sequence: Int64) {
    entries[Int(sequence) & (Self.capacity - 1)].isReported = true
  }
}
