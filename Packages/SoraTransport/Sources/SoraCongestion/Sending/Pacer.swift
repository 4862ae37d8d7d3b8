public import SoraMedia

/// Spreads packets over time (draft-ietf-rmcat-gcc-02 §4), so that a frame doesn't arrive at the bottleneck as one burst.
///
/// Holds no packets: an entry is a token of the caller's, its size and its priority. After `enqueue`, and whenever
/// `nextDeadline` comes, take tokens with `next(at:)` until it returns `nil`, and send what they stand for at once.
/// During a probe, `paddingSize(at:)` then says how much to send besides. Confined to its owner; nothing is
/// allocated per packet once its rings have grown.
public final class Pacer {
  /// What goes first. Audio doesn't wait at all.
  public enum Priority: Int, Sendable, Hashable, CaseIterable, Comparable {
    case audio
    case retransmission
    case video
    case padding

    public static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
  }

  /// How it spreads packets.
  public struct Configuration: Sendable, Equatable {
    /// Packets leave at this multiple of the rate, so that frames don't queue up at the sender.
    public var factor: Double
    /// What may leave at once, as time at the pacing rate.
    public var burst: Duration
    /// A rate that would keep packets longer than this is raised.
    public var maximumQueueTime: Duration

    public init(
      factor: Double = 2.5, burst: Duration = .milliseconds(5),
      maximumQueueTime: Duration = .seconds(2)
    ) {
      self.factor = factor
      self.burst = burst
      self.maximumQueueTime = maximumQueueTime
    }
  }

  /// Bytes that wait.
  public var queuedBytes: Int { queues.0.bytes + queues.1.bytes + queues.2.bytes + queues.3.bytes }
  /// Packets that wait.
  public var queuedPackets: Int {
    queues.0.count + queues.1.count + queues.2.count + queues.3.count
  }
  /// The probe that what `next(at:)` or `paddingSize(at:)` returned last belongs to.
  public var probeCluster: Int? { cluster }

  private var factors: (wanted: Double, limit: Double)
  private let burst: Int64
  private let maximumQueueTime: Int64
  private var rate: Bitrate
  /// By priority. A tuple, so that a queue is changed in place.
  @safe @exclusivity(unchecked) private var queues: (PacerQueue, PacerQueue, PacerQueue, PacerQueue)
  /// Bytes sent that the pacing rate hasn't covered yet.
  @safe @exclusivity(unchecked) private var debt = 0.0
  @safe @exclusivity(unchecked) private var lastUpdate: Int64?
  private var lastSeen: Int64 = 0

  /// Keeps what isn't audio back, and probes that haven't begun.
  @safe @exclusivity(unchecked) private var held = PacerHold()

  // The probe that is being sent and those that wait for its end.
  private var cluster: Int?
  private var probe: ProbeRequest?
  private var probeStart: Int64 = 0
  private var probePackets = 0
  private var probeBytes = 0
  private var waitingProbes: [ProbeRequest] = []

  /// - Parameters:
  ///   - rate: the estimate until `setRate` says otherwise.
  ///   - configuration: how far it may send ahead.
  public init(rate: Bitrate = .kilobits(500), configuration: Configuration = Configuration()) {
    self.rate = rate
    factors = (configuration.factor, .infinity)
    burst = configuration.burst.wholeNanoseconds
    maximumQueueTime = configuration.maximumQueueTime.wholeNanoseconds
    queues = (
      PacerQueue(capacity: 16), PacerQueue(capacity: 16), PacerQueue(capacity: 16),
      PacerQueue(capacity: 16)
    )
  }

  /// Sets the estimate; packets leave at `Configuration.factor` times this.
  public func setRate(_ rate: Bitrate) { self.rate = rate }

  /// Sets `Configuration.factor`.
  public func setFactor(_ factor: Double) { factors.wanted = factor }

  /// Bounds `Configuration.factor`; nil for no bound.
  public func limitFactor(to limit: Double?) { factors.limit = limit ?? .infinity }

  private var factor: Double { min(factors.wanted, factors.limit) }

