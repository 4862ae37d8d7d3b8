/// When the playout is stretched, and how alike its parts have to be for that. Delays are in nanoseconds.
struct StretchPace {
  private var delays = DelayHistory()
  private var pullsUntilNext = 0
  /// Times in a row that no part was like another.
  private var failures = 0

  /// The least delay of the last pulls; nil until there were enough.
  var delay: Int64? { delays.minimum }

  /// How alike parts have to be that may be as long as any. Music and noise resemble themselves less than speech does: less is asked
  /// for with each failure.
  var threshold: Float { max(0.3, Self.likeness - 0.03 * Float(failures)) }

  /// How alike they have to be at first.
  static let likeness: Float = 0.9

  /// Takes the delay of a pull.
  ///
  /// - Returns: the delay that counts; nil where it isn't time yet.
  mutating func add(_ delay: Int64) -> Int64? {
    delays.add(delay)
    pullsUntilNext -= 1
    return pullsUntilNext <= 0 ? delays.minimum : nil
  }

  /// The delay is right.
  mutating func settle() { failures = 0 }

  /// The playout was stretched, which made the delay longer by `change`: 0 where that failed.
  mutating func stretched(by change: Int64, pause pulls: Int) {
    pullsUntilNext = pulls
    failures = change == 0 ? failures + 1 : 0
    delays.shift(change)
  }

  /// No part was like another among those that were short enough, which says nothing of longer ones.
  mutating func postpone(pause pulls: Int) { pullsUntilNext = pulls }

  /// The timeline has jumped: earlier delays mean nothing any more.
  mutating func clear() { delays.clear() }
}

/// The playout delay at the last pulls. A device may pull unevenly; what counts is the least.
private struct DelayHistory {
  private static let length = 10
  private var values: [Int64] = []
  private var position = 0

  init() { values.reserveCapacity(Self.length) }

  /// The least of the last pulls; nil until there were enough.
  var minimum: Int64? { values.count == Self.length ? values.min() : nil }

  mutating func add(_ value: Int64) {
    if values.count < Self.length {
      values.append(value)
    } else {
      values[position] = value
    }
    position = (position + 1) % Self.length
  }

  mutating func shift(_ amount: Int64) {
    for index in values.indices { values[index] &+= amount }
  }

  mutating func clear() {
    values.removeAll(keepingCapacity: true)
    position = 0
  }
}
