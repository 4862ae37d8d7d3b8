public import SoraMedia

/// The one policy by which a transport's estimate is split: audio first, then video by weight and by layers, out of what
/// retransmissions leave.
///
/// A client's encoders and the layers that a server forwards are both its streams. Minimums, priorities, hysteresis and the
/// reason of each decision are here and nowhere else. Plain memory and no clock of its own.
public struct BandwidthAllocator: Sendable {
  /// What one stream wants.
  public struct Stream: Sendable {
    public enum Demand: Sendable {
      /// Anything from a minimum to a maximum, as an encoder does.
      case range(minimum: Bitrate, maximum: Bitrate)
      /// One of these rates, rising: layers that exist already, each with those below it.
      case layers(Layers)
    }

    /// The rates of a stream's layers, in place: links are split so often that none may cost an allocation.
    public struct Layers: Sendable {
      /// More than that are not told apart.
      public static let most = 16
      private var rates = InlineArray<16, Bitrate>(repeating: .zero)
      public private(set) var count = 0

      public init() {}

      /// Adds the next higher layer's, with those below it.
      public mutating func append(_ rate: Bitrate) {
        guard count < Self.most else { return }
        rates[count] = rate
        count += 1
      }

      public subscript(layer: Int) -> Bitrate { rates[layer] }

      /// The highest layer's; nil where there is none.
      public var last: Bitrate? { count > 0 ? rates[count - 1] : nil }
    }

    /// Names the stream from one call to the next.
    public var id: Int
    public var kind: MediaKind
    public var demand: Demand
    /// Its share of what is left after the minimums, relative to others; above zero.
    public var weight: Double

    public init(id: Int, kind: MediaKind, demand: Demand, weight: Double = 1) {
      self.id = id
      self.kind = kind
      self.demand = demand
      self.weight = weight
    }
  }

  /// Why a stream got no more.
  public enum Reason: String, Sendable, Hashable {
    /// It has all it can use.
    case satisfied
    /// The estimate doesn't allow more.
    case bandwidth
    /// More would fit by now, but not for long enough yet.
    case settling
    /// Not even the least fits: a video is sent in parts, audio at its minimum.
    case starved
  }

  /// What one stream gets.
  public struct Share: Sendable, Equatable {
    public var id: Int
    public var rate: Bitrate
    /// The most that it may take at all, with headers: of audio what is left once video has its minimum.
    public var ceiling: Bitrate
    /// Of layers, the highest to send; 0 for ranges.
    public var layer: Int
    public var reason: Reason
  }

  /// What a video can't do without.
  public static let leastVideo = Bitrate.kilobits(30)
  /// A layer that is sent already may exceed its share by this factor, and a higher one has to fit with this to spare, for so
  /// long: estimates waver, and each change is seen.
  private static let tolerance = 1.1
  private static let margin = 0.98
  private static let patience = Duration.seconds(1)

  private struct Memory: Sendable {
    var layer: Int
    /// The highest layer that there was.
    var top: Int
    /// Since when a higher layer has fitted.
    var fitsSince: Instant?
  }

  private var memories: [Int: Memory] = [:]
  /// Videos that have no share yet, by their places; empty between calls.
  private var open: [Int] = []

  public init() {}

  /// Splits `available` among the streams. The sum of the shares exceeds it only by minimums.
  ///
  /// - Parameters:
  ///   - available: the estimate less what retransmissions take.
  ///   - streams: what each of them needs and may take.
  ///   - now: the present time.
  ///   - shares: replaced by what they get, in their order; its memory is used again.
  public mutating func allocate(
    _ available: Bitrate, among streams: [Stream], at now: Instant, into shares: inout [Share]
  ) {
    let videos = streams.count { $0.kind == .video }
    let audios = streams.count - videos
    // Audio comes before video, which is left what it can't do without, or a third where there isn't that much.
    let audioPool =
      videos == 0
      ? available
      : max(available * (1.0 / 3), available - Self.leastVideo * Double(videos))
    let ceiling = audioPool * (1 / Double(max(1, audios)))
    var left = available
    shares.removeAll(keepingCapacity: true)
    for stream in streams {
      var share = Share(
        id: stream.id, rate: .zero, ceiling: ceiling, layer: 0, reason: .satisfied)
      if stream.kind == .audio {
        share.rate = min(stream.demand.most, ceiling)
        if share.rate < stream.demand.most { share.reason = .bandwidth }
        left = left - share.rate
      }
      shares.append(share)
    }
    divide(left, among: streams, into: &shares, at: now)
  }