  /// Queues a packet.
  ///
  /// - Parameters:
  ///   - size: bytes that it will take on the wire.
  ///   - priority: what goes first.
  ///   - token: what `next(at:)` hands back.
  ///   - now: the present time.
  /// - Returns: false when more than 8,192 packets of the priority wait; the packet isn't taken then.
  public func enqueue(size: Int, priority: Priority, token: Int, at now: Instant) -> Bool {
    let time = now.nanoseconds
    lastSeen = max(lastSeen, time)
    // An idle pacer owes nothing from before.
    advance(to: time)
    switch priority {
    case .audio: return queues.0.push(token, size: size, at: time)
    case .retransmission: return queues.1.push(token, size: size, at: time)
    case .video: return queues.2.push(token, size: size, at: time)
    case .padding: return queues.3.push(token, size: size, at: time)
    }
  }

  /// The next packet that may leave now, or `nil`.
  public func next(at now: Instant) -> Int? {
    let time = now.nanoseconds
    advance(to: time)
    cluster = nil
    if let entry = queues.0.pop() {
      debt += Double(entry.size)
      return entry.token
    }
    if probe != nil {
      guard isProbeDue(at: time), let entry = popPaced() else { return nil }
      countProbe(Int(entry.size), at: time)
      return entry.token
    }
    guard time >= held.until, isAllowed(at: time) else { return nil }
    guard let entry = popPaced() else {
      held.emptied()
      return nil
    }
    debt += Double(entry.size)
    return entry.token
  }

  /// Keeps what isn't audio from leaving until then.
  ///
  /// - Parameters:
  ///   - instant: when the next packet may leave, unless `release(at:)` comes before.
  ///   - rate: what was sent up to now, which what waits meanwhile won't exceed by much.
  ///   - now: the present time.
  public func hold(until instant: Instant, sending rate: Bitrate, at now: Instant) {
    held.hold(until: instant.nanoseconds, sending: rate, at: now.nanoseconds)
  }

  /// Ends `hold`. What waited meanwhile follows little faster than what comes new.
  public func release(at now: Instant) { held.release(at: now.nanoseconds) }

  /// A packet left past the queues: it counts against those that wait.
  public func sentUnpaced(_ size: Int, at now: Instant) {
    advance(to: now.nanoseconds)
    debt += Double(size)
  }

  /// Forgets packets that wait and aren't audio.
  ///
  /// - Parameter isUnwanted: asked once for each, in no order that means anything. What it queues isn't kept.
  public func removePaced(where isUnwanted: (Int) -> Bool) {
    // A copy, for who is asked may call the pacer.
    var rest = queues
    rest.1.removeAll(where: isUnwanted)
    rest.2.removeAll(where: isUnwanted)
    rest.3.removeAll(where: isUnwanted)
    queues = rest
  }

  /// Forgets all that waits, and what it owes: the path that they were for is gone.
  public func removeAll() {
    while queues.0.pop() != nil {}
    while popPaced() != nil {}
    cancelProbes()
    held = PacerHold()
    debt = 0
  }

  private func popPaced() -> PacerQueue.Entry? {
    queues.1.pop() ?? queues.2.pop() ?? queues.3.pop()
  }

  // MARK: Probes

  /// Sends a burst from now on: at its own rate, of queued packets and, where there are none, of padding.
  public func startProbe(_ request: ProbeRequest, at now: Instant) {
    lastSeen = max(lastSeen, now.nanoseconds)
    if waitingProbes.count < 4 { waitingProbes.append(request) }
    startWaitingProbe(at: now.nanoseconds)
  }

  /// How many bytes of padding (or of packets sent before) the probe wants now; 0 for none. Ask when `next(at:)` returned
  /// `nil`, send that much in packets of `probeCluster`, and report each with `paddingSent(size:at:)`; ask again.
  public func paddingSize(at now: Instant) -> Int {
    let time = now.nanoseconds
    advance(to: time)
    guard let probe, queuedPackets == 0, isProbeDue(at: time) else { return 0 }
    cluster = probe.cluster
    // Enough packets matter as much as enough bytes.
    return min(1200, max(200, probe.minimumBytes / max(probe.minimumPackets, 1)))
  }

