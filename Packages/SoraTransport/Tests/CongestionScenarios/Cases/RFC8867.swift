import SoraMedia
import SoraNetworkSimulator
import SoraWire

/// The test cases of RFC 8867 §5 and §6, with its paths: 50 ms one way, a queue of 300 ms that drops from its tail, no loss, and up to
/// 30 ms of jitter.
public enum RFC8867 {
  /// §4.2's maximum of 30 ms from end to end, as a normal distribution that is cut at three deviations (RFC 8868 §4.5).
  static let jitter = Duration.milliseconds(5)
  private static let video = Scenario.Kind.media(maximumVideo: 1_500_000)

  public static var all: [Scenario] {
    let basic = [
      singleFlow, multipleFlows, congestedFeedback, competingMedia, roundTripFairness,
      longTCP(.cubic),
      longTCP(.newReno), shortTCP, pauseAndResume, multipleBottlenecks,
    ]
    return (basic + managedQueues).map { scenario in
      var scenario = scenario
      scenario.jitter = jitter
      return scenario
    }
  }

  /// §6.2: cases of §5 behind queues that say early that they fill, by dropping and by marking.
  static var managedQueues: [Scenario] {
    [
      managed(singleFlow, "CoDel that drops", .codel(marks: false), .ect0),
      managed(singleFlow, "CoDel that marks", .codel(marks: true), .ect0),
      managed(singleFlow, "CoDel that marks, ECT(1)", .codel(marks: true), .ect1),
      managed(singleFlow, "a queue for L4S", .scalable, .ect1),
      managed(competingMedia, "CoDel that drops", .codel(marks: false), .ect0),
      managed(competingMedia, "CoDel that marks", .codel(marks: true), .ect0),
      managed(competingMedia, "CoDel that marks, ECT(1)", .codel(marks: true), .ect1),
      managed(competingMedia, "a queue for L4S", .scalable, .ect1),
    ]
  }

  private static func managed(
    _ scenario: Scenario, _ name: String, _ discipline: Scenario.Discipline, _ ecn: ECNCodepoint
  ) -> Scenario {
    var scenario = scenario
    scenario.name += "; \(name)"
    scenario.origin = "RFC 8867 §6.2"
    scenario.discipline = discipline
    scenario.ecn = ecn
    return scenario
  }

  private static func steps(_ rates: (Double, Double)..., unit: Int = 1_000_000) -> [Scenario.Step]
  {
    rates.map { .init(at: $0.0, rate: Int($0.1 * Double(unit))) }
  }

  static var singleFlow: Scenario {
    Scenario(
      "variable capacity, single flow", "RFC 8867 §5.1", seconds: 100,
      capacity: steps((0, 1), (40, 2.5), (60, 0.6), (80, 1)), flows: [.init(video, 0...99)])
  }

  static var multipleFlows: Scenario {
    Scenario(
      "variable capacity, two flows", "RFC 8867 §5.2", seconds: 125,
      capacity: steps((0, 4), (25, 2), (50, 3.5), (75, 1), (100, 2)),
      flows: [.init(video, 0...124), .init(video, 0...124)])
  }

  static var congestedFeedback: Scenario {
    var back = Scenario.Flow(video, 0...99)
    back.isBackward = true
    var scenario = Scenario(
      "congested feedback, media both ways", "RFC 8867 §5.3", seconds: 100,
      capacity: steps((0, 2), (20, 1), (40, 0.5), (60, 2)), flows: [.init(video, 0...99), back])
    scenario.backwardCapacity = steps((0, 2), (35, 0.8), (70, 2))
    return scenario
  }

  static var competingMedia: Scenario {
    Scenario(
      "three flows of our own", "RFC 8867 §5.4", seconds: 120, capacity: steps((0, 3.5)),
      flows: [.init(video, 0...119), .init(video, 20...119), .init(video, 40...119)])
  }

  static var roundTripFairness: Scenario {
    Scenario(
      "five round trips of 20 to 300 ms", "RFC 8867 §5.5", seconds: 300, capacity: steps((0, 4)),
      flows: [
        .init(video, 0...299, delay: .milliseconds(10)),
        .init(video, 10...299, delay: .milliseconds(25)),
        .init(video, 20...299, delay: .milliseconds(50)),
        .init(video, 30...299, delay: .milliseconds(100)),
        .init(video, 40...299, delay: .milliseconds(150)),
      ])
  }

  static func longTCP(_ algorithm: SimulatedTCPAlgorithm) -> Scenario {
    Scenario(
      "against a long TCP flow (\(algorithm == .cubic ? "CUBIC" : "NewReno"))", "RFC 8867 §5.6",
      seconds: 120, capacity: steps((0, 2)),
      flows: [.init(video, 5...119), .init(.tcp(algorithm), 0...119)])
  }

  static var shortTCP: Scenario {
    var flows: [Scenario.Flow] = [.init(video, 5...299), .init(video, 5...299)]
    // Two download from the start, eight are idle at first.
    for index in 0..<10 { flows.append(.init(.web(.cubic, startsIdle: index >= 2), 0...299)) }
    return Scenario(
      "two flows against ten short TCP flows", "RFC 8867 §5.7", seconds: 300,
      capacity: steps((0, 2)), flows: flows)
  }

  static var pauseAndResume: Scenario {
    var flows: [Scenario.Flow] = Array(repeating: .init(video, 0...119), count: 3)
    flows[0].pauses = [40...60]
    return Scenario(
      "three flows, one pauses for 20 s", "RFC 8867 §5.8", seconds: 120, capacity: steps((0, 3.5)),
      flows: flows)
  }

  static var multipleBottlenecks: Scenario {
    var flows: [Scenario.Flow] = Array(repeating: .init(video, 0...119), count: 3)
    flows[1].way = .first
    flows[2].way = .second
    var scenario = Scenario(
      "two bottlenecks, one flow over both", "RFC 8867 §6.3", seconds: 120,
      capacity: steps((0, 2)), flows: flows)
    scenario.secondCapacity = 2_000_000
    return scenario
  }
}
