public import SoraMedia
import SoraWire

/// Estimates how much may be sent, from what feedback says about each packet: transport-wide, or by source (RFC 8888).
///
/// Google congestion control as in draft-ietf-rmcat-gcc-02: a delay-based rate (§5: arrival-time differences, trend,
/// over-use detector, rate control) and a loss-based bound (§6), plus probing, a receiver's REMB as a cap, and a way
/// down when feedback stays away. Where peers send no transport-wide feedback, `lossReport` and REMB alone steer.
///
/// Sans-I/O and confined to its owner. Per packet and per feedback message nothing is allocated.
public final class BandwidthEstimator {
  /// Where the estimate starts and ends.
  public struct Configuration: Sendable, Equatable {
    /// The estimate before anything is known.
    public var start: Bitrate
    /// The estimate never falls below this.
    public var minimum: Bitrate
    /// The most that the application can use: the estimate and the probes stop there.
    public var maximum: Bitrate
    /// Whether probes are asked for.
    public var probes: Bool
    /// Over-use counts where packets wait in the network for at least this long. Zero suits an encoder, which follows jitter that
    /// looks like over-use at little cost; who forwards what others encode would have to leave frames out.
    public var leastQueue: Duration

    public init(
      start: Bitrate = .kilobits(500), minimum: Bitrate = .kilobits(30),
      maximum: Bitrate = .megabits(5.5), probes: Bool = true, leastQueue: Duration = .zero
    ) {
      self.leastQueue = leastQueue
      self.start = start
      self.minimum = minimum
      self.maximum = maximum
      self.probes = probes
    }
  }

  /// Counters, for statistics and tests.
  public struct Statistics: Sendable, Equatable {
    /// Times that over-use was called.
    public var overuses = 0
    /// Probes asked for, and probes that gave a result.
    public var probesRequested = 0
    public var probesMeasured = 0
    /// Times that the rate was lowered because feedback stayed away.
    public var feedbackTimeouts = 0
    /// Packets reported as arrived, and as lost when first reported.
    public var packetsAcknowledged = 0
    public var packetsLost = 0
    /// Packets reported with a mark of congestion (RFC 3168), and times that the rate was lowered for them.
    public var packetsMarked = 0
    public var markDecreases = 0
    /// Times that it was lowered because what was to be sent didn't leave.
    public var backlogDecreases = 0
  }

  /// The rate to send at, everything included.
  public var estimate: Bitrate { combined }
  /// The smoothed round-trip time, from feedback or from `roundTripReport`; `nil` before either.
  public var roundTripTime: Duration? { roundTrip.known.map { .nanoseconds($0) } }
  /// The round trip of the latest feedback: the shortest of its packets, queues included; `nil` without feedback.
  public var latestRoundTrip: Duration? {
    roundTrip.latest > 0 ? .nanoseconds(roundTrip.latest) : nil
  }
  /// How long an answer to a packet takes without a queue of this sender's own, by feedback: the shortest round-trip time of the latest
  /// three to six seconds, and where others fill the queue the smoothed one; `nil` without feedback.
  public var answerTime: Duration? {
    roundTrip.recentLeast.map {
      let time = competition.isCompeting ? max($0, roundTrip.smoothed) : $0
      return .nanoseconds(time &+ configuration.leastQueue.wholeNanoseconds / 2)
    }
  }
  /// What the delay says at the moment.
  public var usage: NetworkUsage {
    guard reported.delay.usage == .overuse, configuration.leastQueue > .zero,
      queue.standing < configuration.leastQueue.wholeNanoseconds
    else { return reported.delay.usage }
    // Jitter, it seems: nothing to go down for, nor the time to go up.
    return .underuse
  }
  /// Share of packets lost in the latest window, 0...1.
  public var lossFraction: Double { reported.loss.fraction }
  /// Whether the path loses packets without any queue that could have lost them, for some seconds: what leaves more than once comes
  /// sooner, and harms nobody.
  public func losesByChance(at now: Instant) -> Bool {
    reported.loss.isEven && queue.hasBeenEmpty(at: now.nanoseconds) && !isCompeting
  }
  /// The rate at which packets arrive; `nil` before half a second of feedback.
  public var acknowledgedRate: Bitrate? {
    reported.acknowledged.estimate.map { Bitrate(bitsPerSecond: Int($0)) }
  }
  /// Whether much less than the estimate is being sent.
  public var isApplicationLimited: Bool { limit.isLimited }
  public var statistics: Statistics { counters }
  /// Whether other flows keep the bottleneck's queue filled, so that loss steers and delay doesn't.
  public var isCompeting: Bool { competition.isCompeting }

