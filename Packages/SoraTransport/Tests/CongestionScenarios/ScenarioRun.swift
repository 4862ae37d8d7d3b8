import SoraMedia
import SoraNetworkSimulator
import SoraWire

/// One run of a scenario: builds its network, starts its flows and samples what passes ten times per second.
final class ScenarioRun {
  static let interval = 0.1

  private let scenario: Scenario
  private let network: SimulatedNetwork
  private var recording: Recording
  private var ends: [RunningFlow] = []
  private var link: SimulatedLink?
  private var keptAlive: [WebTraffic] = []

  init(_ scenario: Scenario, seed: UInt64) throws {
    self.scenario = scenario
    network = SimulatedNetwork(seed: seed, retention: .digestOnly)
    recording = Recording(flows: scenario.flows.count)
    try build()
  }

  func run() -> Outcome {
    var tick = 1
    while Double(tick) * Self.interval <= scenario.seconds + Self.interval / 2 {
      network.run(until: Self.instant(Double(tick) * Self.interval))
      for (index, end) in ends.enumerated() {
        recording.note(
          flow: index, sent: end.sentBytes(), received: end.receivedBytes(),
          estimate: end.estimate())
      }
      if let link { recording.noteStanding(link.queueTimes.forward) }
      tick += 1
    }
    for (index, end) in ends.enumerated() {
      recording.sentPackets[index] = end.sentPackets()
      recording.receivedPackets[index] = end.receivedPackets()
    }
    network.removeAllEndpoints()
    return Outcome(scenario: scenario, recording: recording)
  }

  private static func instant(_ seconds: Double) -> Instant {
    Instant(nanoseconds: Int64(seconds * 1e9))
  }

  // MARK: The network

  private func build() throws {
    let left = network.addRouter("left")
    let right = network.addRouter("right")
    let far = scenario.secondCapacity.map { _ in network.addRouter("far") }
    let link = network.link(
      left, right, forward: bottleneck(scenario.capacity),
      backward: bottleneck(scenario.backwardCapacity ?? scenario.capacity))
    self.link = link
    for step in scenario.capacity.dropFirst() {
      network.at(Self.instant(step.at)) { _ in link.forwardConditions.bitsPerSecond = step.rate }
    }
    for step in (scenario.backwardCapacity ?? scenario.capacity).dropFirst() {
      network.at(Self.instant(step.at)) { _ in link.backwardConditions.bitsPerSecond = step.rate }
    }
    if let outage = scenario.outage {
      network.at(Self.instant(outage.lowerBound)) { _ in link.setUp(false) }
      network.at(Self.instant(outage.upperBound)) { _ in link.setUp(true) }
    }
    observe(link)
    if let far, let rate = scenario.secondCapacity {
      observe(network.link(right, far, bottleneck([.init(at: 0, rate: rate)])))
    }
    for (index, flow) in scenario.flows.enumerated() {
      let entry = flow.way == .second ? right : left
      let exit = flow.way == .first ? right : far ?? right
      try add(flow, index, entry: entry, exit: exit)
    }
  }

  private func bottleneck(_ steps: [Scenario.Step]) -> LinkConditions {
    var conditions = LinkConditions(
      loss: scenario.loss, bitsPerSecond: steps.first?.rate, queue: .time(scenario.queue))
    switch scenario.discipline {
    case .dropTail: break
    case .codel(let marks): conditions.codel = CoDel(marks: marks)
    case .scalable: conditions.scalableThreshold = .milliseconds(1)
    }
    return conditions
  }

  /// What is between the bottleneck and a receiver.
  private var beyond: LinkConditions {
    let disorder = scenario.disorder
    guard disorder > .zero else {
      return LinkConditions(jitter: scenario.jitter, jitterShape: .normal)
    }
    return LinkConditions(delay: disorder / 2, jitter: disorder / 2, jitterReorders: true)
  }

  /// Hosts are numbered by their flow: the receiver's address tells whose a datagram is.
  private func observe(_ link: SimulatedLink) {
    let from = scenario.measuredFrom
    link.onForwardDeparture = { [unowned self] datagram, now in
      guard now.seconds >= from else { return }
      recording.noteQueue(datagram.waited)
      guard let flow = byAddress[datagram.destination.ip] else { return }
      if scenario.flows[flow].isMedia, !scenario.flows[flow].isBackward {
        recording.delays.add(datagram.waited)
      }
      recording.noteLongQueue(datagram.waited, at: now.seconds)
    }
  }

  private var byAddress: [IPAddress: Int] = [:]

  private func add(
    _ flow: Scenario.Flow, _ index: Int, entry: SimulatedHost, exit: SimulatedHost
  ) throws {
    let near = network.addHost("near \(index)", "10.0.\(index).1")
    let distant = network.addHost("distant \(index)", "10.1.\(index).1")
    network.link(near, entry, LinkConditions(delay: flow.delay))
    network.link(exit, distant, beyond)
    let (from, to) = flow.isBackward ? (distant, near) : (near, distant)
    byAddress[to.addresses[0]] = index
    switch flow.kind {
    case .media(let maximumVideo):
      let media = try MediaFlow(
        network, from: from, to: to, serial: UInt64(index + 1),
        source: .init(maximumVideo: maximumVideo), ecn: scenario.ecn)
      ends.append(.media(media))
      network.at(Self.instant(flow.active.lowerBound)) { _ in media.start() }
      for pause in flow.pauses {
        network.at(Self.instant(pause.lowerBound)) { _ in media.isPaused = true }
        network.at(Self.instant(pause.upperBound)) { _ in media.isPaused = false }
      }
      network.at(Self.instant(flow.active.upperBound)) { _ in media.stop() }
    case .tcp(let algorithm):
      let transfer = SimulatedTCPFlow(network, from: from, to: to, algorithm: algorithm)
      ends.append(.tcp(transfer))
      network.at(Self.instant(flow.active.lowerBound)) { _ in transfer.send(nil) }
      network.at(Self.instant(flow.active.upperBound)) { _ in transfer.stop() }
    case .web(let algorithm, let startsIdle):
      let transfer = SimulatedTCPFlow(network, from: from, to: to, algorithm: algorithm)
      ends.append(.tcp(transfer))
      network.at(Self.instant(flow.active.lowerBound)) { [unowned self] _ in
        keptAlive.append(WebTraffic(network, transfer, startsIdle: startsIdle))
      }
    }
  }
}

/// The two ends of a flow, to be counted.
private enum RunningFlow {
  case media(MediaFlow)
  case tcp(SimulatedTCPFlow)

  func sentBytes() -> Int {
    switch self {
    case .media(let flow): flow.sender.sent.wireBytes
    case .tcp: 0
    }
  }

  func estimate() -> Int {
    switch self {
    case .media(let flow): flow.estimate
    case .tcp: 0
    }
  }

  func receivedBytes() -> Int {
    switch self {
    case .media(let flow): flow.receiver.received.wireBytes
    case .tcp(let flow): flow.wireBytesReceived
    }
  }

  func sentPackets() -> Int {
    switch self {
    case .media(let flow): flow.sender.sent.packets
    case .tcp: 0
    }
  }

  func receivedPackets() -> Int {
    switch self {
    case .media(let flow): flow.receiver.received.packets
    case .tcp: 0
    }
  }
}
