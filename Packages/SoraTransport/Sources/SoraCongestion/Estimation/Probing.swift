/// A wish to send a short burst at a rate, to see whether the path carries it.
public struct ProbeRequest: Sendable, Hashable {
  /// Names the burst; goes with each of its packets through `packetSent` and `PacketFeedback`.
  public var cluster: Int
  /// How fast to send.
  public var rate: Bitrate
  /// The burst is done when it has at least this many packets and bytes.
  public var minimumPackets: Int
  public var minimumBytes: Int

  public init(cluster: Int, rate: Bitrate, minimumPackets: Int = 5, minimumBytes: Int) {
    self.cluster = cluster
    self.rate = rate
    self.minimumPackets = minimumPackets
    self.minimumBytes = minimumBytes
  }
}

/// Decides when to probe, and how fast.
struct ProbeController {
  private static let limitedInterval: Int64 = 5_000_000_000
  private static let steadyInterval: Int64 = 10_000_000_000
  /// Where trains of packets have shown room.
  private static let roomInterval: Int64 = 1_000_000_000
  /// Bits per second: five packets each second are too much for less.
  private static let leastForRoom = 400_000.0
  private static let recoveryInterval: Int64 = 3_000_000_000
  /// How long after over-use nothing is probed outside of recovery.
  private static let quietTime: Int64 = 5_000_000_000
  private static let patience: Int64 = 1_000_000_000
  private static let duration: Int64 = 15_000_000
  /// Where delays waver by tens of milliseconds, only a longer burst's slope can be seen.
  private static let jitteryDuration: Int64 = 120_000_000

  private var waiting: [ProbeRequest] = []
  private var nextCluster = 1
  private var hasStarted = false
  private var lastProbe: Int64 = .min / 2
  /// A result above this makes a faster probe follow.
  private var goOnAbove: Double?
  private var lastRate = 0.0
  private var isJittery = false
  /// The highest estimate that the path was known to carry in the latest half minute.
  private var recentBest = 0.0
  private var recentBestAt: Int64 = 0
  private var lastOveruse: Int64?
  /// When packets overtook each other last, and how long that is remembered.
  private var lastReordering: Int64?
  private static let reorderingMemory: Int64 = 20_000_000_000

  /// More was sent than the path takes.
  mutating func overused(at now: Int64) { lastOveruse = now }

  /// Packets overtook each other, so that short bursts say little.
  mutating func reordered(at now: Int64) { lastReordering = now }

  var isWaiting: Bool { !waiting.isEmpty }

  /// Hands out the next request. With the time it counts as probed only now, however long it waited.
  mutating func next(at now: Int64?) -> ProbeRequest? {
    guard !waiting.isEmpty else { return nil }
    if let now { lastProbe = max(lastProbe, now) }
    return waiting.removeFirst()
  }

  /// Two bursts at the beginning: three and six times the start rate.
  mutating func start(_ rate: Double, maximum: Double, at now: Int64) {
    guard !hasStarted else { return }
    hasStarted = true
    guard rate < maximum else { return }
    request(min(3 * rate, maximum), at: now)
    if 3 * rate < maximum { request(min(6 * rate, maximum), at: now) }
    goOnAbove = 0.7 * lastRate
  }

  /// The application may use more than before.
  mutating func maximumRaised(to maximum: Double, estimate: Double, at now: Int64) {
    guard hasStarted, estimate < maximum, estimate > 0 else { return }
    request(min(3 * estimate, maximum), at: now)
    goOnAbove = 0.7 * lastRate
  }

  mutating func measured(_ rate: Double, maximum: Double, at now: Int64) {
    guard let threshold = goOnAbove, now &- lastProbe < Self.patience, rate > threshold,
      lastRate < maximum
    else { return }
    request(min(2 * rate, maximum), at: now)
    goOnAbove = 0.7 * lastRate
  }

  /// Looks whether a burst is due; called with each feedback and poll. Whether one is now.
  mutating func update(
    estimate: Double, maximum: Double, usage: NetworkUsage, limitedSince: Int64?, isLossy: Bool,
    showsRoom: Bool, at now: Int64
  ) -> Bool {
    isJittery = lastReordering.map { now &- $0 < Self.reorderingMemory } ?? false
    if estimate >= recentBest || now &- recentBestAt > 30_000_000_000 {
      recentBest = estimate
      recentBestAt = now
    }
    if waiting.isEmpty, now &- lastProbe > Self.patience { goOnAbove = nil }
    guard hasStarted, usage == .normal, estimate < 0.95 * maximum, !isLossy else { return false }
    let sinceProbe = now &- lastProbe
    let sinceOveruse = now &- (lastOveruse ?? (.min / 2))
    if estimate < 0.66 * recentBest {
      // After a fall: see early whether the link is back.
      guard sinceProbe > Self.recoveryInterval, sinceOveruse > Self.recoveryInterval
      else { return false }
      request(min(max(0.85 * recentBest, 1.5 * estimate), 2 * estimate, maximum), at: now)
    } else if showsRoom, limitedSince == nil, estimate > Self.leastForRoom {
      guard sinceProbe > Self.roomInterval, sinceOveruse > Self.roomInterval else { return false }
      request(min(2 * estimate, maximum), at: now)
    } else if let limitedSince, now &- limitedSince > 1_000_000_000 {
      guard sinceProbe > Self.limitedInterval, sinceOveruse > Self.quietTime else { return false }
      request(min(2 * estimate, maximum), at: now)
    } else {
      guard sinceProbe > Self.steadyInterval, sinceOveruse > Self.quietTime else { return false }
      request(min(2 * estimate, maximum), at: now)
    }
    goOnAbove = 0.7 * lastRate
    return true
  }

