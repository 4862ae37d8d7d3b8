import SoraCongestion
import SoraMedia
import Testing

@Suite struct BandwidthAllocatorTests {
  private typealias Stream = BandwidthAllocator.Stream

  private let audio = Stream(
    id: 0, kind: .audio, demand: .range(minimum: .zero, maximum: .kilobits(64)))
  private let video = Stream(
    id: 1, kind: .video, demand: .range(minimum: .kilobits(30), maximum: .kilobits(2_500)))

  private func second(_ seconds: Double) -> Instant {
    Instant(nanoseconds: Int64(seconds * 1e9))
  }

  @Test func audioComesFirstAndVideoGetsTheRestUpToItsMaximum() {
    var allocator = BandwidthAllocator()
    let shares = allocator.allocate(.kilobits(1_000), among: [audio, video], at: .zero)
    #expect(shares.map(\.rate) == [.kilobits(64), .kilobits(936)])
    #expect(shares.map(\.reason) == [.satisfied, .bandwidth])
    let plenty = allocator.allocate(.megabits(10), among: [audio, video], at: .zero)
    #expect(plenty.map(\.rate) == [.kilobits(64), .kilobits(2_500)])
    #expect(plenty.map(\.reason) == [.satisfied, .satisfied])
    #expect(allocator.allocate(.megabits(1), among: [], at: .zero).isEmpty)
  }

