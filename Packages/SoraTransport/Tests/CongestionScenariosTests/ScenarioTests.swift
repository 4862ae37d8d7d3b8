import CongestionScenarios
import SoraNetworkSimulator
import Testing

@Suite struct ScenarioTests {
  private static func short(_ flows: [Scenario.Flow]) -> Scenario {
    Scenario(
      "short", "test", seconds: 10, capacity: [.init(at: 0, rate: 2_000_000)], flows: flows)
  }

  @Test func oneSeedMakesOneRun() throws {
    let scenario = Self.short([
      .init(.media(maximumVideo: 1_500_000), 0...10), .init(.tcp(.cubic), 2...10),
    ])
    func rates(_ seed: UInt64) throws -> [Double] {
      try scenario.run(seed: seed).series(of: 0).map(\.received)
    }
    let first = try rates(3)
    #expect(try rates(3) == first)
    #expect(try rates(4) != first)
  }

  /// What the link carries is counted once, and all of it.
  @Test func aFullLinkIsUsedUp() throws {
    let outcome = try Self.short([.init(.tcp(.cubic), 0...10)]).run(seed: 1)
    #expect(outcome.utilisation > 0.93 && outcome.utilisation < 1.001)
    #expect(outcome.longestQueue > 250 && outcome.longestQueue < 310)
  }

  @Test func aSourceThatTakesLessThanTheLinkIsCarriedWhole() throws {
    let outcome = try Self.short([.init(.media(maximumVideo: 500_000), 0...10)]).run(seed: 1)
    #expect(outcome.utilisation > 0.85 && outcome.utilisation < 1.05)
    #expect(outcome.delay(0.95) < 25)
    #expect(outcome.loss < 0.01)
  }
}
