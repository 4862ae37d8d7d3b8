/// Which TSNs came (RFC 9260 §6.2): the cumulative one, and a bit for each beyond it as far as a gap block can tell.
package struct DataTracker {
  package enum Verdict: Equatable {
    /// The one that the cumulative TSN waits for.
    case next
    /// Beyond a gap.
    case ahead
    case duplicate
    /// Beyond what a gap block can tell, so nothing is lost by forgetting it.
    case tooFar
  }

  /// How far from the cumulative TSN a received one can be.
  package static let span: Int64 = 65_535
  package static let duplicateLimit = 20

  package private(set) var cumulative: Int64
  /// The highest that came; not below `cumulative`.
  package private(set) var highest: Int64
  /// A bit for each TSN beyond `cumulative` up to `highest`, in a ring by its low bits: empty until there is a gap, then as large as gaps
  /// were, a power of two.
  private var bits: [UInt64] = []
  /// Those that came again since the last acknowledgement; a few of them.
  package private(set) var duplicates: [UInt32] = []

  package init(first: UInt32) {
    cumulative = Int64(first) + (1 << 32) - 1
    highest = cumulative
    duplicates.reserveCapacity(DataTracker.duplicateLimit)
  }

  package var hasGap: Bool { highest > cumulative }

  package func verdict(_ tsn: Int64) -> Verdict {
    if tsn <= cumulative { return .duplicate }
    if tsn - cumulative > DataTracker.span { return .tooFar }
    if tsn <= highest, isSet(tsn) { return .duplicate }
    return tsn == cumulative + 1 ? .next : .ahead
  }

  /// Notes a TSN of which `verdict` has said that it is new.
  package mutating func insert(_ tsn: Int64) {
    let isNext = tsn == cumulative + 1
    if !isNext, tsn - cumulative > Int64(bits.count * 64) { grow(for: Int(tsn - cumulative)) }
    if tsn > highest { highest = tsn }
    guard isNext else {
      bits[index(tsn)] |= mask(tsn)
      return
    }
    cumulative = tsn
    advance()
  }

  package mutating func noteDuplicate(_ tsn: UInt32) {
    if duplicates.count < DataTracker.duplicateLimit { duplicates.append(tsn) }
  }

  package mutating func forgetDuplicates() { duplicates.removeAll(keepingCapacity: true) }

  /// Moves the cumulative TSN on to at least `tsn` (RFC 3758 §3.6).
  package mutating func forward(to tsn: Int64) {
    guard tsn > cumulative else { return }
    let last = min(tsn, highest)
    // By words, as a gap may be wide.
    while cumulative < last {
      let first = cumulative + 1
      cumulative = min(first | 63, last)
      let passed = UInt64.max >> UInt64(63 - (cumulative - first))
      bits[index(first)] &= ~(passed << UInt64(first & 63))
    }
    cumulative = tsn
    highest = max(highest, cumulative)
    advance()
  }

  /// The first run of TSNs that came, from `tsn` on; `nil` where there is none.
  package func block(from tsn: Int64) -> ClosedRange<Int64>? {
    var first = max(tsn, cumulative + 1)
    while first <= highest, !isSet(first) {
      first = bits[index(first)] >> UInt64(first & 63) == 0 ? (first | 63) + 1 : first + 1
    }
    guard first <= highest else { return nil }
    var last = first
    while last < highest, isSet(last + 1) {
      last = last & 63 == 63 && bits[index(last + 1)] == ~0 ? min(last + 64, highest) : last + 1
    }
    return first...last
  }

  private mutating func advance() {
    while cumulative < highest, isSet(cumulative + 1) {
      cumulative += 1
      bits[index(cumulative)] &= ~mask(cumulative)
    }
  }

  /// Makes room for the TSN that is `distance` beyond `cumulative`.
  private mutating func grow(for distance: Int) {
    var size = max(1, bits.count)
    while size * 64 < distance { size *= 2 }
    let old = self
    bits = [UInt64](repeating: 0, count: size)
    var tsn = cumulative + 1
    while let block = old.block(from: tsn) {
      for set in block { bits[index(set)] |= mask(set) }
      tsn = block.upperBound + 1
    }
  }

  @inline(__always)
  private func index(_ tsn: Int64) -> Int { Int(truncatingIfNeeded: tsn >> 6) & (bits.count - 1) }
  @inline(__always)
  private func mask(_ tsn: Int64) -> UInt64 { 1 << UInt64(tsn & 63) }
  @inline(__always)
  private func isSet(_ tsn: Int64) -> Bool { bits[index(tsn)] & mask(tsn) != 0 }
}
