public import SoraCongestion
public import SoraMedia
public import SoraRTP
public import SoraWire

/// Whose packets a `SendController` lets go. It keeps them; the controller only says when.
public protocol PacedPacketSource: AnyObject {
  /// Whether some packet can be sent again to fill a probe.
  var canPad: Bool { get }
  /// Sends the packet of a token now; one that isn't stored any more is counted and left out.
  func send(_ token: PacketToken, at now: Instant)
  /// Sends some stored packet again. Returns its bytes; nil where there is none.
  func sendPadding(at now: Instant) -> Int?
}

/// What may leave one transport, and when: the bandwidth estimate, pacing, probes with their padding, and the budget of
/// retransmissions. A client's session and each of a server's connections have one.
///
/// Sans-I/O and confined to its owner. Nothing is allocated per packet once its rings have grown.
public final class SendController {
  public struct Configuration: Sendable, Equatable {
    public var estimator: BandwidthEstimator.Configuration
    public var pacer: Pacer.Configuration
    /// Whether packets are paced before the receiver has said anything about them. A forwarding server doesn't: what it
    /// sends was paced by its publisher, and the first frame shouldn't wait for an estimate.
    public var pacesBeforeFeedback: Bool
    /// What packets leave as whose feedback tells of marks, where the path carries them.
    public var ecn: ECNCodepoint

    public init(
      estimator: BandwidthEstimator.Configuration = BandwidthEstimator.Configuration(),
      pacer: Pacer.Configuration = Pacer.Configuration(), pacesBeforeFeedback: Bool = true,
      ecn: ECNCodepoint = .ect1
    ) {
      self.estimator = estimator
      self.pacer = pacer
      self.pacesBeforeFeedback = pacesBeforeFeedback
      self.ecn = ecn
    }
  }

  public struct Statistics: Sendable, Equatable {
    /// Requests for packets refused because retransmissions had used up their share.
    public var retransmissionsRefused = 0
    /// Requests for packets that had arrived by then, as feedback says: they had only been overtaken.
    public var retransmissionsNotNeeded = 0
    /// Packets that the pacer had no room for.
    public var pacerFull = 0
    /// Times that packets were held back because too many were unanswered.
    public var timesHeld = 0
    /// Feedback messages about single packets.
    public var feedbackMessages: UInt64 = 0
    /// The receiver's own estimate (REMB); nil before one came.
    public var receiverEstimate: Bitrate?
  }

  /// What became of a request for a packet.
  public enum Retransmission: Sendable, Hashable {
    case queued
    /// Waits for feedback that may make it needless.
    case held
    /// It has arrived meanwhile.
    case arrived
    case overBudget
    case pacerFull
  }

  /// What waits for longer isn't a key frame on a link that takes it.
  private static let longWait = Duration.milliseconds(120)

  /// What leaves faster than the link takes it is a queue that those of L4S mark. Of the factors tried, the one that used most.
  private static let scalablePacing = 1.25

  /// How long after a packet that is sent again its copy leaves: later than a short burst of loss.
  private static let copyDelay = Duration.milliseconds(8)

  public var statistics: Statistics { counters }
  @safe @exclusivity(unchecked) private var counters = Statistics()
  private let estimator: BandwidthEstimator
  private let pacer: Pacer
  private let pacesBeforeFeedback: Bool
  // Changed with every packet: as classes they are, the accesses needn't be checked for overlaps.
  private let window = SendWindow()
  private let sent: SentPackets
  @safe @exclusivity(unchecked) private var budget = RetransmissionBudget()
  private var reordering = ReorderingMeter()
  private var held = RetransmissionQueue()
  private var isHeld = false
  /// The number of the newest feedback message.
  private var lastFeedback: UInt8?
  /// Whether the receiver has said anything that the estimate can stand on.
  private var isSteered = false
  /// What is sent, where there is no estimate to measure a budget by.
  @safe @exclusivity(unchecked) private var sending = RecentBytes(memory: .seconds(1))
  private var firstSent: Instant?

