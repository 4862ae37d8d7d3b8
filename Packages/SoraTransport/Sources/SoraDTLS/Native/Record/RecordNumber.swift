/// A record's number: the epoch counts the keys, the sequence the records under them (RFC 9147 §4).
package struct RecordNumber: Hashable, Comparable {
  var epoch: UInt64
  var sequence: UInt64

  package init(epoch: UInt64, sequence: UInt64) {
    self.epoch = epoch
    self.sequence = sequence
  }

  package static func < (a: RecordNumber, b: RecordNumber) -> Bool {
    (a.epoch, a.sequence) < (b.epoch, b.sequence)
  }

  /// The largest sequence of an epoch: 48 bits.
  static let sequenceLimit: UInt64 = (1 << 48) - 1

  /// The sequence whose low `bits` bits are known, closest to what is expected next (RFC 9147 §4.2.2).
  package static func reconstruct(_ truncated: UInt64, bits: UInt64, expected: UInt64) -> UInt64 {
    let window: UInt64 = 1 << bits
    let half = window >> 1
    let candidate = expected & ~(window - 1) | truncated & (window - 1)
    if candidate + half < expected { return candidate + window }
    if candidate > expected + half, candidate >= window { return candidate - window }
    return candidate
  }
}

/// Remembers which of the last 64 numbers of an epoch were taken (RFC 6347 §4.1.2.6).
package struct ReplayWindow {
  private static let size: UInt64 = 64

  /// The highest number so far; `nil` before the first.
  package private(set) var highest: UInt64?
  /// Bit n stands for `highest - n`.
  private var taken: UInt64 = 0

  package init() {}

  /// The number that comes next where nothing gets lost.
  package var expected: UInt64 { highest.map { $0 + 1 } ?? 0 }

  /// Whether the number is neither taken nor too old to tell.
  package func isFresh(_ number: UInt64) -> Bool {
    guard let highest, number <= highest else { return true }
    let age = highest - number
    return age < Self.size && taken & 1 << age == 0
  }

  /// Notes the number of a record that proved to be genuine.
  package mutating func take(_ number: UInt64) {
    guard let highest else {
      highest = number
      taken = 1
      return
    }
    if number > highest {
      let step = number - highest
      taken = step < Self.size ? taken << step | 1 : 1
      self.highest = number
    } else if highest - number < Self.size {
      taken |= 1 << (highest - number)
    }
  }
}