  private mutating func request(_ rate: Double, at now: Int64) {
    guard waiting.count < 4 else { return }
    let bitrate = Bitrate(bitsPerSecond: Int(rate))
    let duration = isJittery ? Self.jitteryDuration : Self.duration
    waiting.append(
      ProbeRequest(
        cluster: nextCluster, rate: bitrate,
        minimumBytes: Int(bitrate.bytes(inNanoseconds: duration))))
    nextCluster += 1
    lastProbe = now
    lastRate = rate
  }
}

/// Measures what arrived of a burst.
struct ProbeEstimator {
  private struct Cluster {
    var id = 0
    var minimumPackets = 0
    var minimumBytes = 0
    var packets = 0
    var bytes = 0
    var firstSend: Int64 = .max
    var lastSend: Int64 = .min
    var lastSendSize = 0
    var firstArrival: Int64 = .max
    var lastArrival: Int64 = .min
    var firstArrivalSize = 0
    var slope = ArrivalSlope()
    var hasNews = false
    var isMeasured = false
  }

  private var clusters: [Cluster] = []
  /// Bursts that gave a result.
  private(set) var measuredCount = 0

  /// A burst has been handed out.
  mutating func began(_ request: ProbeRequest) {
    if clusters.count == 8 { clusters.removeFirst() }
    var cluster = Cluster()
    cluster.id = request.cluster
    cluster.minimumPackets = request.minimumPackets * 4 / 5
    cluster.minimumBytes = request.minimumBytes * 4 / 5
    clusters.append(cluster)
  }

  mutating func add(cluster id: Int, size: Int, sent: Int64, arrived: Int64) {
    for index in clusters.indices where clusters[index].id == id {
      clusters[index].packets += 1
      clusters[index].bytes += size
      clusters[index].firstSend = min(clusters[index].firstSend, sent)
      if sent > clusters[index].lastSend {
        clusters[index].lastSend = sent
        clusters[index].lastSendSize = size
      }
      if arrived < clusters[index].firstArrival {
        clusters[index].firstArrival = arrived
        clusters[index].firstArrivalSize = size
      }
      clusters[index].lastArrival = max(clusters[index].lastArrival, arrived)
      clusters[index].slope.add(sent: sent, arrived: arrived)
      clusters[index].hasNews = true
    }
  }

  /// What the bursts that have news since the last call show, the fastest of them; bits per second.
  mutating func result() -> Result? {
    var best: Result?
    for index in clusters.indices where clusters[index].hasNews {
      clusters[index].hasNews = false
      guard let result = measure(clusters[index]) else { continue }
      if !clusters[index].isMeasured { measuredCount += 1 }
      clusters[index].isMeasured = true
      if result.rate > best?.rate ?? 0 { best = result }
    }
    return best
  }

  /// What a burst has shown.
  struct Result {
    /// What can be sent.
    var rate: Double
    /// The most that arrives, where the burst was slowed down.
    var limit: Double?
  }

  private func measure(_ cluster: Cluster) -> Result? {
    guard cluster.packets >= cluster.minimumPackets, cluster.bytes >= cluster.minimumBytes
    else { return nil }
    let sending = cluster.lastSend &- cluster.firstSend
    let arriving = cluster.lastArrival &- cluster.firstArrival
    guard sending > 0, sending < 1_000_000_000, arriving > 0, arriving < 1_000_000_000
    else { return nil }
    // Between the first and the last packet, the last sent and the first arrived aren't on the way.
    let sendRate = Double(cluster.bytes - cluster.lastSendSize) * 8e9 / Double(sending)
    let arrivalRate =
      cluster.slope.value.map { sendRate / $0 }
      ?? Double(cluster.bytes - cluster.firstArrivalSize) * 8e9 / Double(arriving)
    // Packets can't come out twice as fast as they went in: something on the way gathers them.
    guard arrivalRate < 2 * sendRate else { return nil }
    // A burst that was slowed down filled the link: stay below it, or over-use follows at once.
    if arrivalRate < 0.9 * sendRate { return Result(rate: 0.92 * arrivalRate, limit: arrivalRate) }
    return Result(
      rate: arrivalRate < 0.98 * sendRate ? 0.94 * arrivalRate : min(sendRate, arrivalRate))
  }
}

/// How much faster the time of arriving runs than that of leaving, over a burst that is long enough to see it through jitter: above
/// 1 where a link slows the burst down. A least-squares line, because the first and the last packet may be the most delayed ones.
private struct ArrivalSlope {
  private static let leastPackets = 15.0
  private static let leastTime = 80e6

  private var origin: (sent: Int64, arrived: Int64)?
  private var longest = 0.0
  private var count = 0.0
  private var sumSent = 0.0
  private var sumArrived = 0.0
  private var sumSquares = 0.0
  private var sumProducts = 0.0

  mutating func add(sent: Int64, arrived: Int64) {
    let origin = origin ?? (sent, arrived)
    self.origin = origin
    let x = Double(sent &- origin.sent)
    let y = Double(arrived &- origin.arrived)
    longest = max(longest, x)
    count += 1
    sumSent += x
    sumArrived += y
    sumSquares += x * x
    sumProducts += x * y
  }

  /// `nil` for a burst that is too short, or that says nothing.
  var value: Double? {
    guard count >= Self.leastPackets, longest >= Self.leastTime else { return nil }
    let spread = count * sumSquares - sumSent * sumSent
    let slope = (count * sumProducts - sumSent * sumArrived) / spread
    return slope > 0.1 ? slope : nil
  }
}
