package import SoraMedia
package import SoraWire

/// The candidate pairs of a generation, and which of them is checked when (RFC 8445 §6.1.2, §6.1.4).
///
/// With one component in one checklist, freezing pairs of one foundation (§6.1.2.6) would only delay them; all begin as waiting.
package struct ICEChecklist {
  package enum Addition {
    case added
    /// Another had to go for it.
    case replacing
    /// There are enough that are better.
    case refused
  }

  package private(set) var pairs: [CandidatePair] = [] { didSet { version &+= 1 } }
  /// Another number whenever pairs came or went.
  package private(set) var version = 0
  private var triggered: [CandidatePair] = []
  private var pairsMade = 0
  private var checksSent = 0
  private var nextAt = Instant.zero
  private let configuration: ICEConfiguration

  package init(_ configuration: ICEConfiguration) { self.configuration = configuration }

  package func pair(from base: TransportAddress, to address: TransportAddress) -> CandidatePair? {
    pairs.first { $0.connects(base, address) }
  }

  // MARK: Which pairs there are

  /// Adds a pair, unless there are too many that are better (§6.1.2.5).
  package mutating func add(_ pair: CandidatePair) -> Addition {
    let isFull = pairs.count >= configuration.maxPairs
    if isFull {
      // The least of those not begun or left aside goes, where it is less.
      let least = pairs.indices
        .filter { [.waiting, .frozen, .failed].contains(pairs[$0].state) }
        .min { pairs[$0].priority < pairs[$1].priority }
      guard let least, pairs[least].priority < pair.priority else { return .refused }
      let evicted = pairs.remove(at: least)
      triggered.removeAll { $0 === evicted }
    }
    pairsMade += 1
    pair.number = pairsMade
    pairs.append(pair)
    return isFull ? .replacing : .added
  }

  package mutating func remove(where isMeant: (CandidatePair) -> Bool) {
    pairs.removeAll(where: isMeant)
    triggered.removeAll(where: isMeant)
  }

  /// Begins a generation without pairs. Their numbers go on.
  package mutating func restart() {
    pairs = []
    triggered = []
    checksSent = 0
  }

  /// Goes back to the pairs of a checklist before a restart: what was under way then is to be checked anew.
  package mutating func takeBack(_ old: ICEChecklist, at now: Instant) {
    pairs = old.pairs
    triggered = []
    checksSent = old.checksSent
    nextAt = now
    for pair in pairs where pair.state == .inProgress { pair.state = .waiting }
  }

  // MARK: Checks

  /// Whether a check is to be sent as soon as pacing allows.
  package var hasCheck: Bool { !triggered.isEmpty || pairs.contains { $0.state == .waiting } }

  /// Whether a pair is still to be checked, or is being checked.
  package var isUndecided: Bool {
    pairs.contains { $0.state == .waiting || $0.state == .inProgress }
  }

  /// When `nextCheck` has one; nil while there is none.
  package var nextCheckAt: Instant? { hasCheck ? nextAt : nil }

  /// Lets the next check go out now.
  package mutating func begin(at now: Instant) { nextAt = now }

  /// Takes the pair that is to be checked now (§6.1.4.2): triggered checks first, then the best waiting pair; one each Ta.
  ///
  /// - Returns: nil while none is due.
  package mutating func nextCheck(at now: Instant) -> CandidatePair? {
    guard nextAt <= now else { return nil }
    var next: CandidatePair?
    while next == nil, !triggered.isEmpty {
      let pair = triggered.removeFirst()
      if pair.state == .waiting { next = pair }
    }
    if next == nil {
      next = pairs.filter { $0.state == .waiting }.max { $0.priority < $1.priority }
    }
    guard let pair = next else { return nil }
    pair.state = .inProgress
    checksSent += 1
    let isFast = checksSent < configuration.fastChecks
    nextAt = now + (isFast ? configuration.fastCheckInterval : configuration.checkInterval)
    return pair
  }

  /// Has a pair checked before those that only wait (§7.3.1.4).
  package mutating func trigger(_ pair: CandidatePair) {
    pair.state = .waiting
    if !triggered.contains(where: { $0 === pair }) { triggered.append(pair) }
  }

  /// Whatever was triggered is not.
  package mutating func forgetTriggered() { triggered = [] }

  package mutating func fail(_ pair: CandidatePair) {
    pair.state = .failed
    triggered.removeAll { $0 === pair }
  }

  // MARK: What works

  /// The best valid pair, but for one.
  package func bestValid(except other: CandidatePair? = nil) -> CandidatePair? {
    pairs.filter { $0.state == .succeeded && $0 !== other }.max { $0.priority < $1.priority }
  }

  /// Whether a better pair may yet come to work.
  package func mayImprove(on pair: CandidatePair) -> Bool {
    pairs.contains {
      $0.priority > pair.priority && ($0.state == .waiting || $0.state == .inProgress)
    }
  }

  /// Leaves aside what can't become better than the selected pair (§8.1.2).
  package mutating func conclude(with selected: CandidatePair) {
    for pair in pairs where pair !== selected {
      guard pair.state == .waiting || pair.state == .inProgress else { continue }
      // A better pair may still come: of ours, or nominated by the peer.
      guard pair.priority < selected.priority else { continue }
      pair.state = .frozen
    }
    triggered.removeAll { $0.state != .waiting }
  }

  /// Lets the pairs be checked that were left aside or have failed, as far as they are worth more than `priority`.
  package mutating func revive(above priority: UInt64, at now: Instant) {
    for pair in pairs where pair.state == .frozen || pair.state == .failed {
      if pair.priority > priority { pair.state = .waiting }
    }
    nextAt = min(nextAt, now)
  }

  /// Finds out again which pairs work, but for one.
  package mutating func recheckValid(except other: CandidatePair?) {
    for pair in pairs where pair !== other && pair.state == .succeeded { trigger(pair) }
  }

  /// Begins again with all pairs.
  package mutating func startOver() {
    for pair in pairs {
      pair.state = .waiting
      pair.isNominated = false
    }
  }
}
