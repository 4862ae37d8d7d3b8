/// Goes further down for a moment when a long queue stands in the network.
///
/// A decrease to 85 % of what arrives (draft-ietf-rmcat-gcc-02 §5.5) empties a queue of a second in six. When
/// over-use comes with a queue this long, the rate is bounded to 60 % until the queue is short, at most three
/// seconds, and then not again for a while, so that another flow's standing queue can't starve this one.
struct QueueDrain {
  private static let long: Int64 = 250_000_000
  private static let short: Int64 = 80_000_000
  private static let longest: Int64 = 3_000_000_000
  private static let pause: Int64 = 5_000_000_000
  private static let memory: Int64 = 30_000_000_000
  /// What a queue has to be seen by that is said to stand.
  private static let enoughMessages = 3
  private static let enoughPackets = 12
  private static let clockJump: UInt64 = 3_000_000_000
  /// A full queue: what stands in it, what it loses, and for how long that speaks for over-use.
  private static let full: Int64 = 150_000_000
  private static let overflow = 0.1
  private static let overflowing: Int64 = 3_000_000_000
  /// No queue that could lose anything: what jitter makes of it, and after how long of it what is lost isn't lost by one.
  private static let empty: Int64 = 40_000_000
  private static let emptyFor: Int64 = 3_000_000_000

  /// Bits per second; `nil` while nothing is being drained.
  private(set) var bound: Double?
  private var since: Int64 = .min / 2
  /// The trip now above the shortest of the latest half minute to minute.
  private(set) var queued: Int64 = 0
  /// The shortest trips of the newest messages, nanoseconds, and of how many packets they are.
  private var recent = InlineArray<8, (trip: Int64, packets: Int)>(repeating: (0, 0))
  private var recentCount = 0
  private var shortest: Int64 = .max
  private var previousShortest: Int64 = .max
  private var memoryStart: Int64?
  private var lastOveruse: Int64 = .min / 2
  /// When there was a queue to speak of, or over-use; what the first message says counts as one.
  private var lastQueued: Int64?

  /// Takes the shortest trip of a feedback message's packets, from leaving to arriving, in nanoseconds: of two clocks, so only its
  /// changes mean something. Unlike a round trip it knows nothing of what delays the feedback.
  ///
  /// - Parameters:
  ///   - trip: the shortest of the message's.
  ///   - packets: of how many packets.
  ///   - isFilled: whether others keep the queue filled, so that its emptiness is remembered for as long as that lasts.
  ///   - now: when the message came.
  mutating func note(_ trip: Int64, packets: Int, isFilled: Bool, at now: Int64) {
    if recentCount > 0,
      (trip &- recent[(recentCount &- 1) % recent.count].trip).magnitude > Self.clockJump
    {
      self = QueueDrain()
    }
    if !isFilled, now &- (memoryStart ?? .min / 2) > Self.memory {
      previousShortest = shortest
      shortest = trip
      memoryStart = now
    }
    shortest = min(shortest, trip)
    queued = trip &- min(shortest, previousShortest)
    if queued > Self.empty || lastQueued == nil || isFilled { lastQueued = now }
    recent[recentCount % recent.count] = (trip, packets)
    recentCount &+= 1
  }

  /// Whether there has been no queue for a while.
  func hasBeenEmpty(at now: Int64) -> Bool {
    lastQueued.map { now &- max($0, lastOveruse) > Self.emptyFor } ?? false
  }

  /// The path has become longer: the present trip is the empty one.
  mutating func startOver() { self = QueueDrain() }

  /// What none of the newest packets was without: a queue that stands, where single late ones may be jitter.
  var standing: Int64 {
    var least = Int64.max
    var packets = 0
    var messages = 0
    while messages < min(recentCount, recent.count) {
      messages += 1
      let one = recent[(recentCount &- messages) % recent.count]
      least = min(least, one.trip)
      packets += one.packets
      if messages >= Self.enoughMessages, packets >= Self.enoughPackets {
        return least &- min(shortest, previousShortest)
      }
    }
    return messages == recent.count ? least &- min(shortest, previousShortest) : 0
  }

  /// Whether nothing stands in the queue, whatever single packets show.
  var isEmpty: Bool { standing < Self.empty }

  /// The delay rises: packets queue.
  mutating func overused(at now: Int64) { lastOveruse = now }

  /// Whether a queue that over-use has filled stays full: its delay doesn't rise any more, so that the trend says nothing, but it
  /// loses what comes on top. Not for long, or loss that isn't the queue's would lower the rate again and again where a path
  /// became longer.
  func isFull(loss: Double, at now: Int64) -> Bool {
    loss > Self.overflow && now &- lastOveruse < Self.overflowing && standing > Self.full
  }

  /// Whether packets left the queue back to back of late, so that their rate is the link's.
  var isBusy: Bool { standing > Self.full }

  mutating func update(
    isOverused: Bool, acknowledged: Double?, roundTrip: Int64, at now: Int64
  ) {
    if let old = bound {
      // What arrives within a round trip was sent before the bound: it still tells the link's rate, not ours.
      if now &- since < roundTrip, let acknowledged { bound = min(old, 0.6 * acknowledged) }
      if queued < Self.short || now &- since > Self.longest { bound = nil }
      return
    }
    guard isOverused, queued > Self.long, now &- since > Self.pause, let acknowledged
    else { return }
    bound = 0.6 * acknowledged
    since = now
  }
}
