public import SoraMedia

/// Finds missing packets of one source and says when to ask for which of them (RFC 4585 §6.2.1).
///
/// Sans-I/O and confined: feed it every packet, ask for `nextDeadline`, and collect what is due. It allocates only
/// while its list grows.
public struct NackGenerator: Sendable {
  public struct Configuration: Sendable {
    /// How often one packet is asked for.
    public var maximumTries = 10
    /// After how long a packet is given up.
    public var maximumAge = Duration.seconds(1)
    /// How many packets may be missing; beyond that a key frame is cheaper.
    public var maximumMissing = 1000
    /// The most that reordering may delay the first request.
    public var maximumReorderingDelay = Duration.milliseconds(20)
    /// The round-trip time to assume until it is known.
    public var initialRoundTrip = Duration.milliseconds(100)

    public init() {}
  }

  public struct Statistics: Sendable, Equatable {
    /// Sequence numbers asked for, repetitions included.
    public var requested: UInt64 = 0
    /// Missing packets that came as retransmissions.
    public var recovered: UInt64 = 0
    /// Missing packets that had only been overtaken.
    public var reordered: UInt64 = 0
    /// Missing packets that weren't recovered.
    public var givenUp: UInt64 = 0
    /// Retransmissions in place that nobody waited for any more: too late, or once more.
    public var late: UInt64 = 0
    /// Times that the list overflowed.
    public var overflows: UInt64 = 0
  }

  private struct Missing {
    var sequence: Int64
    var detectedAt: Instant
    var askedAt: Instant
    var nextTry: Instant
    var tries: Int
    /// Whether the latest request is to be said once more.
    var awaitsRepetition = false
  }

  public private(set) var statistics = Statistics()
  /// Set when so much is missing that only a key frame helps. The owner resets it once it has asked for one.
  public var keyFrameNeeded = false

  /// How long after its time a packet is of use, where that is known: it isn't asked for where the answer would come later.
  public var longestUse: Duration?
  /// Whether what is sent again comes as it was, in the same stream, instead of in one of its own (RFC 4588).
  public var repairsInPlace = false

