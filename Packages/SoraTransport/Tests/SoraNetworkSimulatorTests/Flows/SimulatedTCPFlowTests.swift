import SoraMedia
import SoraNetworkSimulator
import Testing

@Suite struct SimulatedTCPFlowTests {
  private let network: SimulatedNetwork
  private let link: SimulatedLink
  private let hosts: (SimulatedHost, SimulatedHost)

  init() {
    network = SimulatedNetwork(seed: 5, retention: .digestOnly)
    hosts = (network.addHost("a", "10.0.0.1"), network.addHost("b", "10.0.0.2"))
    // 100 ms of round trip and 300 ms of queue: 17 and 50 packets at 2 Mbit/s.
    link = network.link(
      hosts.0, hosts.1,
      forward: LinkConditions(delay: .milliseconds(50), bitsPerSecond: 2_000_000),
      backward: LinkConditions(delay: .milliseconds(50)))
  }

  private func flow(_ algorithm: SimulatedTCPAlgorithm) -> SimulatedTCPFlow {
    SimulatedTCPFlow(network, from: hosts.0, to: hosts.1, algorithm: algorithm)
  }

  @Test(arguments: [SimulatedTCPAlgorithm.newReno, .cubic])
  func aLongFlowFillsLinkAndQueue(_ algorithm: SimulatedTCPAlgorithm) {
    let flow = flow(algorithm)
    flow.send(nil)
    network.run(for: .seconds(10))
    let before = flow.wireBytesReceived
    network.run(for: .seconds(60))
    let rate = Double(flow.wireBytesReceived - before) * 8 / 60
    #expect(rate > 1_960_000)
    #expect(link.forwardStatistics.longestQueueTime > .milliseconds(290))
    // The window stays around what the path and the queue hold.
    #expect(flow.window > 30 && flow.window < 80)
    #expect(flow.retransmissions > 0 && flow.timeouts <= 3)
    network.removeAllEndpoints()
  }

  @Test func slowStartDoublesEachRoundTrip() {
    link.forwardConditions.bitsPerSecond = nil
    let flow = flow(.newReno)
    flow.send(nil)
    network.run(for: .milliseconds(90))
    #expect(flow.window == 10)
    network.run(for: .milliseconds(100))
    #expect(flow.window == 20)
    network.run(for: .milliseconds(100))
    #expect(flow.window == 40)
    network.removeAllEndpoints()
  }

  /// RFC 5681 §3.1: NewReno halves and then adds a segment per round trip; RFC 9438 §4.2: CUBIC keeps 70 % and comes back within
  /// K = cbrt(0.3 W / 0.4) seconds.
  @Test func decreaseAndGrowthAreThoseOfTheRFCs() throws {
    for (algorithm, factor) in [(SimulatedTCPAlgorithm.newReno, 0.5), (.cubic, 0.7)] {
      link.forwardConditions.bitsPerSecond = nil
      let flow = flow(algorithm)
      flow.send(nil)
      try #require(network.run(until: { flow.window >= 160 }, within: .seconds(2)))
      // A few segments of one round trip are lost, which ends slow start.
      link.forwardConditions.loss = 0.03
      network.run(for: .milliseconds(100))
      link.forwardConditions.loss = 0
      var high = 0.0
      try #require(
        network.run(
          until: {
            high = max(high, flow.window)
            return flow.window < 0.9 * high
          }, within: .seconds(1)))
      let low = flow.window
      #expect(abs(low / high - factor) < 0.1, "\(algorithm): \(high) to \(low)")
      network.run(for: .seconds(4))
      let grown = flow.window - low
      #expect(flow.timeouts == 0)
      if algorithm == .newReno {
        #expect(grown > 30 && grown < 42, "\(grown)")
      } else {
        // K is about 5 s: after four of them most of the way is back, and it isn't overshot.
        #expect(grown > 0.7 * (high - low) && grown < 1.1 * (high - low), "\(grown)")
      }
      flow.stop()
      network.run(for: .seconds(2))
    }
    network.removeAllEndpoints()
  }

  @Test func aTransferEndsInSpiteOfLoss() {
    link.forwardConditions.loss = 0.05
    link.backwardConditions.loss = 0.05
    let flow = flow(.cubic)
    var done: Instant?
    flow.onDone = { done = $0 }
    flow.send(1_000_000)
    network.run(for: .seconds(60))
    #expect(flow.isDone)
    #expect(flow.bytesReceived >= 1_000_000)
    #expect(done != nil)
    #expect(flow.retransmissions >= 30)
    network.removeAllEndpoints()
  }

  @Test func anOutageIsSurvivedByTheTimer() {
    let flow = flow(.newReno)
    flow.send(nil)
    network.run(for: .seconds(5))
    link.setUp(false)
    network.run(for: .seconds(5))
    let before = flow.bytesReceived
    let timeouts = flow.timeouts
    #expect(timeouts >= 3 && timeouts < 8)
    link.setUp(true)
    network.run(for: .seconds(20))
    #expect(Double(flow.bytesReceived - before) * 8 / 20 > 1_000_000)
    network.removeAllEndpoints()
  }

  @Test func twoFlowsShare() {
    let flows = [flow(.newReno), flow(.newReno)]
    flows[0].send(nil)
    network.run(for: .seconds(10))
    flows[1].send(nil)
    network.run(for: .seconds(60))
    let before = flows.map(\.wireBytesReceived)
    network.run(for: .seconds(120))
    let rates = zip(flows, before).map { Double($0.wireBytesReceived - $1) * 8 / 120 }
    #expect(rates.reduce(0, +) > 1_950_000)
    #expect(rates.min() ?? 0 > 600_000, "\(rates)")
    network.removeAllEndpoints()
  }
}
