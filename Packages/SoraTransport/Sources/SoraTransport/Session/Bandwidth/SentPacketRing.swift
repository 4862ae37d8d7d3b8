import SoraMedia
import SoraWire

/// Remembers what was sent under which transport-wide sequence number until feedback about it comes.
///
/// A ring that doubles while it would forget a packet that feedback may still name, so that an idle connection holds
/// little and a busy one what it needs.
final class SentPacketRing {
  struct Entry {
    var sequence: Int64
    var sendTime: Instant
    var size: Int32
    /// -1 outside of probes.
    var probeCluster: Int32
    /// All bytes up to and with this packet, by `SendWindow`.
    var bytesUpTo: Int
    /// What it left as, until feedback tells what became of that.
    var ecn = ECNCodepoint.notECT
  }

  private static let initialCapacity = 128
  /// 8,192 packets are more than four seconds at 20 Mbit/s.
  private static let maximumCapacity = 8192
  /// Feedback about what is older is of no use.
  private static let memory = Duration.seconds(4)
  /// In `size` of a packet that feedback has reported as received, and of no packet.
  private static let reported: Int32 = -1

  @safe @exclusivity(unchecked) private var entries: [Entry] = []
  /// The next number, never wrapped.
  @safe @exclusivity(unchecked) private(set) var nextSequence: Int64 = 1

  /// Takes the next number for a packet that leaves now.
  func append(
    size: Int, probeCluster: Int?, bytesUpTo: Int = 0, ecn: ECNCodepoint = .notECT,
    at now: Instant
  ) -> Int64 {
    let sequence = nextSequence
    nextSequence += 1
    if entries.isEmpty || isNeeded(entries[slot(sequence)], at: now) { grow() }
    entries[slot(sequence)] = Entry(
      sequence: sequence, sendTime: now, size: Int32(clamping: max(0, size)),
      probeCluster: Int32(truncatingIfNeeded: probeCluster ?? -1), bytesUpTo: bytesUpTo,
      ecn: ecn)
    return sequence
  }

  /// The number whose low 16 bits feedback named: the newest such that was sent.
  func extend(_ number: UInt16) -> Int64 {
    let newest = nextSequence - 1
    return newest - Int64(UInt16(truncatingIfNeeded: newest) &- number)
  }

  /// What is known of a sent packet that no feedback has reported as received yet.
  func unreported(_ sequence: Int64) -> Entry? {
    guard sequence > 0, !entries.isEmpty else { return nil }
    let entry = entries[slot(sequence)]
    return entry.sequence == sequence && entry.size != Self.reported ? entry : nil
  }

  /// Whether feedback has said that the packet arrived; false where nothing is known of it any more.
  func hasArrived(_ sequence: Int64) -> Bool {
    guard sequence > 0, !entries.isEmpty else { return false }
    let entry = entries[slot(sequence)]
    return entry.sequence == sequence && entry.size == Self.reported
  }

  /// When a packet left; nil where nothing is known of it.
  func sendTime(of sequence: Int64) -> Instant? {
    guard sequence > 0, sequence < nextSequence, !entries.isEmpty else { return nil }
    let entry = entries[slot(sequence)]
    return entry.sequence == sequence ? entry.sendTime : nil
  }

  func markReported(_ sequence: Int64) {
    guard !entries.isEmpty, entries[slot(sequence)].sequence == sequence else { return }
    entries[slot(sequence)].size = Self.reported
  }

  /// Whether a packet left marked as ECN-capable; true once, for what feedback says of it first.
  func takeMark(of sequence: Int64) -> Bool {
    guard sequence > 0, !entries.isEmpty else { return false }
    let slot = slot(sequence)
    guard entries[slot].sequence == sequence, entries[slot].ecn != .notECT else { return false }
    entries[slot].ecn = .notECT
    return true
  }

  /// A packet leaves again, as it was but unmarked.
  func noteAgain(_ sequence: Int64, at now: Instant) {
    guard unreported(sequence) != nil else { return }
    entries[slot(sequence)].sendTime = now
    entries[slot(sequence)].ecn = .notECT
  }

  private func slot(_ sequence: Int64) -> Int { Int(sequence) & (entries.count - 1) }

  private func isNeeded(_ entry: Entry, at now: Instant) -> Bool {
    entries.count < Self.maximumCapacity && entry.size != Self.reported
      && now - entry.sendTime < Self.memory
  }

  private func grow() {
    let old = entries
    entries = Array(
      repeating: Entry(
        sequence: -1, sendTime: .zero, size: Self.reported, probeCluster: -1, bytesUpTo: 0),
      count: max(Self.initialCapacity, old.count * 2))
    for entry in old where entry.sequence > 0 { entries[slot(entry.sequence)] = entry }
  }
}
