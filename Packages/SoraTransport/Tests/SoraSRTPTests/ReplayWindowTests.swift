import SoraMedia
import SoraSRTP
import Testing

@Suite struct ReplayWindowTests {
  /// The ring of bits agrees with a plain set.
  @Test(arguments: [64, 128, 1024])
  func agreesWithASet(packets: Int) {
    var window = ReplayWindow(packets: packets)
    defer { window.deallocate() }
    var seen: Set<UInt64> = []
    var highest: UInt64 = 0
    let random = RandomSource(seed: UInt64(packets))
    for _ in 0..<50_000 {
      var index = highest &+ random.next() % 40
      index = index > 30 ? index - random.next() % 31 : index
      switch random.next() % 500 {
      case 0: index = highest + random.next() % 5_000
      case 1...20: index = highest - min(highest, random.next() % UInt64(2 * packets))
      default: break
      }
      let expected: SRTPError? =
        index > highest
        ? nil
        : highest - index >= UInt64(packets) ? .tooOld : seen.contains(index) ? .replayed : nil
      var actual: SRTPError?
      do throws(SRTPError) { try window.check(index) } catch { actual = error }
      #expect(actual == expected)
      if actual == nil {
        window.insert(index)
        seen.insert(index)
        highest = max(highest, index)
      }
    }
    #expect(window.highest == highest)
  }

  @Test func indicesFollowTheSequenceOverItsEnds() throws {
    #expect(try SRTPIndex.estimate(highest: 0, sequence: 65_535) == 65_535)
    #expect(try SRTPIndex.estimate(highest: 65_535, sequence: 0) == 65_536)
    #expect(try SRTPIndex.estimate(highest: 65_536, sequence: 65_535) == 65_535)
    #expect(try SRTPIndex.estimate(highest: 65_536 + 40_000, sequence: 2) == 131_074)
    #expect(throws: SRTPError.keyExhausted) {
      try SRTPIndex.estimate(highest: SRTPIndex.maximumRTP, sequence: 0)
    }
  }
}
