import SoraMedia
public import SoraNetworkSimulator

/// What this project wants of its congestion control, each as a scenario, a figure and a bound.
public struct Goal: Sendable {
  public var name: String
  /// What is to be reached, in words.
  public var bound: String
  public var scenario: Scenario
  /// The figure and whether it is good enough.
  private let judge: @Sendable (Outcome) -> (figure: Double, isMet: Bool)
  private let unit: String

  init(
    _ name: String, _ bound: String, unit: String, _ scenario: Scenario,
    _ judge: @escaping @Sendable (Outcome) -> (figure: Double, isMet: Bool)
  ) {
    self.name = name
    self.bound = bound
    self.unit = unit
    self.scenario = scenario
    self.judge = judge
  }

  /// What came of a run.
  public struct Verdict: Sendable {
    public var figure: Double
    public var unit: String
    public var isMet: Bool
  }

  public func verdict(_ outcome: Outcome) -> Verdict {
    let (figure, isMet) = judge(outcome)
    return Verdict(figure: figure, unit: unit, isMet: isMet)
  }
}

extension Goal {
  private static func flow(_ maximum: Int, _ active: ClosedRange<Double>) -> Scenario.Flow {
    .init(.media(maximumVideo: maximum), active)
  }

  /// One flow for as long as it takes to settle, and then for a minute and a half.
  private static func alone(_ name: String, on rate: Int) -> Scenario {
    var scenario = Scenario(
      name, "goal", seconds: 100, capacity: [.init(at: 0, rate: rate)],
      flows: [flow(5_000_000, 0...100)])
    scenario.measuredFrom = 10
    return scenario
  }

  /// From 1 to 4 Mbit/s: 90 % of it come through within 3 s.
  public static var step: Goal {
    let scenario = Scenario(
      "1 to 4 Mbit/s", "goal", seconds: 60,
      capacity: [.init(at: 0, rate: 1_000_000), .init(at: 30, rate: 4_000_000)],
      flows: [flow(5_000_000, 0...60)])
    return Goal("step from 1 to 4 Mbit/s", "90 % within 3 s", unit: "s", scenario) {
      let time = $0.stepTime ?? .infinity
      return (time, time <= 3)
    }
  }

  /// On a link that is full all the time packets hardly wait.
  public static func delay(_ rate: Int) -> Goal {
    let scenario = alone("full link", on: rate)
    let text = rate % 1_000_000 == 0 ? "\(rate / 1_000_000) Mbit/s" : "\(rate / 1_000) kbit/s"
    return Goal("own queue on a full link of \(text)", "p95 of 60 ms", unit: "ms", scenario) {
      let delay = $0.delay(0.95)
      return (delay, delay <= 60 && $0.utilisation >= 0.75)
    }
  }

  /// Loss that the rate doesn't make isn't obeyed.
  public static var randomLosses: [Goal] {
    [randomLoss(0.02, used: 0.85), randomLoss(0.05, used: 0.75), randomLoss(0.1, used: 0.55)]
  }

  private static func randomLoss(_ share: Double, used: Double) -> Goal {
    let name = "\(Int(100 * share)) %"
    var scenario = alone("\(name) loss", on: 3_000_000)
    scenario.loss = share
    return Goal("\(name) random loss on 3 Mbit/s", "\(Int(100 * used)) % used", unit: "%", scenario)
    {
      (100 * $0.utilisation, $0.utilisation >= used)
    }
  }

  /// Packets that overtake each other pass for lost for a while: that isn't obeyed.
  public static var disorder: Goal {
    var scenario = alone("disorder", on: 3_000_000)
    scenario.disorder = .milliseconds(160)
    return Goal(
      "packets up to 160 ms late, in any order, on 3 Mbit/s", "60 % used", unit: "%", scenario
    ) {
      (100 * $0.utilisation, $0.utilisation >= 0.6)
    }
  }