  public init(configuration: Configuration) {
    estimator = BandwidthEstimator(configuration: configuration.estimator)
    pacesBeforeFeedback = configuration.pacesBeforeFeedback
    sent = SentPackets(window: window, ecn: configuration.ecn)
    pacer = Pacer(
      rate: configuration.pacesBeforeFeedback ? configuration.estimator.start : .unlimited,
      configuration: configuration.pacer)
  }

  // MARK: What is known

  /// What the network is believed to take, everything included.
  public var estimate: Bitrate { estimator.estimate }
  /// The estimate where the receiver has given it something to stand on; nil before.
  public var knownEstimate: Bitrate? { isSteered ? estimator.estimate : nil }
  /// What is left of the estimate for packets that are new.
  public func available(at now: Instant) -> Bitrate { budget.rest(of: estimator.estimate, at: now) }
  /// How long what waits in the pacer would take at the estimate's rate.
  public var backlog: Duration {
    guard isSteered || pacesBeforeFeedback else { return .zero }
    return .nanoseconds(estimator.estimate.nanoseconds(forBytes: Double(pacer.queuedBytes)))
  }

  /// How long what waits in the pacer has waited, on average.
  public func waiting(at now: Instant) -> Duration { pacer.averageWait(at: now) }

  /// The round trip of the latest feedback, with what queues now; nil without feedback.
  public var latestRoundTrip: Duration? { estimator.latestRoundTrip }

  /// The most that the application can use; the path isn't probed for more.
  public func setMaximum(_ rate: Bitrate, at now: Instant) { estimator.setMaximum(rate, at: now) }

  /// At which multiple of the estimate packets leave: more keeps frames together, less keeps the queue of a full link short.
  public func setPacingFactor(_ factor: Double) { pacer.setFactor(factor) }

  /// What the packets to come take, where that has a rate of its own and all of it is sent; nil where it follows the estimate. No more
  /// will be unanswered than suits it.
  public func setUseful(_ rate: Bitrate?) { window.useful = rate }

  /// What is known of marks on the path, from feedback by source.
  public var ecnState: ECNValidation.State { sent.ecnState }
  /// What the IP header of the next packet is to say, if its feedback tells of marks.
  public var codepoint: ECNCodepoint { sent.codepoint }

  // MARK: Sending

  /// Lets a stored packet leave when the pacer says so; call `drain` behind it. False where too many wait: the packet is
  /// dropped.
  public func enqueue(
    _ token: PacketToken, size: Int, priority: Pacer.Priority, at now: Instant
  ) -> Bool {
    guard pacer.enqueue(size: size, priority: priority, token: token.value, at: now) else {
      counters.pacerFull += 1
      return false
    }
    return true
  }

  /// Forgets what of a stream waits in the pacer.
  ///
  /// - Parameters:
  ///   - stream: the stream's slot, as in its tokens.
  ///   - isNeedless: is asked of each packet, and says whether it won't leave.
  public func discard(stream: Int, where isNeedless: (PacketToken) -> Bool) {
    pacer.removePaced { value in
      let token = PacketToken(value)
      return token.stream == stream && isNeedless(token)
    }
  }

  /// A key frame was queued: it may leave in one go while answers come in time, though it is more than may be
  /// unanswered otherwise.
  public func keyFrameQueued() { window.keyFrameWaits(behind: pacer.queuedBytes) }

  /// Sends what may leave now, probes included.
  public func drain(_ source: some PacedPacketSource, at now: Instant) {
    settleHeld(at: now)
    while true {
      while let token = pacer.next(at: now) { source.send(PacketToken(token), at: now) }
      // Packets that wait fill a probe before padding does.
      if startProbes(source, at: now) { continue }
      guard pacer.paddingSize(at: now) > 0 else { return }
      guard let size = source.sendPadding(at: now) else {
        pacer.cancelProbes()
        return
      }
      pacer.paddingSent(size: size, at: now)
    }
  }