  /// RFC 9438 §4.6: what is left after a loss.
  private static let competingDecrease = 0.7

  /// How long after a probe's result a queue this short is taken for the probe's.
  private static let probeEcho: Int64 = 300_000_000
  private static let probeQueue: Int64 = 50_000_000

  // Private, so that the compiler sees every use; what packets touch isn't checked for overlapping access.
  @safe @exclusivity(unchecked) private var combined: Bitrate
  private var counters = Statistics()
  private var configuration: Configuration
  private var lastProbeResult: Int64 = .min / 2
  private var competition = CompetitionWatch()
  private var control: RateControl
  private var reported = ReportedPackets()
  private var queue = QueueDrain()
  @safe @exclusivity(unchecked) private var limit = ApplicationLimit()
  private var probing = ProbeController()
  private var receiverCap: Bitrate?
  private var roundTrip = SmoothedRoundTrip()
  @safe @exclusivity(unchecked) private var watch = FeedbackWatch()
  private var backlog = BacklogWatch()
  private var lastLossReport: Int64?

  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
    let lowest = max(configuration.minimum, .kilobits(5))
    let highest = max(configuration.maximum, lowest)
    combined = min(max(configuration.start, lowest), highest)
    control = RateControl(
      rate: Double(combined.bitsPerSecond),
      bounds: Double(lowest.bitsPerSecond)...Double(highest.bitsPerSecond),
      isCautious: configuration.leastQueue > .zero)
  }

  /// Changes the most that the application can use, as when layers are switched on or off.
  public func setMaximum(_ maximum: Bitrate, at now: Instant) {
    let before = control.bounds.upperBound
    let highest = max(Double(maximum.bitsPerSecond), control.bounds.lowerBound)
    configuration.maximum = maximum
    control.bounds = control.bounds.lowerBound...highest
    if configuration.probes, highest > before {
      probing.maximumRaised(
        to: highest, estimate: Double(estimate.bitsPerSecond), at: now.nanoseconds)
    }
    combine()
  }

  /// Begins anew at a rate, within the bounds: what is known of the path has nothing to do with what was assumed.
  public func startOver(at rate: Bitrate) {
    control = RateControl(
      rate: min(
        max(Double(rate.bitsPerSecond), control.bounds.lowerBound), control.bounds.upperBound),
      bounds: control.bounds, isCautious: configuration.leastQueue > .zero)
    combine()
  }

  // MARK: Sending

  /// A packet with a transport-wide sequence number leaves now.
  public func packetSent(sequence: Int64, size: Int, at now: Instant, probeCluster: Int? = nil) {
    let isFirst = watch.sent(at: now.nanoseconds)
    if configuration.probes, isFirst {
      probing.start(
        Double(estimate.bitsPerSecond), maximum: control.bounds.upperBound, at: now.nanoseconds)
    }
    if probeCluster == nil { limit.sent(size, estimate: estimate, at: now.nanoseconds) }
  }

  /// Whether `nextProbe` has one.
  public var hasProbe: Bool { probing.isWaiting }

  /// The next burst to send, if one is due; hand it to `Pacer.startProbe(_:at:)`. Ask after `packetSent`, `feedback`
  /// and `poll`.
  /// - Parameter now: when the burst begins, for owners that can let a wish wait until there is something to send.
  public func nextProbe(at now: Instant? = nil) -> ProbeRequest? {
    guard let request = probing.next(at: now?.nanoseconds) else { return nil }
    reported.probes.began(request)
    counters.probesRequested += 1
    return request
  }

  // MARK: Feedback

  /// Takes what one feedback message says, in the order of sequence numbers.
  ///
  /// - Parameters:
  ///   - results: what the message says of each packet.
  ///   - isReordering: whether packets overtake each other on the path, so that short bursts say little of it, and a trend of their
  ///     delays nothing while no queue stands.
  ///   - isBacklogged: whether what is to be sent waits for longer than a key frame needs.
  ///   - now: when the message came.
  public func feedback(
    _ results: [PacketFeedback], isReordering: Bool = false, isBacklogged: Bool = false,
    at now: Instant
  ) {
    guard !results.isEmpty else { return }
    if isReordering { probing.reordered(at: now.nanoseconds) }
    watch.received()
    limit.advance(estimate, at: now.nanoseconds)
    let said = reported.add(results, isLimited: limit.isLimited, at: now)
    counters.packetsAcknowledged += said.arrived
    counters.packetsLost += said.lost
    counters.packetsMarked += said.marked
    counters.overuses += said.overuses
    roundTrip.addFeedback(said.shortestRound, at: now.nanoseconds)
    if said.shortestTrip != .max {
      queue.note(
        said.shortestTrip, packets: said.arrived, isFilled: competition.isCompeting,
        at: now.nanoseconds)
      watchCompetition(at: now.nanoseconds)
    }
    step(hasLoss: said.lost > 0, isReordering: isReordering, at: now.nanoseconds)
    watchBacklog(isBacklogged, at: now.nanoseconds)
  }

  private func watchBacklog(_ isBacklogged: Bool, at now: Int64) {
    guard
      let factor = backlog.note(
        isBacklogged: isBacklogged && isEncoder && !competition.isCompeting,
        arriving: reported.acknowledged.busyRate, estimate: Double(estimate.bitsPerSecond), at: now)
    else { return }
    control.lower(to: Double(estimate.bitsPerSecond) * factor)
    counters.backlogDecreases += 1
    combine()
  }

  /// Whether what is sent follows the estimate, bit by bit: what others encode doesn't.
  public var isEncoder: Bool { configuration.leastQueue == .zero }

  private func watchCompetition(at now: Int64) {
    // Who forwards leaves whole layers out, and is below the estimate most of the time: that isn't a lack of things to send.
    let verdict = competition.note(
      queued: queue.queued, rate: reported.acknowledged.estimate ?? 0,
      isLimited: isEncoder && limit.isLimited, at: now)
    if verdict == .pathIsLonger { queue.startOver() }
  }

  private func step(hasLoss: Bool, isReordering: Bool, at now: Int64) {
    var usage = usage
    if usage == .overuse, isReordering, queue.isEmpty {
      // A trend of delays that differ so much that packets overtake each other: what fills a queue stands in it soon.
      usage = .normal
    }
    if usage == .overuse {
      queue.overused(at: now)
    } else if queue.isFull(loss: reported.loss.fraction, at: now) {
      usage = .overuse
    }
    if isEncoder, usage == .overuse, queue.queued < Self.probeQueue,
      now &- lastProbeResult < roundTrip.smoothed &+ Self.probeEcho
    {
      // What a probe put into the queue, which empties by itself.
      usage = .underuse
    }
    switch reported.marks.update(roundTrip: roundTrip.smoothed, queued: queue.queued, at: now) {
    case .nothing: break
    case .overuse:
      usage = .overuse
      counters.markDecreases += 1
    case .reduce(let factor):
      control.scale(
        by: factor, acknowledged: reported.acknowledged.estimate, roundTrip: roundTrip.smoothed)
      if usage == .normal { usage = .underuse }
      counters.markDecreases += 1
    }
    // Not with a queue that others may fill: whether they do shows in how it wavers.
    if usage == .normal, queue.queued < CompetitionWatch.filled { roundTrip.settle(at: now) }
    if usage == .overuse || competition.isCompeting {
      probing.overused(at: now)
      reported.trains.reset()
    }
    if competition.isCompeting {
      // What the delay does is the others' doing.
      usage = .normal
      if hasLoss, competition.answersLoss(roundTrip: roundTrip.smoothed, at: now) {
        control.lower(by: Self.competingDecrease)
      }
    }
    let target = Double(estimate.bitsPerSecond)
    // What arrives says what the link takes only while enough is sent.
    let arriving =
      usage == .overuse && (limit.wasLimited(at: now) || !queue.isBusy && isEncoder)
      ? reported.acknowledged.burstRate
      : queue.isBusy ? reported.acknowledged.busyRate : reported.acknowledged.estimate
    control.update(
      usage, acknowledged: arriving, roundTrip: roundTrip.smoothed,
      isCompeting: competition.isCompeting, at: now)
    if let result = reported.probes.result() {
      let measured = result.rate
      counters.probesMeasured = reported.probes.measuredCount
      lastProbeResult = now
      if usage != .overuse {
        control.probed(measured, limit: result.limit)
        reported.acknowledged.raise(to: min(measured, control.rate))
        reported.loss.raise(to: min(measured, control.rate))
      }
      probing.measured(measured, maximum: control.bounds.upperBound, at: now)
    }
    queue.update(
      isOverused: usage == .overuse, acknowledged: arriving, roundTrip: roundTrip.latest, at: now)
    reported.loss.update(
      target: target, delayBased: control.rate, lastDecrease: control.lastDecrease,
      roundTrip: roundTrip.smoothed, at: now)
    combine()
    considerProbe(at: now)
  }

  private func considerProbe(at now: Int64) {
    guard configuration.probes, watch.hasFeedback else { return }
    let maximum = min(
      control.bounds.upperBound, Double(receiverCap?.bitsPerSecond ?? .max))
    // Trains of what others encode and pace say little: only an encoder's are this sender's own.
    let isAsking = probing.update(
      estimate: Double(estimate.bitsPerSecond), maximum: maximum, usage: usage,
      limitedSince: limit.since,
      isLossy: reported.loss.bound != nil && reported.loss.fraction > 0.02,
      showsRoom: isEncoder && reported.trains.showsRoom, at: now)
    if isAsking { reported.trains.reset() }
  }

  /// The receiver's own estimate (REMB, draft-alvestrand-rmcat-remb-03), a cap until the next one.
  public func receiverEstimate(_ rate: Bitrate, at now: Instant) {
    receiverCap = rate
    // Without feedback of its own kind this is the best there is.
    if !watch.hasFeedback { control.raise(to: Double(rate.bitsPerSecond)) }
    combine()
  }

  /// The loss of a receiver report (RFC 3550 §6.4.1), 0...1. Steers only where no transport-wide feedback comes.
  public func lossReport(fraction: Double, at now: Instant) {
    guard !watch.hasFeedback else { return }
    let elapsed = now.nanoseconds(since: Instant(nanoseconds: lastLossReport ?? now.nanoseconds))
    guard lastLossReport == nil || elapsed >= 200_000_000 else { return }
    lastLossReport = now.nanoseconds
    // draft-ietf-rmcat-gcc-02 §6.
    if fraction > 0.1 {
      control.lower(by: 1 - 0.5 * min(fraction, 1))
    } else if fraction < 0.02 {
      let growth = 1 + 0.08 * min(Double(elapsed) / 1e9, 1)
      control.raise(to: control.rate * growth + 1_000)
    }
    combine()
  }

  /// A round-trip time from RTCP reports or ICE checks, for streams without transport-wide feedback.
  public func roundTripReport(_ duration: Duration) {
    if !watch.hasFeedback { roundTrip.add(max(0, duration.wholeNanoseconds)) }
  }

  // MARK: Time

  /// Lowers the rate when feedback stays away, and looks whether a probe is due.
  public func poll(at now: Instant) {
    limit.advance(estimate, at: now.nanoseconds)
    if let deadline = timeoutDeadline, deadline <= now.nanoseconds {
      watch.timedOut(at: now.nanoseconds)
      counters.feedbackTimeouts += 1
      control.lower(by: 0.8)
      combine()
    }
  }

  /// When `poll` is wanted; `nil` while nothing is waited for.
  public var nextDeadline: Instant? {
    timeoutDeadline.map { Instant(nanoseconds: $0) }
  }

  private var timeoutDeadline: Int64? {
    guard control.rate > control.bounds.lowerBound else { return nil }
    return watch.deadline(roundTrip: roundTrip.smoothed)
  }

  private func combine() {
    var rate = control.rate
    if let bound = reported.loss.bound { rate = min(rate, bound) }
    if let drain = queue.bound { rate = min(rate, drain) }
    if let receiverCap { rate = min(rate, Double(receiverCap.bitsPerSecond)) }
    rate = min(max(rate, control.bounds.lowerBound), control.bounds.upperBound)
    combined = Bitrate(bitsPerSecond: Int(rate))
  }
}
