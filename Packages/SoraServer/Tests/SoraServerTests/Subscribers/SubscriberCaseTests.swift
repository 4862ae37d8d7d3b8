import SoraMedia
import SoraNetworkSimulator
import Testing

/// Test cases of RFC 8867 for subscribers of a server, whose sender is fixed in rate: capacities, times and delays are those of
/// `CongestionScenarios`. Each prints the row that Docs/congestion.md has: the mean over its seeds, for who of several subscribers is first
/// to have a layer keeps it, and that is chance.
@Suite struct SubscriberCaseTests {
  /// Capacities in kbit/s, each from a second on; and what came of them.
  private func run(
    _ name: String, _ origin: String, _ capacities: [(at: Int, kilobits: Int)], seconds: Int,
    players: Int = 1, delays: [Duration] = [], seeds: ClosedRange<UInt64> = 1...1,
    prepare: (SubscriberRoom) -> Void = { _ in }
  ) throws -> Outcome {
    let outcomes = try seeds.map { seed in
      let room = try SubscriberRoom(
        capacities[0].kilobits, players: players, delays: delays, seed: seed)
      let start = room.now
      for step in capacities.dropFirst() {
        room.bottleneck.change(at: start + .seconds(step.at)) {
          $0.bitsPerSecond = step.kilobits * 1000
        }
      }
      prepare(room)
      return Self.outcome(of: room, players: players, seconds: seconds)
    }
    func mean(_ value: (Outcome) -> Double) -> Double {
      outcomes.map(value).reduce(0, +) / Double(outcomes.count)
    }
    let outcome = Outcome(
      frames: (0..<players).map { player in mean { $0.frames[player] } },
      median: mean(\.median), late: mean(\.late), lost: mean(\.lost), jain: mean(\.jain))
    let rates = outcome.frames.map { "\(($0 * 10).rounded() / 10)" }.joined(separator: ", ")
    print(
      "| \(name) | \(origin) | \(rates) | \(Int(outcome.median.rounded())) ms | \(Int(outcome.late.rounded())) ms"
        + " | \((outcome.lost * 100).rounded() / 100) % | \(players > 1 ? "\((outcome.jain * 1000).rounded() / 1000)" : "") |"
    )
    return outcome
  }

  private static func outcome(of room: SubscriberRoom, players: Int, seconds: Int) -> Outcome {
    let start = room.now
    let before = room.bottleneck.forwardStatistics
    room.network.run(for: .seconds(seconds))
    let after = room.bottleneck.forwardStatistics
    let half = start + .seconds(seconds / 2)
    let late = (0..<players).map { Double(room.frames($0, since: half)) }
    let sum = late.reduce(0, +)
    let squares = late.reduce(0) { $0 + $1 * $1 }
    let sent = Double(after.sentPackets - before.sentPackets)
    return Outcome(
      frames: (0..<players).map { Double(room.frames($0, since: start)) / Double(seconds) },
      median: room.wait(0.5, since: start), late: room.wait(0.95, since: start),
      lost: 100 * (1 - Double(after.deliveredPackets - before.deliveredPackets) / max(sent, 1)),
      jain: squares > 0 ? sum * sum / (Double(players) * squares) : 0)
  }

  private struct Outcome {
    /// Frames per second of each subscriber.
    var frames: [Double]
    /// How long packets waited, in milliseconds: half of them no longer, and 95 of a hundred.
    var median: Double
    var late: Double
    /// Of what was sent, in percent.
    var lost: Double
    /// Jain's index of the frames of the latter half.
    var jain: Double
  }

  @Test func variableCapacityOfOne() throws {
    let outcome = try run(
      "variable capacity, one subscriber", "§5.1",
      [(0, 1_000), (40, 2_500), (60, 600), (80, 1_000)],
      seconds: 100)
    #expect(outcome.frames[0] >= 13 && outcome.late <= 60)
  }

  @Test func variableCapacityOfTwo() throws {
    let outcome = try run(
      "variable capacity, two subscribers", "§5.2",
      [(0, 4_000), (25, 2_000), (50, 3_500), (75, 1_000), (100, 2_000)], seconds: 125, players: 2)
    #expect(outcome.frames.allSatisfy { $0 >= 15 } && outcome.late <= 60 && outcome.jain > 0.95)
  }

  @Test func congestedFeedback() throws {
    let outcome = try run(
      "congested feedback, by a CUBIC flow the other way", "§5.3",
      [(0, 2_000), (20, 1_000), (40, 500), (60, 2_000)], seconds: 100, seeds: 1...12
    ) { _ = $0.startTransfer(.cubic, isBackward: true) }
    // One seed has from 14 to 18.
    #expect(outcome.frames[0] >= 15 && outcome.late <= 60)
  }

  @Test func threeSubscribers() throws {
    let outcome = try run(
      "three subscribers", "§5.4", [(0, 3_500)], seconds: 120, players: 3, seeds: 1...8)
    #expect(outcome.frames.allSatisfy { $0 >= 13 } && outcome.late <= 80 && outcome.jain > 0.9)
  }

  @Test func fiveRoundTrips() throws {
    let outcome = try run(
      "five round trips of 20 to 300 ms", "§5.5", [(0, 4_000)], seconds: 300, players: 5,
      delays: [10, 25, 50, 100, 150].map { .milliseconds($0) })
    #expect(outcome.frames.allSatisfy { $0 >= 8 } && outcome.late <= 150 && outcome.jain > 0.95)
  }

  @Test func aPause() throws {
    let outcome = try run(
      "three subscribers, the publisher pauses for 20 s", "§5.8", [(0, 3_500)], seconds: 120,
      players: 3, seeds: 1...8
    ) { room in
      for (second, starved) in [(40, [0] as Set), (60, [])] {
        room.network.after(.seconds(second)) { _ in room.publisher.media?.starved = starved }
      }
    }
    #expect(outcome.frames.allSatisfy { $0 >= 10 } && outcome.late <= 80 && outcome.jain > 0.9)
  }
}