  private let configuration: Configuration
  private var extender = SequenceNumberExtender()
  /// In rising order of sequence.
  private var missing: [Missing] = []
  private var reportedRoundTrip: Int64?
  private var answers = AnswerTimes()
  /// How late overtaken packets tend to be; the first request waits for as long.
  private var reorderingDelay: Int64 = 0
  private var earliestTry: Instant?
  private var spread = LossSpread()
  private var restartCandidate: UInt16?

  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
    missing.reserveCapacity(64)
  }

  /// The round-trip time to the sender, which paces repetitions. Without it the time that answers take does: a server that only
  /// receives from a peer, and lets it check the path, learns of none.
  public mutating func setRoundTrip(_ value: Duration) {
    reportedRoundTrip = PlausibleRoundTrip.bounded(value.wholeNanoseconds)
  }

  /// Packets missing now.
  public var missingCount: Int { missing.count }

  /// A packet of the source arrived, or was restored from a retransmission.
  ///
  /// - Returns: whether it is one that was asked for, as far as that can be told.
  @discardableResult
  public mutating func received(
    sequenceNumber: UInt16, isRetransmission: Bool = false, at now: Instant
  ) -> Bool {
    guard let highest = extender.highest else {
      // A retransmission can't say where the stream stands.
      if !isRetransmission { extender.extend(sequenceNumber) }
      return false
    }
    let sequence = extender.peek(sequenceNumber)
    if sequence <= highest {
      if highest - sequence > NackGenerator.restartDistance, !isRetransmission {
        noteJump(sequenceNumber)
        return false
      }
      return remove(sequence, isRetransmission, now)
    }
    if sequence - highest > NackGenerator.restartDistance {
      if !isRetransmission { noteJump(sequenceNumber) }
      return false
    }
    restartCandidate = nil
    extender.extend(sequenceNumber)
    spread.arrived()
    let gap = Int(sequence - highest - 1)
    if gap == 0 { return false }
    if gap + missing.count > configuration.maximumMissing {
      statistics.overflows += 1
      giveUpAll()
      keyFrameNeeded = true
      return false
    }
    let firstTry = now + .nanoseconds(reorderingDelay)
    for offset in 1...gap {
      missing.append(
        Missing(
          sequence: highest + Int64(offset), detectedAt: now, askedAt: now, nextTry: firstTry,
          tries: 0))
    }
    earliestTry = SoraMedia.earliest(earliestTry, firstTry)
    return false
  }

  /// Forgets packets before `sequenceNumber`: whoever wanted them does no more.
  public mutating func discard(before sequenceNumber: UInt16) {
    let limit = extender.peek(sequenceNumber)
    var count = 0
    while count < missing.count, missing[count].sequence < limit { count += 1 }
    if count == 0 { return }
    statistics.givenUp += UInt64(count)
    missing.removeFirst(count)
    updateEarliest()
  }

  /// When `collect` will have something to do.
  public var nextDeadline: Instant? { earliestTry }

  /// Appends the sequence numbers to ask for now to `requests`, in rising order, and gives up those that were asked
  /// for too often or too long.
  public mutating func collect(into requests: inout [UInt16], at now: Instant) {
    guard let earliestTry, earliestTry <= now else { return }
    // A request less than a round trip after the last one can't have been answered; a little more covers jitter.
    let roundTrip =
      reportedRoundTrip ?? answers.mean ?? configuration.initialRoundTrip.wholeNanoseconds
    let jitter = reportedRoundTrip == nil ? answers.slack : 0
    let interval = roundTrip + max(5_000_000, roundTrip / 8, jitter)
    let maximumAge = configuration.maximumAge.wholeNanoseconds
    let maximumTries = configuration.maximumTries
    // A request that is answered after the packet's use isn't worth its bytes.
    let latestRequest = longestUse.map { $0.wholeNanoseconds - roundTrip } ?? maximumAge
    var lost: UInt64 = 0
    var asked: UInt64 = 0
    // Where much is lost, requests are, too: said twice they aren't, and who sends answers to one of them.
    let repeats = spread.isEven && interval > 4 * Self.repetitionDelay
    missing.removeAll { entry in
      guard !entry.awaitsRepetition else { return false }
      let age = now.nanoseconds(since: entry.detectedAt)
      guard age > min(maximumAge, latestRequest) || entry.tries >= maximumTries else {
        return false
      }
      // The last request gets its round trip too.
      guard entry.nextTry <= now else { return false }
      lost += 1
      return true
    }
    for index in missing.indices where missing[index].nextTry <= now {
      requests.append(UInt16(truncatingIfNeeded: missing[index].sequence))
      asked += 1
      if !missing[index].awaitsRepetition {
        if missing[index].tries == 0 { spread.lost() }
        missing[index].tries += 1
        missing[index].askedAt = now
        if repeats {
          missing[index].awaitsRepetition = true
          missing[index].nextTry = now + .nanoseconds(Self.repetitionDelay)
          continue
        }
      }
      missing[index].awaitsRepetition = false
      // More and more seldom: what a server lacks itself comes when its publisher has sent it again, however often it is asked for.
      let age = now.nanoseconds(since: missing[index].detectedAt)
      missing[index].nextTry = Instant(nanoseconds: now.nanoseconds &+ max(interval, age / 2))
    }
    statistics.requested += asked
    statistics.givenUp += lost
    updateEarliest()
  }

  private static let restartDistance: Int64 = 3000
  /// How long after it a request is repeated, in nanoseconds: longer than a short burst of loss.
  private static let repetitionDelay: Int64 = 10_000_000

  /// RFC 3550 A.1: a jump counts once the packet after it confirms it.
  private mutating func noteJump(_ sequenceNumber: UInt16) {
    guard restartCandidate == sequenceNumber else {
      restartCandidate = sequenceNumber &+ 1
      return
    }
    restartCandidate = nil
    giveUpAll()
    extender = SequenceNumberExtender()
    extender.extend(sequenceNumber)
  }

  private mutating func giveUpAll() {
    statistics.givenUp += UInt64(missing.count)
    missing.removeAll(keepingCapacity: true)
    earliestTry = nil
  }

  private mutating func remove(
    _ sequence: Int64, _ isRetransmission: Bool, _ now: Instant
  ) -> Bool {
    let index = missing.count(whilePrefix: { $0.sequence < sequence })
    guard index < missing.count, missing[index].sequence == sequence else {
      if repairsInPlace { statistics.late += 1 }
      return repairsInPlace
    }
    let entry = missing.remove(at: index)
    let isRepair = isRetransmission || repairsInPlace && entry.tries > 0
    if isRepair {
      statistics.recovered += 1
      // Which of several requests was answered can't be told, nor a repair in place from the packet itself.
      if isRetransmission, entry.tries == 1 { answers.add(now.nanoseconds(since: entry.askedAt)) }
    } else {
      statistics.reordered += 1
      let lateness = now.nanoseconds(since: entry.detectedAt)
      let limit = configuration.maximumReorderingDelay.wholeNanoseconds
      // Grows at once, shrinks slowly: a request too many costs a packet, one too late costs a round trip.
      reorderingDelay = min(
        limit, max(lateness + lateness / 4, reorderingDelay - reorderingDelay / 32))
    }
    updateEarliest()
    return isRepair
  }

  private mutating func updateEarliest() {
    var earliest: Instant?
    for entry in missing { earliest = SoraMedia.earliest(earliest, entry.nextTry) }
    earliestTry = earliest
  }
}

/// Whether losses are spread over all packets, as chance does it: a queue that overflows loses many at once, and then none.
private struct LossSpread {
  private static let span = 64
  private static let weight = 0.125
  private static let even = 0.6

  /// Share of the spans that lost something, of some eight.
  private var share = 0.0
  private var packets = 0
  private var hasLoss = false

  var isEven: Bool { share > Self.even }

  mutating func lost() { hasLoss = true }

  mutating func arrived() {
    packets += 1
    guard packets == Self.span else { return }
    share += Self.weight * ((hasLoss ? 1 : 0) - share)
    packets = 0
    hasLoss = false
  }
}

/// How long answers to requests take, smoothed as RFC 6298 §2 smooths round trips. In nanoseconds.
private struct AnswerTimes {
  /// `nil` before the first answer.
  private(set) var mean: Int64?
  private var deviation: Int64 = 0

  /// How much longer than the mean one may take.
  var slack: Int64 { 4 * deviation }

  mutating func add(_ time: Int64) {
    let time = PlausibleRoundTrip.bounded(time)
    guard let mean else { return self.mean = time }
    deviation += (abs(time - mean) - deviation) / 4
    self.mean = mean + (time - mean) / 8
  }
}