  /// A packet of padding has left.
  public func paddingSent(size: Int, at now: Instant) {
    countProbe(size, at: now.nanoseconds)
  }

  /// Gives up the probe and those that wait, as when there is nothing to pad with.
  public func cancelProbes() {
    probe = nil
    cluster = nil
    waitingProbes.removeAll(keepingCapacity: true)
  }

  private func startWaitingProbe(at time: Int64) {
    guard probe == nil, !waitingProbes.isEmpty else { return }
    probe = waitingProbes.removeFirst()
    probeStart = time
    probePackets = 0
    probeBytes = 0
  }

  private var probeDue: Int64 {
    guard let probe else { return .max }
    return probeStart &+ probe.rate.nanoseconds(forBytes: Double(probeBytes))
  }

  private func isProbeDue(at time: Int64) -> Bool { time >= probeDue }

  private func countProbe(_ size: Int, at time: Int64) {
    debt += Double(size)
    guard let current = probe else { return }
    cluster = current.cluster
    probePackets += 1
    probeBytes += size
    guard probePackets >= current.minimumPackets, probeBytes >= current.minimumBytes else { return }
    probe = nil
    startWaitingProbe(at: time)
  }

  // MARK: Budget

  /// When `next(at:)` or `paddingSize(at:)` will have something; `nil` while nothing waits.
  public var nextDeadline: Instant? {
    if queues.0.count > 0 { return Instant(nanoseconds: lastSeen) }
    if probe != nil { return Instant(nanoseconds: max(probeDue, lastSeen)) }
    guard queuedPackets > 0, let lastUpdate else { return nil }
    let excess = debt - allowance(at: lastUpdate)
    if excess <= 0 { return Instant(nanoseconds: max(lastUpdate, held.until)) }
    // A nanosecond more, so that rounding doesn't make the poll come too early.
    let due = lastUpdate &+ pacingRate(at: lastUpdate).nanoseconds(forBytes: excess) &+ 1
    return Instant(nanoseconds: max(due, held.until))
  }

  private func advance(to time: Int64) {
    lastSeen = max(lastSeen, time)
    let elapsed = max(0, time &- (lastUpdate ?? time))
    lastUpdate = max(lastUpdate ?? time, time)
    guard elapsed > 0, debt > 0 else { return }
    debt = max(0, debt - pacingRate(at: time).bytes(inNanoseconds: elapsed))
    // Bursts of audio or of a probe don't silence video for long.
    debt = min(debt, pacingRate(at: time).bytes(inNanoseconds: 500_000_000))
  }

  /// Whether no more is owed than may leave at once. What waits may raise that, and is asked only where it matters.
  private func isAllowed(at time: Int64) -> Bool {
    debt <= held.rate(rate, factor: factor, at: time).bytes(inNanoseconds: burst)
      || debt <= allowance(at: time)
  }

  private func allowance(at time: Int64) -> Double {
    pacingRate(at: time).bytes(inNanoseconds: burst)
  }

  /// How long the packets that wait have waited, on average.
  public func averageWait(at now: Instant) -> Duration {
    .nanoseconds(Int64(max(0, Double(now.nanoseconds) - averageEnqueued(at: now.nanoseconds))))
  }

  private func averageEnqueued(at time: Int64) -> Double {
    let count = queuedPackets
    guard count > 0 else { return Double(time) }
    let sum =
      queues.0.enqueuedSum + queues.1.enqueuedSum + queues.2.enqueuedSum + queues.3.enqueuedSum
    return sum / Double(count)
  }

  /// The factor times the rate, or what it takes to empty the queues within the maximum queue time.
  private func pacingRate(at time: Int64) -> Bitrate {
    guard queuedPackets > 0 else { return rate * factor }
    let enqueued = averageEnqueued(at: time)
    let base = held.rate(rate, factor: factor, at: time)
    let sinceHold = max(0, Double(time) - max(enqueued, Double(held.releasedAt)))
    let left = max(Double(maximumQueueTime) - sinceHold, 1_000_000)
    let needed = Double(queuedBytes) * 8e9 / left
    return max(base, Bitrate(bitsPerSecond: Int(min(needed, 1e12))))
  }
}
