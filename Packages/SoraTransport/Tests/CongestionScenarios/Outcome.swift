import SoraMedia

/// What came of a scenario's run.
public struct Outcome: Sendable {
  private let scenario: Scenario
  private let recording: Recording

  init(scenario: Scenario, recording: Recording) {
    self.scenario = scenario
    self.recording = recording
  }

  private static var interval: Double { ScenarioRun.interval }

  private func ticks(_ time: ClosedRange<Double>) -> Range<Int> {
    let count = recording.received.first?.count ?? 0
    let first = min(max(0, Int((time.lowerBound / Self.interval).rounded())), count)
    let last = min(max(first, Int((time.upperBound / Self.interval).rounded())), count)
    return first..<last
  }

  /// Bits per second on the wire that a flow received, headers included.
  public func rate(of flow: Int, over time: ClosedRange<Double>) -> Double {
    Self.mean(recording.received[flow][ticks(time)]) * 8 / Self.interval
  }

  private static func mean(_ values: ArraySlice<Double>) -> Double {
    values.isEmpty ? 0 : values.reduce(0, +) / Double(values.count)
  }

  /// Flows over the first bottleneck, the way there.
  private var forward: [Int] {
    scenario.flows.indices.filter {
      !scenario.flows[$0].isBackward && scenario.flows[$0].way != .second
    }
  }

  /// The share of what the forward flows could use that came through.
  public var utilisation: Double {
    var usable = 0.0
    var used = 0.0
    for tick in ticks(scenario.measuredFrom...scenario.seconds) {
      usable += scenario.usable(at: (Double(tick) + 0.5) * Self.interval) * Self.interval
      for flow in forward { used += recording.received[flow][tick] * 8 }
    }
    return usable > 0 ? used / usable : 0
  }

  /// How long forward media waited in the bottlenecks' queues, in milliseconds; of a share of the packets not longer.
  public func delay(_ share: Double) -> Double { recording.delays.percentile(share) }

  /// The longest that any packet waited, in milliseconds.
  public var longestQueue: Double { recording.longestQueue.inMilliseconds }

  /// The longest time, in seconds, in which every packet had waited for more than 300 ms.
  public var longestCongestion: Double { recording.longestCongestion }

  /// The share of the forward media's packets that didn't arrive.
  public var loss: Double {
    var sent = 0
    var received = 0
    for flow in scenario.flows.indices
    where scenario.flows[flow].isMedia && !scenario.flows[flow].isBackward {
      sent += recording.sentPackets[flow]
      received += recording.receivedPackets[flow]
    }
    return sent > 0 ? max(0, Double(sent - received) / Double(sent)) : 0
  }

  /// The longest time that it took, after the bottleneck had become wider, until 90 % of what could be used came through (over half a
  /// second); nil where it never becomes wider. What isn't reached before the next change counts in full.
  public var stepTime: Double? {
    guard scenario.measuresSteps else { return nil }
    var longest: Double?
    for (index, step) in scenario.capacity.enumerated().dropFirst()
    where step.rate > scenario.capacity[index - 1].rate {
      let end =
        index + 1 < scenario.capacity.count ? scenario.capacity[index + 1].at : scenario.seconds
      let goal = 0.9 * scenario.usable(at: step.at + 0.05)
      longest = max(longest ?? 0, timeUntil(goal, in: step.at...end))
    }
    return longest
  }

  private func timeUntil(_ goal: Double, in time: ClosedRange<Double>) -> Double {
    let window = 5
    for tick in ticks(time).dropFirst(window - 1) {
      var bytes = 0.0
      for flow in forward {
        bytes += recording.received[flow][(tick - window + 1)...tick].reduce(0, +)
      }
      if bytes * 8 / (Double(window) * Self.interval) >= goal {
        return Double(tick + 1) * Self.interval - time.lowerBound
      }
    }
    return time.upperBound - time.lowerBound
  }

  /// Jain's index of the forward media's rates in the latter half of the time in which all of them send; 1 is fair. nil for a single one.
  public var fairness: Double? {
    let media = forward.filter { scenario.flows[$0].isMedia }
    guard media.count > 1, let time = common(media) else { return nil }
    let rates = media.map { rate(of: $0, over: time) }
    let sum = rates.reduce(0, +)
    let squares = rates.reduce(0) { $0 + $1 * $1 }
    return squares > 0 ? sum * sum / (Double(rates.count) * squares) : 0
  }

  /// The latter half of the time in which all of these flows send.
  private func common(_ flows: [Int]) -> ClosedRange<Double>? {
    var start = 0.0
    var end = scenario.seconds
    for index in flows {
      let flow = scenario.flows[index]
      start = max(start, flow.active.lowerBound, flow.pauses.map(\.upperBound).max() ?? 0)
      end = min(end, flow.active.upperBound)
    }
    return start < end ? (start + end) / 2...end : nil
  }

  /// The share of the bottleneck that forward media had, in the latter half of the time in which all flows send; nil without others.
  public var mediaShare: Double? {
    guard forward.contains(where: { !scenario.flows[$0].isMedia }), let time = common(forward)
    else { return nil }
    var media = 0.0
    for flow in forward where scenario.flows[flow].isMedia { media += rate(of: flow, over: time) }
    var capacity = 0.0
    for tick in ticks(time) {
      capacity += Double(Scenario.rate(scenario.capacity, at: Double(tick) * Self.interval))
    }
    return media / (capacity / Double(max(1, ticks(time).count)))
  }

  /// The most that a flow sent within half a second of a time, in bits per second on the wire.
  public func burst(of flow: Int, in time: ClosedRange<Double>) -> Double {
    let window = 5
    var most = 0.0
    for tick in ticks(time).dropFirst(window - 1) {
      let bytes = recording.sent[flow][(tick - window + 1)...tick].reduce(0, +)
      most = max(most, bytes * 8 / (Double(window) * Self.interval))
    }
    return most
  }

  /// The rate at which a flow sent, in bits per second on the wire.
  public func sentRate(of flow: Int, over time: ClosedRange<Double>) -> Double {
    Self.mean(recording.sent[flow][ticks(time)]) * 8 / Self.interval
  }

  /// What a run was like in each tenth of a second, for looking into it: rates in kbit/s, and milliseconds in the first bottleneck's
  /// queue.
  public func series(
    of flow: Int
  ) -> [(sent: Double, received: Double, estimate: Double, queue: Double)] {
    recording.sent[flow].indices.map { tick in
      (
        recording.sent[flow][tick] * 8 / Self.interval / 1_000,
        recording.received[flow][tick] * 8 / Self.interval / 1_000,
        recording.estimates[flow][tick] / 1_000, recording.queues[tick].inMilliseconds
      )
    }
  }

  /// The flows, by their places in the scenario.
  public var flows: Range<Int> { scenario.flows.indices }
}

extension Scenario {
  /// Runs it once. The same seed makes the same run, to the byte.
  public func run(seed: UInt64) throws -> Outcome { try ScenarioRun(self, seed: seed).run() }
}
