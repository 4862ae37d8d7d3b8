/// Notices that others keep the bottleneck's queue full, as TCP does, so that giving way would only make room for them.
///
/// Whoever is alone empties the queue by sending less, within a second or two (`SendWindow`, `QueueDrain`). Where it stays filled, and
/// wavers, though this sender has given way for seconds, somebody else fills it. Then delay says nothing of what this sender should
/// do, and it answers loss instead, as the others do, until the queue has been empty. Times in nanoseconds.
struct CompetitionWatch {
  /// A queue this long isn't empty, and one this short is.
  static let filled: Int64 = 70_000_000
  private static let empty: Int64 = 25_000_000
  /// How much a queue wavers that a window opens and closes on.
  private static let wavering: Int64 = 40_000_000
  /// How long the queue has to be filled.
  private static let patience: Int64 = 4_500_000_000
  /// A delay that stays the same for so long, at less than half of what it was, is a path that became longer. A window that has just
  /// closed makes the queue grow by no more than some 20 ms a second at first.
  private static let flatTime: Int64 = 2_000_000_000
  private static let flat: Int64 = 15_000_000
  private static let pause: Int64 = 300_000_000

  private(set) var isCompeting = false
  /// Since when the queue has been filled, and between which bounds.
  private var since: Int64?
  private var shortest: Int64 = .max
  private var longest: Int64 = 0
  private var rateThen = 0.0
  private var flatSince: Int64 = .min / 2
  private var flatRange: (low: Int64, high: Int64) = (.max, .min)
  private var lastDecrease: Int64 = .min / 2

  /// What a feedback message leads to.
  enum Verdict { case none, pathIsLonger }

  /// Takes the newest queue, as the trips above the shortest known, and the rate that arrives: alone, one has all of a narrow link.
  mutating func note(queued: Int64, rate: Double, isLimited: Bool, at now: Int64) -> Verdict {
    if queued < Self.empty {
      self = CompetitionWatch()
      return .none
    }
    if since == nil {
      guard queued > Self.filled else { return .none }
      since = now
      rateThen = rate
    }
    shortest = min(shortest, queued)
    longest = max(longest, queued)
    rateThen = max(rateThen, rate)
    if isCompeting { return judgeFlatness(queued, at: now) }
    if shortest < Self.filled {
      // Nearly empty: begin anew.
      since = nil
      shortest = .max
      longest = 0
    } else if let since, now &- since > Self.patience, longest &- shortest > Self.wavering,
      rate < 0.5 * rateThen, !isLimited
    {
      isCompeting = true
      flatSince = now
    }
    return .none
  }

  private mutating func judgeFlatness(_ queued: Int64, at now: Int64) -> Verdict {
    let low = min(flatRange.low, queued)
    let high = max(flatRange.high, queued)
    if high &- low > Self.flat {
      flatRange = (queued, queued)
      flatSince = now
    } else {
      flatRange = (low, high)
    }
    guard now &- flatSince > Self.flatTime, high < longest / 2 else { return .none }
    self = CompetitionWatch()
    return .pathIsLonger
  }

  /// Whether a loss is to be answered: one in a round trip.
  mutating func answersLoss(roundTrip: Int64, at now: Int64) -> Bool {
    guard isCompeting, now &- lastDecrease > roundTrip &+ Self.pause else { return false }
    lastDecrease = now
    return true
  }
}
