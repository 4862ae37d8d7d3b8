/// What one direction of a link does to the datagrams that cross it.
///
/// A datagram first waits in the queue for its turn at `rate` (if there is one), then travels for `delay` plus
/// jitter, and may be lost, duplicated or held back on the way. A lost datagram has used its share of the rate.
public struct LinkConditions: Sendable, Equatable {
  /// How jitter is drawn.
  public enum JitterShape: Sendable, Equatable {
    /// Evenly from `-jitter` to `+jitter`.
    case uniform
    /// Normally, with `jitter` as the standard deviation, cut at three deviations.
    case normal
  }

  /// The room of the drop-tail queue in front of a rate limit. A datagram that doesn't fit is dropped.
  public enum QueueLimit: Sendable, Equatable {
    /// At most this much waiting time at the current rate.
    case time(Duration)
    /// At most this many bytes, headers included.
    case bytes(Int)
  }

  /// Travelling time, one way.
  public var delay: Duration
  /// Spread of the travelling time around `delay`, see `jitterShape`. Travelling time never falls below zero.
  public var jitter: Duration
  public var jitterShape: JitterShape
  /// Whether jitter may let a datagram overtake an earlier one. Off: a late datagram holds the later ones back.
  public var jitterReorders: Bool
  /// Chance that a datagram is lost, 0...1, independent of all others.
  public var loss: Double
  /// Loss in bursts, on top of `loss`.
  public var burstLoss: GilbertElliott?
  /// Chance that a datagram arrives twice, 0...1.
  public var duplication: Double
  /// Chance that a datagram is held back by `reorderingDelay`, so that later ones overtake it, 0...1.
  public var reordering: Double
  /// How long a held-back datagram comes late.
  public var reorderingDelay: Duration
  /// Bits per second, IP and UDP headers included; `nil` for no limit.
  public var bitsPerSecond: Int?
  /// Room in front of the rate limit. No effect without `bitsPerSecond`.
  public var queue: QueueLimit
  /// Keeps the time in the queue short by dropping early, within the room that `queue` gives. No effect without `bitsPerSecond`.
  public var codel: CoDel?
  /// Marks datagrams of L4S (ECT(1)) that have waited longer than this, from the first on (RFC 9331 §5.2). No effect without
  /// `bitsPerSecond`.
  public var scalableThreshold: Duration?
  /// Whether datagrams come out with their ECN bits cleared, as routers do that take them for a part of the old type of service.
  public var clearsECN: Bool
  /// Largest UDP payload that passes; larger datagrams are dropped (there is no fragmentation).
  public var maximumPayload: Int
  /// Whether the sender is told of a datagram that was too large, see `SimulatedEndpoint.tooLarge`. Off: a black hole, as where a
  /// firewall eats ICMP.
  public var reportsTooLarge: Bool
  /// A link that is down drops what waits in its queue and whatever is sent; what travels already still arrives.
  public var isUp: Bool

  /// Conditions that are ideal where nothing is given. Chances are brought into 0...1, times to zero or more.
  public init(
    delay: Duration = .zero,
    jitter: Duration = .zero,
    jitterShape: JitterShape = .uniform,
    jitterReorders: Bool = false,
    loss: Double = 0,
    burstLoss: GilbertElliott? = nil,
    duplication: Double = 0,
    reordering: Double = 0,
    reorderingDelay: Duration = .milliseconds(20),
    bitsPerSecond: Int? = nil,
    queue: QueueLimit = .time(.milliseconds(300)),
    codel: CoDel? = nil,
    scalableThreshold: Duration? = nil,
    clearsECN: Bool = false,
    maximumPayload: Int = 1472,
    reportsTooLarge: Bool = false,
    isUp: Bool = true
  ) {
    self.delay = delay
    self.jitter = jitter
    self.jitterShape = jitterShape
    self.jitterReorders = jitterReorders
    self.loss = loss
    self.burstLoss = burstLoss
    self.duplication = duplication
    self.reordering = reordering
    self.reorderingDelay = reorderingDelay
    self.bitsPerSecond = bitsPerSecond
    self.queue = queue
    self.codel = codel
    self.scalableThreshold = scalableThreshold
    self.clearsECN = clearsECN
    self.maximumPayload = maximumPayload
    self.reportsTooLarge = reportsTooLarge
    self.isUp = isUp
  }

  /// No delay, no loss, no limit.
  public static let ideal = LinkConditions()
}

/// Loss in bursts: a channel that changes between a good and a bad state with each datagram
/// (Gilbert 1960, Elliott 1963).
public struct GilbertElliott: Sendable, Equatable {
  /// Chance, per datagram, to go from the good to the bad state.
  public var goodToBad: Double
  /// Chance, per datagram, to go from the bad to the good state; a burst lasts `1 / badToGood` datagrams on average.
  public var badToGood: Double
  /// Loss in the good state.
  public var lossInGood: Double
  /// Loss in the bad state.
  public var lossInBad: Double

  public init(
    goodToBad: Double, badToGood: Double, lossInGood: Double = 0, lossInBad: Double = 1
  ) {
    self.goodToBad = goodToBad
    self.badToGood = badToGood
    self.lossInGood = lossInGood
    self.lossInBad = lossInBad
  }

  /// The loss that this channel comes to over a long time.
  public var averageLoss: Double {
    let sum = goodToBad + badToGood
    guard sum > 0 else { return lossInGood }
    let bad = goodToBad / sum
    return bad * lossInBad + (1 - bad) * lossInGood
  }
}

/// What happened to the datagrams that were sent into one direction of a link.
public struct LinkStatistics: Sendable, Equatable {
  /// Datagrams and payload bytes offered by the sender.
  public var sentPackets = 0
  public var sentBytes = 0
  /// Datagrams and payload bytes that came out at the far end, duplicates included.
  public var deliveredPackets = 0
  public var deliveredBytes = 0
  /// Lost to `loss`, and to `burstLoss`.
  public var lostAtRandom = 0
  public var lostInBursts = 0
  /// Dropped because the queue was full, the link was down, or the datagram was too large.
  public var droppedByQueue = 0
  /// Dropped because they had waited too long (`codel`).
  public var droppedByCoDel = 0
  /// Marked as having met congestion, by `codel` or because of `scalableThreshold`.
  public var marked = 0
  public var droppedWhileDown = 0
  public var droppedTooLarge = 0
  /// Extra copies made.
  public var duplicated = 0
  /// Datagrams held back on purpose.
  public var heldBack = 0
  /// Datagrams that arrived after one that was sent later.
  public var arrivedOutOfOrder = 0
  /// Longest time in the queue, and the sum over all datagrams that left it.
  public var longestQueueTime: Duration = .zero
  public var totalQueueTime: Duration = .zero
  /// Largest number of bytes in the queue, headers included.
  public var largestQueueBytes = 0

  public init() {}

  /// Everything that was offered and didn't arrive.
  public var dropped: Int {
    lostAtRandom + lostInBursts + droppedByQueue + droppedByCoDel + droppedWhileDown
      + droppedTooLarge
  }
}