  /// Probes wait in the estimator until there is something to fill them with: audio that starts before video would use the
  /// first ones up for nothing.
  private func startProbes(_ source: some PacedPacketSource, at now: Instant) -> Bool {
    guard estimator.hasProbe, isSteered || pacesBeforeFeedback, source.canPad else { return false }
    var isStarted = false
    while let probe = estimator.nextProbe(at: now) {
      pacer.startProbe(probe, at: now)
      isStarted = true
    }
    return isStarted
  }

  /// Gives a packet that leaves now its transport-wide number.
  ///
  /// - Parameters:
  ///   - size: bytes of the plain packet.
  ///   - source: what feedback by source (RFC 8888) names it by; nil where the packet carries the number.
  ///   - now: the present time.
  /// - Returns: the number, extended; packets carry its low 16 bits.
  public func number(
    packetOf size: Int, source: (ssrc: UInt32, number: UInt16)? = nil, at now: Instant
  ) -> Int64 {
    let sequence = sent.append(
      size: size, probeCluster: pacer.probeCluster, source: source, at: now)
    estimator.packetSent(sequence: sequence, size: size, at: now, probeCluster: pacer.probeCluster)
    sending.add(size, at: now)
    if firstSent == nil { firstSent = now }
    applyWindow(at: now)
    return sequence
  }

  /// Holds packets back while too much is unanswered.
  private func applyWindow(at now: Instant) {
    guard !window.isOpen, counters.feedbackMessages > 0, let roundTrip = estimator.answerTime,
      window.isFull(estimate: estimator.estimate, roundTrip: roundTrip, at: now)
    else {
      pacer.release(at: now)
      isHeld = false
      return
    }
    if !isHeld { counters.timesHeld += 1 }
    isHeld = true
    pacer.hold(until: now + SendWindow.trickle, sending: sending.rate(at: now), at: now)
  }

  /// A packet leaves again under its old number: feedback is about this time then.
  func sentAgain(_ sequence: Int64, at now: Instant) { sent.noteAgain(sequence, at: now) }

  /// The number that `number(packetOf:at:)` gives out next.
  public var nextSequence: Int64 { sent.nextSequence }

  /// A packet left without waiting in the pacer: it counts against what the others may send.
  public func sentUnpaced(_ size: Int, at now: Instant) { pacer.sentUnpaced(size, at: now) }

  // MARK: Retransmissions

  /// The receiver misses a packet that is still stored. What is sent again keeps to a share of the estimate: beyond it, it
  /// would only lengthen the queue that lost the packet. Where no queue is, and much is lost by chance, it is sent twice: what
  /// is lost a second time costs another round trip, and pictures wait for the last of their packets.
  ///
  /// - Parameters:
  ///   - token: the packet.
  ///   - size: bytes of the plain packet.
  ///   - transportSequence: the number that the packet left under last; nil without transport-wide numbers.
  ///   - now: the present time.
  public func retransmit(
    _ token: PacketToken, size: Int, transportSequence: Int64?, at now: Instant
  ) -> Retransmission {
    if let transportSequence {
      guard !sent.hasArrived(transportSequence) else {
        counters.retransmissionsNotNeeded += 1
        return .arrived
      }
      let patience = reordering.patience
      if patience > .zero,
        held.append(
          .init(
            token: token, transportSequence: transportSequence, size: size, due: now + patience))
      {
        return .held
      }
    }
    let outcome = queue(token, size: size, at: now)
    if outcome == .queued, let transportSequence, estimator.losesByChance(at: now) {
      _ = held.append(
        .init(
          token: token, transportSequence: transportSequence, size: size,
          due: now + Self.copyDelay))
    }
    return outcome
  }

  /// Whether feedback says that a packet has arrived; false where nothing is known of it any more.
  public func hasArrived(_ transportSequence: Int64) -> Bool { sent.hasArrived(transportSequence) }

  private func queue(_ token: PacketToken, size: Int, at now: Instant) -> Retransmission {
    // Without a signal there is no estimate to keep to: the share is one of what is sent for the first time.
    let rate =
      isSteered || pacesBeforeFeedback
      ? estimator.estimate : sending.rate(at: now) - budget.spent(at: now)
    guard budget.allows(rate, at: now) else {
      counters.retransmissionsRefused += 1
      return .overBudget
    }
    budget.spend(size, at: now)
    guard pacer.enqueue(size: size, priority: .retransmission, token: token.value, at: now) else {
      counters.pacerFull += 1
      return .pacerFull
    }
    return .queued
  }

