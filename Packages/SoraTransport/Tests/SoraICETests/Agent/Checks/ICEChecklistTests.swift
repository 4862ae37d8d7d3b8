import SoraICE
import SoraMedia
import Testing

/// Which pairs there are, and which is checked next (RFC 8445 §6.1.2, §6.1.4.2).
@Suite struct ICEChecklistTests {
  private func list(maxPairs: Int = 10, fastChecks: Int = 2) -> ICEChecklist {
    var configuration = ICEConfiguration(isControlling: true)
    configuration.maxPairs = maxPairs
    configuration.fastChecks = fastChecks
    return ICEChecklist(configuration)
  }

  private func add(_ pairs: [CandidatePair], to list: inout ICEChecklist) {
    for pair in pairs { _ = list.add(pair) }
  }

  @Test func triggeredChecksGoFirstThenTheBest() {
    var list = list()
    let pairs = (1...3).map { CandidatePair.sample(UInt16($0), priority: 100 * UInt32($0)) }
    add(pairs, to: &list)
    list.trigger(pairs[0])
    list.trigger(pairs[0])
    var order: [Int] = []
    var times: [Duration] = []
    while let next = list.nextCheckAt {
      let early = list.nextCheck(at: next - .nanoseconds(1))
      #expect(early == nil)
      guard let pair = list.nextCheck(at: next) else { break }
      #expect(pair.state == .inProgress)
      order.append(pair.number)
      times.append(next - .zero)
    }
    #expect(order == [1, 3, 2])
    // One at the quick pace, then Ta.
    #expect(times == [.zero, .milliseconds(5), .milliseconds(55)])
    #expect(list.isUndecided && !list.hasCheck)
  }

  @Test func theWorstOfThoseNotBegunMakesRoom() {
    var list = list(maxPairs: 2)
    let (poor, good) = (CandidatePair.sample(1, priority: 1), CandidatePair.sample(2, priority: 5))
    add([poor, good], to: &list)
    let worse = list.add(.sample(3, priority: 0))
    let better = list.add(.sample(4, priority: 3))
    #expect(worse == .refused && better == .replacing)
    #expect(!list.pairs.contains { $0 === poor })
    // So does what was left aside.
    for pair in list.pairs { pair.state = pair === good ? .frozen : .succeeded }
    let another = list.add(.sample(6, priority: 6))
    #expect(another == .replacing && !list.pairs.contains { $0 === good })
    for pair in list.pairs { pair.state = .succeeded }
    let best = list.add(.sample(5, priority: 9))
    #expect(best == .refused)
    #expect(list.pairs.map(\.number) == [3, 4])
  }

  @Test func whatCantBecomeBetterIsLeftAsideUntilItIsWanted() {
    var list = list()
    let poor = CandidatePair.sample(1, priority: 1)
    let selected = CandidatePair.sample(2, priority: 2, state: .succeeded)
    let better = CandidatePair.sample(3, priority: 3)
    add([poor, selected, better], to: &list)
    list.trigger(poor)
    #expect(list.bestValid() === selected && list.bestValid(except: selected) == nil)
    #expect(list.mayImprove(on: selected) && !list.mayImprove(on: better))
    list.conclude(with: selected)
    #expect(poor.state == .frozen && better.state == .waiting)
    let next = list.nextCheck(at: .zero)
    #expect(next === better)
    list.fail(better)
    #expect(!list.hasCheck && !list.isUndecided)
    list.revive(above: selected.priority, at: .zero)
    #expect(poor.state == .frozen && better.state == .waiting)
    list.revive(above: 0, at: .zero)
    #expect(poor.state == .waiting)
    list.recheckValid(except: nil)
    let rechecked = list.nextCheck(at: .zero)
    #expect(rechecked === selected)
  }

  @Test func aRestartCanBeTakenBack() {
    var list = list()
    let (one, two) = (CandidatePair.sample(1), CandidatePair.sample(2))
    add([one, two], to: &list)
    _ = list.nextCheck(at: .zero)
    let (old, version) = (list, list.version)
    list.restart()
    #expect(list.pairs.isEmpty && list.version != version)
    add([.sample(3)], to: &list)
    #expect(list.pairs[0].number == 3)
    let between = list.version
    list.takeBack(old, at: .zero + .seconds(1))
    #expect(list.pairs.map(\.number) == [1, 2] && list.version > between)
    #expect(list.pairs.allSatisfy { $0.state == .waiting })
    #expect(list.nextCheckAt == .zero + .seconds(1))
    add([.sample(4)], to: &list)
    #expect(list.pairs.last?.number == 4)
  }

  @Test func aPairThatGoesIsNotChecked() {
    var list = list()
    let pair = CandidatePair.sample(1)
    add([pair], to: &list)
    list.trigger(pair)
    list.remove { $0 === pair }
    let next = list.nextCheck(at: .zero)
    #expect(next == nil && list.pairs.isEmpty && list.nextCheckAt == nil)
  }
}