  /// Forgets a stream that has ended.
  public mutating func forget(_ id: Int) { memories[id] = nil }

  /// Gives video its shares by weight; what one can't use goes to the others.
  private mutating func divide(
    _ pool: Bitrate, among streams: [Stream], into shares: inout [Share], at now: Instant
  ) {
    var left = pool
    for index in streams.indices where streams[index].kind == .video { open.append(index) }
    // Each round settles at least one stream, or all.
    while !open.isEmpty {
      let weights = open.reduce(0.0) { $0 + streams[$1].usableWeight }
      let round = left
      func part(_ index: Int) -> Bitrate { round * (streams[index].usableWeight / weights) }
      let isLast = !open.contains { streams[$0].demand.most <= part($0) }
      var kept = 0
      for index in open {
        let part = part(index)
        if isLast || streams[index].demand.most <= part {
          settle(streams[index], part, &shares[index], at: now)
          left = left - shares[index].rate
        } else {
          open[kept] = index
          kept += 1
        }
      }
      open.removeLast(open.count - kept)
    }
  }

  private mutating func settle(
    _ stream: Stream, _ part: Bitrate, _ share: inout Share, at now: Instant
  ) {
    share.ceiling = part
    switch stream.demand {
    case .range(let minimum, let maximum):
      share.rate = min(max(part, minimum), max(maximum, minimum))
      share.reason = part < minimum ? .starved : part < maximum ? .bandwidth : .satisfied
    case .layers(let rates):
      settle(stream.id, rates, part, &share, at: now)
    }
  }

  private mutating func settle(
    _ id: Int, _ rates: Stream.Layers, _ part: Bitrate, _ share: inout Share, at now: Instant
  ) {
    guard rates.count > 0 else { return }
    let top = rates.count - 1
    var memory = memories[id] ?? Memory(layer: top, top: top)
    // Who had all gets what comes to it: the lowest layer's frames are a stream's first.
    memory.layer = memory.layer == memory.top ? top : min(memory.layer, top)
    memory.top = top
    // Down at once.
    while memory.layer > 0, rates[memory.layer] > part * Self.tolerance { memory.layer -= 1 }
    var fitting = memory.layer
    while fitting < top, rates[fitting + 1] <= part * Self.margin { fitting += 1 }
    if fitting > memory.layer {
      let since = memory.fitsSince ?? now
      memory.fitsSince = since
      if now - since >= Self.patience {
        memory.layer = fitting
        memory.fitsSince = nil
      }
    } else {
      memory.fitsSince = nil
    }
    memories[id] = memory
    share.layer = memory.layer
    share.rate = min(rates[memory.layer], part)
    share.reason =
      rates[memory.layer] > part * Self.tolerance
      ? .starved
      : memory.layer == top ? .satisfied : memory.fitsSince != nil ? .settling : .bandwidth
  }
}

extension BandwidthAllocator.Stream {
  /// A weight that can be divided by.
  fileprivate var usableWeight: Double { max(0.001, weight) }
}

extension BandwidthAllocator.Stream.Demand {
  /// The most that can be used.
  var most: Bitrate {
    switch self {
    case .range(let minimum, let maximum): max(minimum, maximum)
    case .layers(let rates): rates.last ?? .zero
    }
  }
}
