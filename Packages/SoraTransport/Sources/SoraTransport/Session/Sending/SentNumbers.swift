import SoraMedia

/// What became of the newest packets of one source, by their RTP sequence numbers: when each left, under which transport-wide
/// number, and when it was sent again. A ring that is there from the first packet on.
final class SentNumbers {
  struct Entry {
    var number: UInt16 = 0
    var isKnown = false
    /// Under which it left last; 0 without one.
    var transportSequence: Int64 = 0
    var firstSent = Instant.zero
    /// nil where it wasn't sent again.
    var resent: Instant?
  }

  private let capacity: Int
  @safe @exclusivity(unchecked) private var entries: [Entry] = []

  /// - Parameter capacity: a power of two.
  init(capacity: Int) { self.capacity = capacity }

  /// A packet leaves for the first time.
  func note(_ number: UInt16, transportSequence: Int64?, at now: Instant) {
    if entries.isEmpty { entries = Array(repeating: Entry(), count: capacity) }
    entries[slot(number)] = Entry(
      number: number, isKnown: true, transportSequence: transportSequence ?? 0, firstSent: now)
  }

  /// A packet leaves again.
  func noteAgain(_ number: UInt16, transportSequence: Int64?, at now: Instant) {
    guard self[number] != nil else { return }
    entries[slot(number)].transportSequence = transportSequence ?? 0
    entries[slot(number)].resent = now
  }

  /// A packet is about to leave again: until it has, it isn't asked for with effect.
  func noteRequest(_ number: UInt16, at now: Instant) {
    guard self[number] != nil else { return }
    entries[slot(number)].resent = now
  }

  subscript(number: UInt16) -> Entry? {
    guard !entries.isEmpty else { return nil }
    let entry = entries[slot(number)]
    return entry.isKnown && entry.number == number ? entry : nil
  }

  private func slot(_ number: UInt16) -> Int { Int(number) & (capacity - 1) }
}