  @Test func audioLeavesVideoItsLeastOrKeepsAThird() {
    var allocator = BandwidthAllocator()
    let narrow = allocator.allocate(.kilobits(80), among: [audio, video], at: .zero)
    #expect(narrow[0].rate == .kilobits(50), "30 are video's")
    let narrower = allocator.allocate(.kilobits(36), among: [audio, video], at: .zero)
    #expect(narrower[0].rate.bitsPerSecond / 1000 == 12)
    #expect(narrower[0].reason == .bandwidth)
    #expect(narrower[1].rate == .kilobits(30) && narrower[1].reason == .starved)
    // What audio may take with headers and copies is more than its codec's rate.
    #expect(
      allocator.allocate(.kilobits(500), among: [audio, video], at: .zero)[0].ceiling
        == .kilobits(470))
  }

  @Test func whatOneVideoCantUseGoesToTheOthers() {
    var allocator = BandwidthAllocator()
    let small = Stream(
      id: 2, kind: .video, demand: .range(minimum: .zero, maximum: .kilobits(100)))
    var heavy = video
    heavy.weight = 3
    let light = Stream(
      id: 3, kind: .video, demand: .range(minimum: .zero, maximum: .megabits(5)))
    let shares = allocator.allocate(.kilobits(900), among: [small, heavy, light], at: .zero)
    #expect(shares.map(\.rate) == [.kilobits(100), .kilobits(600), .kilobits(200)])
  }

  /// A stream's first frame is of its lowest layer; that there are more isn't known before they come.
  @Test func layersThatAppearLaterNeedNotSettle() {
    var allocator = BandwidthAllocator()
    let layers: [Bitrate] = [.kilobits(400), .kilobits(700), .kilobits(1_500)]
    func share(_ count: Int, _ kilobits: Int, at seconds: Double) -> BandwidthAllocator.Share {
      allocator.allocate(
        .kilobits(kilobits),
        among: [Stream(id: 1, kind: .video, demand: .layers(Stream.Layers(layers.prefix(count))))],
        at: second(seconds))[0]
    }
    #expect(share(1, 2_000, at: 0).layer == 0)
    let whole = share(3, 2_000, at: 0.2)
    #expect(whole.layer == 2 && whole.reason == .satisfied)
    // What doesn't fit isn't given for it, and is given back as slowly as ever.
    allocator = BandwidthAllocator()
    #expect(share(1, 800, at: 0).reason == .satisfied)
    #expect(share(3, 800, at: 0.2).layer == 1)
    #expect(share(3, 2_000, at: 0.4).layer == 1)
    #expect(share(3, 2_000, at: 1.5).layer == 2)
  }

  /// Layers go down at once, and up once a higher one has fitted for a second with something to spare.
  @Test func layersChangeWithHysteresis() {
    var allocator = BandwidthAllocator()
    let layers = Stream(
      id: 7, kind: .video,
      demand: .layers(Stream.Layers([.kilobits(400), .kilobits(700), .kilobits(1_500)])))
    func share(_ kilobits: Int, at seconds: Double) -> BandwidthAllocator.Share {
      allocator.allocate(.kilobits(kilobits), among: [layers], at: second(seconds))[0]
    }
    #expect(share(1_600, at: 0).layer == 2)
    #expect(share(1_450, at: 0.2).layer == 2, "estimates waver")
    #expect(share(1_340, at: 0.4).layer == 1)
    #expect(share(1_340, at: 0.4).reason == .bandwidth)
    #expect(share(500, at: 0.6).layer == 0)
    #expect(share(710, at: 5).layer == 0, "without something to spare a layer isn't added")
    #expect(share(800, at: 6).reason == .settling)
    #expect(share(800, at: 6.9).layer == 0)
    #expect(share(800, at: 7).layer == 1)
    #expect(share(1_700, at: 8).layer == 1)
    #expect(share(600, at: 8.5).layer == 0)
    #expect(share(1_700, at: 9).layer == 0, "the wait begins anew")
    let whole = share(1_700, at: 10.1)
    #expect(whole.layer == 2 && whole.reason == .satisfied && whole.rate == .kilobits(1_500))
    let starved = share(300, at: 11)
    #expect(starved.layer == 0 && starved.reason == .starved && starved.rate == .kilobits(300))
    allocator.forget(7)
    #expect(share(1_600, at: 11.2).layer == 2, "a new stream begins with all it has")
  }

  @Test func moreLayersThanAreToldApartCountForNothing() {
    var layers = Stream.Layers()
    #expect(layers.last == nil)
    for index in 0..<40 { layers.append(.kilobits(index)) }
    #expect(layers.count == Stream.Layers.most && layers.last == .kilobits(15))
    var allocator = BandwidthAllocator()
    let none = Stream(id: 1, kind: .video, demand: .layers(Stream.Layers()))
    let share = allocator.allocate(.kilobits(100), among: [none], at: .zero)[0]
    #expect(share.rate == .zero && share.reason == .satisfied)
  }

  @Test(arguments: 0..<200)
  func theSumNeverExceedsTheEstimateBeyondMinimums(seed: UInt64) {
    var generator = Generator(state: seed)
    var allocator = BandwidthAllocator()
    let streams = (0..<Int.random(in: 1...6, using: &generator)).map { id -> Stream in
      let isAudio = Bool.random(using: &generator)
      let minimum = Int.random(in: 0...(isAudio ? 0 : 400_000), using: &generator)
      let more = Int.random(in: 0...2_000_000, using: &generator)
      let isLayered = !isAudio && Bool.random(using: &generator)
      return Stream(
        id: id, kind: isAudio ? .audio : .video,
        demand: isLayered
          ? .layers(
            Stream.Layers([
              Bitrate(bitsPerSecond: minimum), Bitrate(bitsPerSecond: minimum + more),
            ]))
          : .range(
            minimum: Bitrate(bitsPerSecond: minimum),
            maximum: Bitrate(bitsPerSecond: minimum + more)),
        weight: Double.random(in: 0.1...4, using: &generator))
    }
    var enforced = Bitrate.zero
    for case .range(let minimum, _) in streams.map(\.demand) { enforced = enforced + minimum }
    for step in 0..<20 {
      let estimate = Bitrate(bitsPerSecond: Int.random(in: 0...5_000_000, using: &generator))
      let shares = allocator.allocate(
        estimate, among: streams, at: second(Double(step) * 0.3))
      #expect(shares.map(\.id) == streams.map(\.id))
      let sum = shares.map(\.rate).reduce(.zero, +)
      #expect(sum.bitsPerSecond <= estimate.bitsPerSecond + enforced.bitsPerSecond + shares.count)
      for (share, stream) in zip(shares, streams) {
        switch stream.demand {
        case .range(let minimum, let maximum):
          #expect(share.rate >= minimum && share.rate <= maximum)
        case .layers(let rates): #expect(share.rate <= rates[share.layer])
        }
      }
    }
  }

  /// A small generator of its own, so that a failing seed repeats.
  private struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }
}

extension BandwidthAllocator {
  /// The shares in an array of their own.
  fileprivate mutating func allocate(
    _ available: Bitrate, among streams: [Stream], at now: Instant
  ) -> [Share] {
    var shares: [Share] = []
    allocate(available, among: streams, at: now, into: &shares)
    return shares
  }
}

extension BandwidthAllocator.Stream.Layers {
  fileprivate init(_ rates: some Sequence<Bitrate>) {
    self.init()
    for rate in rates { append(rate) }
  }
}
