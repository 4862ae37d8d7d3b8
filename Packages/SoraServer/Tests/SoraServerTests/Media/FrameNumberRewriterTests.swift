import SoraServer
import Testing

/// Numbers of frames in dependency descriptors towards a subscriber.
@Suite struct FrameNumberRewriterTests {
  /// What the subscriber is told of frames that go on.
  private func pass(_ numbers: [UInt16], _ rewriter: inout FrameNumberRewriter) -> [UInt16] {
    numbers.map {
      rewriter.advance(to: $0)
      return $0 &+ rewriter.shift
    }
  }

  @Test func theFirstSourceKeepsItsNumbersAndGaps() {
    var rewriter = FrameNumberRewriter()
    #expect(pass([65_533, 65_533, 65_535, 3], &rewriter) == [65_533, 65_533, 65_535, 3])
    #expect(rewriter.shift == 0)
  }

  /// Whichever numbers the next source has, its first frame follows the last one, and differences stay what they are.
  @Test(arguments: [0, 1, 9, 40_000, 65_535] as [UInt16])
  func anotherSourceGoesOn(first: UInt16) {
    var rewriter = FrameNumberRewriter()
    _ = pass([65_530, 65_534], &rewriter)
    rewriter.rebase()
    #expect(pass([first, first, first &+ 4], &rewriter) == [65_535, 65_535, 3])
    rewriter.rebase()
    #expect(pass([12, 13], &rewriter) == [4, 5])
  }

  /// A source of which nothing goes on, or that has no descriptors, changes nothing.
  @Test func sourcesWithoutFramesArePassedOver() {
    var rewriter = FrameNumberRewriter()
    rewriter.rebase()
    #expect(pass([700], &rewriter) == [700])
    rewriter.rebase()
    rewriter.rebase()
    #expect(rewriter.shift == 0)
    #expect(pass([5], &rewriter) == [701])
  }
}
