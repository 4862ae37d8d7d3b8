import CongestionScenarios
import Testing

/// The test cases of RFC 8867 and RFC 8869 that Docs/congestion.md has, once each: none gets much worse unseen. The bounds are what the
/// documented means leave room for, and no goals.
@Suite struct CaseTests {
  struct Bounds {
    /// Share of what could be used.
    var used: Double
    /// Milliseconds in the queue that 95 % of the packets wait at most.
    var delay = 90.0
    /// Jain's index.
    var fairness: Double?
    /// Media's share beside TCP.
    var share: Double?
    /// Share of packets lost.
    var loss = 1.0
  }

  private static let bounds: [String: Bounds] = [
    "variable capacity, single flow": Bounds(used: 0.9),
    "variable capacity, two flows": Bounds(used: 0.92, fairness: 0.95),
    "congested feedback, media both ways": Bounds(used: 0.88),
    "three flows of our own": Bounds(used: 0.94, fairness: 0.85),
    "variable capacity, single flow; CoDel that drops": Bounds(used: 0.9),
    "variable capacity, single flow; CoDel that marks": Bounds(used: 0.89, loss: 0.003),
    "variable capacity, single flow; CoDel that marks, ECT(1)":
      Bounds(used: 0.9, delay: 40, loss: 0.003),
    "variable capacity, single flow; a queue for L4S": Bounds(used: 0.89, delay: 40, loss: 0.003),
    "three flows of our own; CoDel that drops": Bounds(used: 0.94, fairness: 0.85),
    "three flows of our own; CoDel that marks":
      Bounds(used: 0.91, delay: 50, fairness: 0.75, loss: 0.002),
    "three flows of our own; CoDel that marks, ECT(1)":
      Bounds(used: 0.93, delay: 50, fairness: 0.8, loss: 0.003),
    "three flows of our own; a queue for L4S":
      Bounds(used: 0.68, delay: 50, fairness: 0.75, loss: 0.001),
    "five round trips of 20 to 300 ms": Bounds(used: 0.94, delay: 110, fairness: 0.7),
    "against a long TCP flow (CUBIC)": Bounds(used: 0.97, delay: 305, share: 0.2),
    "against a long TCP flow (NewReno)": Bounds(used: 0.97, delay: 305, share: 0.07),
    "two flows against ten short TCP flows":
      Bounds(used: 0.97, delay: 305, fairness: 0.9, share: 0.15),
    "three flows, one pauses for 20 s": Bounds(used: 0.92, fairness: 0.9),
    "two bottlenecks, one flow over both": Bounds(used: 0.92, fairness: 0.6),
    "Wi-Fi before a wired bottleneck": Bounds(used: 0.92),
    "Wi-Fi, rates of 0.8 to 3 Mbit/s": Bounds(used: 0.37),
    "Wi-Fi, four flows in a cell": Bounds(used: 0.86, fairness: 0.85),
    "Wi-Fi, three flows and a TCP flow": Bounds(used: 0.95, delay: 305, fairness: 0.9, share: 0.2),
    "cellular, load of others": Bounds(used: 0.7),
    "cellular, fading": Bounds(used: 0.7),
  ]

  @Test func everyCaseHasBounds() {
    #expect(Set((RFC8867.all + RFC8869.all).map(\.name)) == Set(Self.bounds.keys))
  }

  @Test(arguments: bounds.keys.sorted())
  func noCaseIsMuchWorseThanDocumented(_ name: String) throws {
    let scenario = try #require((RFC8867.all + RFC8869.all).first { $0.name == name })
    let bounds = try #require(Self.bounds[name])
    let outcome = try scenario.run(seed: 1)
    #expect(outcome.utilisation >= bounds.used)
    #expect(outcome.delay(0.95) <= bounds.delay)
    #expect(outcome.loss <= bounds.loss)
    if let fairness = bounds.fairness { #expect(try #require(outcome.fairness) >= fairness) }
    if let share = bounds.share { #expect(try #require(outcome.mediaShare) >= share) }
  }
}
