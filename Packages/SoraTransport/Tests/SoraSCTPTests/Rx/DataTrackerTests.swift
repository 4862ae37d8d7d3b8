import SoraMedia
import SoraSCTP
import Testing

@Suite struct DataTrackerTests {
  private func tsn(_ tracker: DataTracker, _ ahead: Int64) -> Int64 { tracker.cumulative + ahead }

  @Test func cumulativeMovesOverWhatHasCome() {
    var tracker = DataTracker(first: 1)
    let base = tracker.cumulative
    for ahead in [3, 4, 2, 1] as [Int64] {
      #expect(tracker.verdict(base + ahead) == (ahead == 1 ? .next : .ahead))
      tracker.insert(base + ahead)
    }
    #expect(tracker.cumulative == base + 4)
    #expect(!tracker.hasGap)
    #expect(tracker.verdict(base + 2) == .duplicate)
  }

  @Test func blocksAreTheRunsThatCame() {
    var tracker = DataTracker(first: .max - 1)
    let base = tracker.cumulative
    for ahead in [2, 3, 64, 65, 66, 200] as [Int64] { tracker.insert(base + ahead) }
    #expect(tracker.block(from: base + 1) == base + 2...base + 3)
    #expect(tracker.block(from: base + 4) == base + 64...base + 66)
    #expect(tracker.block(from: base + 67) == base + 200...base + 200)
    #expect(tracker.block(from: base + 201) == nil)
  }

  @Test func aLongRunIsOneBlock() {
    var tracker = DataTracker(first: 7)
    let base = tracker.cumulative
    for ahead in 2...1000 as ClosedRange<Int64> { tracker.insert(base + ahead) }
    #expect(tracker.block(from: base + 1) == base + 2...base + 1000)
    tracker.insert(base + 1)
    #expect(tracker.cumulative == base + 1000)
  }

  @Test func whatGapBlocksCannotTellIsTooFar() {
    var tracker = DataTracker(first: 1)
    let base = tracker.cumulative
    #expect(tracker.verdict(base + DataTracker.span) == .ahead)
    #expect(tracker.verdict(base + DataTracker.span + 1) == .tooFar)
    for _ in 0..<100 { tracker.noteDuplicate(5) }
    #expect(tracker.duplicates.count == DataTracker.duplicateLimit)
  }

  @Test func forwardingPassesOverGaps() {
    var tracker = DataTracker(first: 1)
    let base = tracker.cumulative
    tracker.insert(base + 5)
    tracker.insert(base + 9)
    tracker.forward(to: base + 4)
    #expect(tracker.cumulative == base + 5)
    tracker.forward(to: base + 1_000_000)
    #expect(tracker.cumulative == base + 1_000_000 && !tracker.hasGap)
    #expect(tracker.verdict(base + 1_000_001) == .next)
  }

  /// What has come stays known while the ring grows to the widest gap, and the ring's two ends aren't taken for each other.
  @Test func gapsOfAllWidthsAreKept() {
    var tracker = DataTracker(first: .max - 100)
    let base = tracker.cumulative
    var came: [Int64] = []
    var ahead: Int64 = 2
    while ahead <= DataTracker.span {
      for tsn in [base + ahead, base + ahead + 1] where tsn - base <= DataTracker.span {
        #expect(tracker.verdict(tsn) == .ahead)
        tracker.insert(tsn)
        came.append(tsn)
      }
      for tsn in came { #expect(tracker.verdict(tsn) == .duplicate) }
      #expect(tracker.verdict(came[came.count - 1] + 64) != .duplicate)
      ahead = ahead * 2 + 1
    }
    var blocks: [Int64] = []
    var next = base + 1
    while let block = tracker.block(from: next) {
      blocks += block
      next = block.upperBound + 1
    }
    #expect(blocks == came)
  }

  /// Against a set: random TSNs in random order, with forwards between them.
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func agreesWithASet(seed: UInt64) {
    let random = RandomSource(seed: seed)
    var tracker = DataTracker(first: UInt32(truncatingIfNeeded: random.next()))
    var came: Set<Int64> = []
    var cumulative = tracker.cumulative
    for _ in 0..<2000 {
      let tsn = tracker.cumulative - 3 + Int64(random.next() % 300)
      if random.next() % 100 == 0 {
        tracker.forward(to: tsn)
        cumulative = max(cumulative, tsn)
      } else {
        let isNew = tsn > cumulative && !came.contains(tsn)
        #expect((tracker.verdict(tsn) == .duplicate) == !isNew)
        if isNew {
          tracker.insert(tsn)
          came.insert(tsn)
        }
      }
      while came.contains(cumulative + 1) { cumulative += 1 }
      #expect(tracker.cumulative == cumulative)
    }
    var blocks: [Int64] = []
    var next = cumulative + 1
    while let block = tracker.block(from: next) {
      blocks += block
      next = block.upperBound + 1
    }
    #expect(blocks == came.filter { $0 > cumulative }.sorted())
  }
}
