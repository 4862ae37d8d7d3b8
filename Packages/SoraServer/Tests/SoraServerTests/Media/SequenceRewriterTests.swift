import SoraServer
import Testing

/// Numbers of a publisher's packets towards a subscriber.
@Suite struct SequenceRewriterTests {
  private func rewriter(first: UInt16 = 100) -> SequenceRewriter {
    SequenceRewriter(capacity: 1024, first: first)
  }

  @Test func numbersGoOnWhereFramesAreLeftOut() {
    var numbers = rewriter()
    var given: [UInt16] = []
    for source in 7000..<7020 as Range<UInt16> {
      let forwards = source % 5 < 3
      if let number = numbers.advance(to: source, forwards: forwards, gapIsLeftOut: false) {
        #expect(forwards)
        given.append(number)
        #expect(numbers.origin(of: number)?.source == source)
      }
    }
    #expect(given == Array(100..<112))
    #expect(numbers.place(of: 7003) == .leftOut)
    #expect(numbers.place(of: 7005) == .forwarded(103))
  }

  /// A number is kept for what is missing, so that it can be asked for, and taken when it comes.
  @Test func aMissingPacketKeepsItsNumber() {
    var numbers = rewriter(first: 65_534)
    #expect(numbers.advance(to: 10, forwards: true, gapIsLeftOut: false) == 65_534)
    #expect(numbers.advance(to: 13, forwards: true, gapIsLeftOut: false) == 1)
    #expect(numbers.place(of: 11) == .reserved(65_535))
    #expect(!numbers.isNewest(11) && numbers.isNewest(14))
    numbers.fill(11)
    #expect(numbers.place(of: 11) == .forwarded(65_535))
    #expect(numbers.origin(of: 0)?.source == 12)
    // Within what is left out nothing is kept.
    #expect(numbers.advance(to: 14, forwards: false, gapIsLeftOut: false) == nil)
    #expect(numbers.advance(to: 17, forwards: false, gapIsLeftOut: true) == nil)
    #expect(numbers.place(of: 15) == .leftOut && numbers.place(of: 16) == .leftOut)
    #expect(numbers.advance(to: 18, forwards: true, gapIsLeftOut: false) == 2)
  }

  /// What hasn't left leaves no hole where another source follows.
  @Test func numbersThatAreWithdrawnAreGivenOutAgain() {
    var numbers = rewriter(first: 65_530)
    for source in 10..<20 as Range<UInt16> {
      _ = numbers.advance(to: source, forwards: source != 12, gapIsLeftOut: false)
    }
    // 65_530 to 65_535, 0, 1 and 2 are given out; all behind 65_533 waits.
    numbers.rebase(withdrawing: 65_534)
    #expect(numbers.origin(of: 65_533)?.source == 14)
    #expect(numbers.advance(to: 900, forwards: true, gapIsLeftOut: false) == 65_534)
    #expect(numbers.advance(to: 901, forwards: true, gapIsLeftOut: false) == 65_535)
    #expect(numbers.origin(of: 65_534)?.source == 900)
    // Nothing waits, or what is named is none that was given out of late: they go on.
    numbers.rebase(withdrawing: 0)
    #expect(numbers.advance(to: 5, forwards: true, gapIsLeftOut: false) == 0)
    numbers.rebase(withdrawing: 20_000)
    #expect(numbers.advance(to: 5, forwards: true, gapIsLeftOut: false) == 1)
  }

  /// What hasn't left is judged anew: some of it goes on, under the numbers that all had.
  @Test func whatIsReopenedIsTakenOnceMore() {
    var numbers = rewriter(first: 65_530)
    for source in 10..<20 as Range<UInt16> where source != 14 {
      _ = numbers.advance(to: source, forwards: source != 12, gapIsLeftOut: false)
    }
    // 14 is missing and has a number of its own, and 15 is the first that waits.
    #expect(numbers.newest == 2 && numbers.origin(of: 65_534)?.source == 15)
    let reopened = numbers.reopen(from: 65_534)
    #expect(reopened?.first == 15 && reopened?.count == 5)
    #expect(numbers.newest == 65_533 && numbers.place(of: 14) == .reserved(65_533))
    for source in 15..<20 as Range<UInt16> {
      let number = numbers.advance(to: source, forwards: source > 17, gapIsLeftOut: false)
      #expect(number == (source > 17 ? 65_534 &+ (source - 18) : nil))
    }
    #expect(numbers.place(of: 15) == .leftOut && numbers.place(of: 18) == .forwarded(65_534))
    #expect(numbers.advance(to: 20, forwards: true, gapIsLeftOut: false) == 0)
    // What is missing still comes; what was never given out can't be opened.
    numbers.fill(14)
    #expect(numbers.place(of: 14) == .forwarded(65_533))
    for number in [5, 60_000] as [UInt16] {
      let isOpen = numbers.reopen(from: number) != nil
      #expect(!isOpen)
    }
    numbers.rebase()
    let isOpen = numbers.reopen(from: 65_534) != nil
    #expect(!isOpen)
  }

  @Test func aNewSourceAndAJumpGoOn() {
    var numbers = rewriter()
    #expect(numbers.advance(to: 1, forwards: true, gapIsLeftOut: false) == 100)
    #expect(numbers.advance(to: 2, forwards: false, gapIsLeftOut: false) == nil)
    numbers.rebase()
    #expect(numbers.place(of: 1) == .unknown)
    #expect(numbers.advance(to: 40_000, forwards: true, gapIsLeftOut: false) == 101)
    #expect(numbers.advance(to: 42_000, forwards: true, gapIsLeftOut: false) == 102)
    #expect(numbers.place(of: 41_000) == .unknown)
  }

  /// Whatever is left out, lost or late, no two packets get one number, and none is skipped but for what is missing.
  @Test(arguments: 0..<50 as Range<UInt64>)
  func numbersAreUniqueAndWithoutHoles(seed: UInt64) {
    var state = seed &+ 1
    func random(_ bound: UInt64) -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % bound
    }
    var numbers = rewriter(first: 65_000)
    var given: Set<Int> = []
    var missing: [UInt16] = []
    var hasBegun = false
    var wraps = 0
    var last: UInt16 = 65_000
    var source: UInt16 = 60_000
    for _ in 0..<3000 {
      source &+= 1
      if random(20) == 0 {
        // Before the first packet nothing is known to be missing.
        if hasBegun { missing.append(source) }
        continue
      }
      hasBegun = true
      if let number = numbers.advance(to: source, forwards: random(3) > 0, gapIsLeftOut: false) {
        if number < last, last &- number > 30_000 { wraps += 1 }
        last = number
        #expect(given.insert(wraps << 16 | Int(number)).inserted)
      }
      if let late = missing.first, source &- late > 5 {
        missing.removeFirst()
        guard case .reserved(let number) = numbers.place(of: late) else {
          Issue.record("no number is kept for \(late)")
          return
        }
        numbers.fill(late)
        let isBefore = number > last && number &- last > 30_000
        #expect(given.insert((isBefore ? wraps - 1 : wraps) << 16 | Int(number)).inserted)
      }
    }
    let sorted = given.sorted()
    let holes = sorted.last! - sorted[0] + 1 - sorted.count
    #expect(holes <= missing.count)
  }
}
