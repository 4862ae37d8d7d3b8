import SoraCongestion
import Testing

@Suite struct BitrateAllocatorTests {
  let audio = BitrateAllocator.Request(
    minimum: .kilobits(16), maximum: .kilobits(64), weight: 0.5)
  let video = BitrateAllocator.Request(minimum: .kilobits(100), maximum: .kilobits(2_500))

  @Test func whatIsLeftIsSharedByWeightUpToTheMaximums() {
    let rates = BitrateAllocator.allocate(.kilobits(1_000), among: [audio, video])
    #expect(rates[0] == .kilobits(64))
    #expect(abs(rates[1].bitsPerSecond - 936_000) < 10)
    let plenty = BitrateAllocator.allocate(.megabits(10), among: [audio, video])
    #expect(plenty == [.kilobits(64), .kilobits(2_500)])
  }

  @Test func enforcedMinimumsStandAndOthersPause() {
    let layer = BitrateAllocator.Request(
      minimum: .kilobits(300), maximum: .kilobits(1_000), enforcesMinimum: false)
    let rates = BitrateAllocator.allocate(.kilobits(50), among: [audio, video, layer])
    #expect(rates == [.kilobits(16), .kilobits(100), .zero])
    let more = BitrateAllocator.allocate(.kilobits(500), among: [audio, video, layer])
    #expect(more[2] >= .kilobits(300))
    #expect(more.reduce(.zero, +) <= .kilobits(500))
    #expect(BitrateAllocator.allocate(.megabits(1), among: []).isEmpty)
  }

  @Test(arguments: 0..<200)
  func theSumNeverExceedsTheEstimateBeyondMinimums(seed: UInt64) {
    var generator = SystemFree(state: seed)
    let requests = (0..<Int.random(in: 1...6, using: &generator)).map { _ in
      let minimum = Int.random(in: 0...400_000, using: &generator)
      return BitrateAllocator.Request(
        minimum: Bitrate(bitsPerSecond: minimum),
        maximum: Bitrate(
          bitsPerSecond: minimum + Int.random(in: 0...2_000_000, using: &generator)),
        weight: Double.random(in: 0.1...4, using: &generator),
        enforcesMinimum: Bool.random(using: &generator))
    }
    let estimate = Bitrate(bitsPerSecond: Int.random(in: 0...5_000_000, using: &generator))
    let rates = BitrateAllocator.allocate(estimate, among: requests)
    let enforced = requests.filter(\.enforcesMinimum).map(\.minimum).reduce(.zero, +)
    #expect(rates.reduce(.zero, +) <= max(estimate, enforced))
    for (rate, request) in zip(rates, requests) {
      #expect(rate <= request.maximum)
      #expect(rate >= request.minimum || (!request.enforcesMinimum && rate == .zero))
    }
  }

  /// A small generator of its own, so that a failing seed repeats.
  struct SystemFree: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }
}
