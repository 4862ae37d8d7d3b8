/// When the playout is stretched, and how alike its parts have to be for that. Delays and transit times are in nanoseconds.
struct StretchPace {
  /// Pulls that a pause is waited for at most: three seconds.
  private static let patience = 300

  private var transits = TransitHistory()
  /// That of the fastest packets, at the last pull.
  private var fastestTransit: Int64 = 0
  private var pullsUntilNext = 0
  /// Times in a row that no part was like another.
  private var failures = 0
  /// Pulls since there was something to take out.
  private var pullsWaited = 0

  /// The least delay of the last pulls, compared with the packets that are the fastest now; nil until there were enough.
  var delay: Int64? {
    transits.isComplete ? transits.minimum.map { $0 &- fastestTransit } : nil
  }

  /// How alike parts have to be that may be as long as any. Music and noise resemble themselves less than speech does: less is asked
  /// for with each failure.
  var threshold: Float { max(Self.leastLikeness, Self.likeness - 0.03 * Float(failures)) }

  /// How alike they have to be at first, and at least.
  static let likeness: Float = 0.9
  static let leastLikeness: Float = 0.3

  /// Takes the transit time of what a pull plays: from its sending to that pull.
  ///
  /// - Parameter fastestTransit: that of the fastest packets, to their arrival.
  /// - Returns: the least delay of the last pulls, and whether there were enough of them to rely on its being no less; nil where it isn't
  ///   time yet.
  mutating func add(_ transit: Int64, fastestTransit: Int64) -> (delay: Int64, isReliable: Bool)? {
    transits.add(transit)
    self.fastestTransit = fastestTransit
    pullsUntilNext -= 1
    guard pullsUntilNext <= 0, let least = transits.minimum else { return nil }
    return (least &- fastestTransit, transits.isComplete)
  }

  /// The delay is right.
  mutating func settle() {
    failures = 0
    pullsWaited = 0
  }

  /// Says whether to wait on for a pause, before something is taken out that somebody would hear.
  mutating func waitsForPause() -> Bool {
    pullsWaited += 1
    return pullsWaited <= Self.patience
  }

  /// The playout was stretched, which made the delay longer by `change`: 0 where that failed.
  mutating func stretched(by change: Int64, pause pulls: Int) {
    pullsUntilNext = pulls
    failures = change == 0 ? failures + 1 : 0
    transits.shift(change)
  }

  /// No part was like another among those that were short enough, which says nothing of longer ones. So little may wait for the next pause.
  mutating func postpone(pause pulls: Int) {
    pullsUntilNext = pulls
    pullsWaited = 0
  }

  /// The timeline has jumped: earlier delays mean nothing any more.
  mutating func clear() { transits.clear() }
}

/// The transit times of what the last pulls played. A device may pull unevenly; what counts is the least.
private struct TransitHistory {
  private static let length = 10
  private var values: [Int64] = []
  private var position = 0

  init() { values.reserveCapacity(Self.length) }

  /// The least of the last pulls; nil before the first.
  var minimum: Int64? { values.min() }
  var isComplete: Bool { values.count == Self.length }

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