  /// Loss that the rate makes is obeyed, also where hardly any queue shows it.
  public static var shallow: Goal {
    var scenario = alone("shallow queue", on: 1_500_000)
    scenario.queue = .milliseconds(20)
    return Goal("1.5 Mbit/s with a queue of 20 ms", "10 % lost", unit: "%", scenario) {
      (100 * $0.loss, $0.loss <= 0.1 && $0.utilisation >= 0.6)
    }
  }

  /// Two of us have the same, the second starting 20 s later.
  public static var sharing: Goal {
    let scenario = Scenario(
      "two of us", "goal", seconds: 140, capacity: [.init(at: 0, rate: 4_000_000)],
      flows: [flow(5_000_000, 0...140), flow(5_000_000, 20...140)])
    return Goal("two of us on 4 Mbit/s", "each within 10 % of a half", unit: "%", scenario) {
      outcome in
      let rates = [0, 1].map { outcome.rate(of: $0, over: 80...140) }
      let apart = abs(rates[0] - rates[1]) / max(rates[0] + rates[1], 1)
      return (100 * apart, apart <= 0.1)
    }
  }

  /// A TCP flow leaves us a fifth.
  public static func tcp(_ algorithm: SimulatedTCPAlgorithm) -> Goal {
    let scenario = Scenario(
      "against TCP", "goal", seconds: 120, capacity: [.init(at: 0, rate: 2_000_000)],
      flows: [flow(5_000_000, 0...120), .init(.tcp(algorithm), 10...120)])
    let name = algorithm == .cubic ? "CUBIC" : "NewReno"
    return Goal("against \(name) on 2 Mbit/s", "20 % of the link", unit: "%", scenario) {
      let share = $0.mediaShare ?? 0
      return (100 * share, share >= 0.2)
    }
  }

  /// A link that falls to a fifth, with room for two seconds, is drained soon.
  public static var drop: Goal { drop(disorder: .zero, "", within: 1) }

  /// Disorder hides a queue, but not for long.
  public static var dropInDisorder: Goal {
    drop(disorder: .milliseconds(60), ", packets up to 60 ms late", within: 2.5)
  }

  private static func drop(disorder: Duration, _ suffix: String, within seconds: Double) -> Goal {
    var scenario = Scenario(
      "to a fifth", "goal", seconds: 60,
      capacity: [.init(at: 0, rate: 2_500_000), .init(at: 30, rate: 500_000)],
      flows: [flow(5_000_000, 0...60)])
    scenario.queue = .seconds(2)
    scenario.disorder = disorder
    scenario.measuredFrom = 10
    return Goal(
      "drop from 2.5 to 0.5 Mbit/s\(suffix)", "over 300 ms for \(seconds) s at most", unit: "s",
      scenario
    ) {
      ($0.longestCongestion, $0.longestCongestion <= seconds)
    }
  }

  /// What waited during an outage doesn't leave in one burst.
  public static func outage(_ rate: Int, maximumVideo: Int = 5_000_000) -> Goal {
    var scenario = Scenario(
      "outage", "goal", seconds: 45, capacity: [.init(at: 0, rate: rate)],
      flows: [flow(maximumVideo, 0...45)])
    scenario.outage = 30...32.5
    let sent = maximumVideo < rate ? ", video of \(Double(maximumVideo) / 1e6) Mbit/s" : ""
    let text = "\(Double(rate) / 1e6) Mbit/s\(sent)"
    return Goal(
      "outage of 2.5 s on \(text)", "no more than 1.5 times the old rate", unit: "x", scenario
    ) {
      let factor =
        $0.burst(of: 0, in: 32.5...38) / max($0.sentRate(of: 0, over: 20...30), 1)
      return (factor, factor <= 1.5)
    }
  }

  public static var all: [Goal] {
    [step, delay(1_000_000), delay(2_000_000), delay(4_000_000)] + randomLosses + [
      shallow, disorder, sharing, tcp(.cubic), tcp(.newReno), drop, dropInDisorder, outage(500_000),
      outage(2_000_000), outage(10_000_000, maximumVideo: 500_000),
      outage(10_000_000, maximumVideo: 1_500_000),
    ]
  }
}
