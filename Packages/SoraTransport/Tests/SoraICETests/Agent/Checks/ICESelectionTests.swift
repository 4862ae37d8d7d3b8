import SoraICE
import SoraMedia
import Testing

/// Which pair is used, and which may take its place.
@Suite struct ICESelectionTests {
  private let good = CandidatePair.sample(1, priority: 1000)
  private let better = CandidatePair.sample(2, priority: 2000)

  @Test func aSelectionSaysWhatItChanged() {
    var selection = ICESelection()
    let first = selection.select(good, localType: .host)
    #expect(first.isOther && first.isMoved && selection.published?.local == good.local.base.address)
    let again = selection.select(good, localType: .prflx)
    #expect(!again.isOther && !again.isMoved && selection.published?.localType == .prflx)
    let other = selection.select(better, localType: .host)
    #expect(other.isOther && other.isMoved && selection.changes == 2)
    selection.clear()
    selection.clear()
    #expect(selection.pair == nil && selection.published == nil && selection.changes == 3)
  }

  @Test func aNominatedPairYieldsToABetterOneAlone() {
    var selection = ICESelection()
    #expect(!selection.isPreferred(to: good) && !selection.mayBeReplaced(by: good))
    _ = selection.select(good, localType: .host)
    #expect(selection.isPreferred(to: good) && !selection.isPreferred(to: better))
    good.isNominated = true
    #expect(selection.isPreferred(to: better) && selection.mayBeReplaced(by: better))
    _ = selection.select(better, localType: .host)
    #expect(!selection.mayBeReplaced(by: good))
  }

  @Test func aStrandedPairYieldsToAny() {
    var selection = ICESelection()
    _ = selection.select(better, localType: .host)
    selection.strand()
    #expect(selection.isCurrent && selection.isStranded)
    #expect(!selection.isPreferred(to: good) && selection.mayBeReplaced(by: good))
    #expect(!selection.mayBeReplaced(by: better))
    // A new socket of the same address is another way.
    let anew = CandidatePair.sample(2, priority: 2000)
    let change = selection.select(anew, localType: .host)
    #expect(change.isMoved && !selection.isStranded)
  }

  @Test func aRestartLeavesThePairInUse() {
    var selection = ICESelection()
    _ = selection.select(good, localType: .host)
    selection.leaveBehind()
    #expect(selection.pair === good && !selection.isCurrent && !selection.isPreferred(to: better))
    selection.strand()
    #expect(!selection.isStranded)
    selection.takeBack()
    #expect(selection.isCurrent && selection.changes == 1)
    selection.leaveBehind()
    let change = selection.select(good, localType: .host)
    #expect(change.isOther && !change.isMoved && selection.isCurrent)
    selection.strand()
    selection.leaveBehind()
    #expect(selection.pair == nil)
  }

  @Test func aNominationIsAwaitedOrAsked() {
    var nomination = ICENomination.waiting(until: .zero)
    nomination.withdraw { _ in true }
    #expect(nomination.deadline == .zero && nomination.pair == nil)
    nomination.stopWaiting()
    #expect(nomination.deadline == nil)
    nomination = .asked(good)
    nomination.stopWaiting()
    nomination.withdraw { $0 === better }
    #expect(nomination.pair === good)
    nomination.withdraw { $0 === good }
    #expect(nomination.pair == nil)
  }
}
