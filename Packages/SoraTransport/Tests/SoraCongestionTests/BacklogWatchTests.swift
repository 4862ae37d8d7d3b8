import SoraCongestion
import Testing

@Suite struct BacklogWatchTests {
  /// Feedback each 50 ms, from `first` on; the factors that came of it, with their times in milliseconds.
  private func factors(
    _ watch: inout BacklogWatch, from first: Int64, count: Int64, isBacklogged: Bool = true,
    arriving: Double? = 500_000, estimate: Double = 800_000
  ) -> [(time: Int64, factor: Double)] {
    (0..<count).compactMap { index in
      let time = first + 50 * index
      return watch.note(
        isBacklogged: isBacklogged, arriving: arriving, estimate: estimate, at: time * 1_000_000
      ).map { (time, $0) }
    }
  }

  @Test func whatArrivesCountsWhereWhatWaitsDoesNotLeave() {
    var watch = BacklogWatch()
    let found = factors(&watch, from: 0, count: 30)
    // The first message follows a silence, the second begins the watch.
    #expect(found.map(\.time) == [450, 850, 1_250])
    #expect(found.allSatisfy { $0.factor == 0.625 })
  }

  @Test func oneLookTakesTwoFifthsAtMost() {
    var watch = BacklogWatch()
    #expect(factors(&watch, from: 0, count: 10, arriving: 1_000).map(\.factor) == [0.6])
  }

  @Test func aKeyFrameThatLeavesAsItShouldIsNoReason() {
    var watch = BacklogWatch()
    #expect(factors(&watch, from: 0, count: 30, arriving: 650_000).isEmpty)
    #expect(factors(&watch, from: 1_500, count: 30, arriving: nil).isEmpty)
    // Nor are several short ones, with time between them.
    for turn in 0..<10 {
      let start = 3_000 + 400 * Int64(turn)
      #expect(factors(&watch, from: start, count: 7).isEmpty)
      #expect(factors(&watch, from: start + 350, count: 1, isBacklogged: false).isEmpty)
    }
  }

  /// Behind an outage of the path, what has arrived tells of the outage.
  @Test func silenceBeginsAnew() {
    var watch = BacklogWatch()
    for turn in 0..<10 {
      #expect(factors(&watch, from: 700 * Int64(turn), count: 8).isEmpty)
    }
  }
}