  private func settleHeld(at now: Instant) {
    guard !held.isEmpty else { return }
    counters.retransmissionsNotNeeded += held.settle(
      at: now, hasArrived: { sent.hasArrived($0) },
      send: { entry in _ = queue(entry.token, size: entry.size, at: now) })
  }

  /// Forgets what a stream that ended had waiting: its owner sends none of it, and others would wait for the time that it takes.
  public func forget(stream: Int) {
    held.removeAll(of: stream)
    discard(stream: stream) { _ in true }
  }

  /// Forgets what a source that ended has sent.
  public func forget(ssrc: UInt32) { sent.forget(ssrc: ssrc) }

  // MARK: What the receiver says

  /// Transport-wide feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01).
  public func received(_ message: TransportFeedback, at now: Instant) {
    counters.feedbackMessages &+= 1
    if let last = lastFeedback, message.feedbackCount != last &+ 1 { window.feedbackLost(at: now) }
    lastFeedback = message.feedbackCount
    sent.read(message)
    takeResults(at: now)
  }

  /// Feedback by source (RFC 8888).
  public func received(_ message: RTCPCongestionFeedback, at now: Instant) {
    counters.feedbackMessages &+= 1
    sent.read(message)
    pacer.limitFactor(to: sent.isScalable ? Self.scalablePacing : nil)
    takeResults(at: now)
  }

  private func takeResults(at now: Instant) {
    let results = sent.results
    guard !results.isEmpty else { return }
    if !isSteered, !pacesBeforeFeedback { startFromWhatIsSent(at: now) }
    isSteered = true
    reordering.note(results)
    estimator.feedback(
      results, isReordering: reordering.patience > .zero,
      isBacklogged: waiting(at: now) > Self.longWait, at: now)
    applyWindow(at: now)
    applyEstimate()
  }

  /// What already flows is the best first guess: a link that has less says so within a second.
  private func startFromWhatIsSent(at now: Instant) {
    guard let firstSent else { return }
    let elapsed = max(100_000_000, now.nanoseconds(since: firstSent))
    let rate = Bitrate(
      bitsPerSecond: Int(sending.count(at: now) * 8e9 / Double(min(elapsed, 1_000_000_000))))
    if rate * 1.2 > estimator.estimate { estimator.startOver(at: rate * 1.2) }
  }

  /// The receiver's own estimate (REMB).
  public func received(receiverEstimate rate: Bitrate, at now: Instant) {
    counters.receiverEstimate = rate
    isSteered = true
    estimator.receiverEstimate(rate, at: now)
    applyEstimate()
  }

  /// A report block about a video stream. Its loss steers only where no transport-wide feedback comes.
  public func received(lossFraction: Double, at now: Instant) {
    if !isSteered, lossFraction > 0.1 {
      isSteered = true
      estimator.startOver(at: sending.rate(at: now))
    }
    estimator.lossReport(fraction: lossFraction, at: now)
    applyEstimate()
  }

  /// A round-trip time that reports show.
  public func received(roundTrip: Duration) { estimator.roundTripReport(roundTrip) }

  // MARK: Time

  /// The path is gone, and with it all that was on the way. What waited for it is too old for another.
  public func pathLost() {
    pacer.removeAll()
    sent.pathLost()
    isHeld = false
  }

  /// Lets timers run; call `drain` behind it.
  public func poll(at now: Instant) {
    guard let deadline = estimator.nextDeadline, deadline <= now else { return }
    estimator.poll(at: now)
    applyEstimate()
  }

  /// When `poll` and `drain` want to be called next.
  public var nextDeadline: Instant? {
    earliest(earliest(pacer.nextDeadline, held.nextDeadline), estimator.nextDeadline)
  }

  private func applyEstimate() {
    if isSteered || pacesBeforeFeedback { pacer.setRate(estimator.estimate) }
  }
}
