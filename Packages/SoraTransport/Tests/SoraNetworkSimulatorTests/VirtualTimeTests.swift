import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraWire
import Testing

@Suite struct VirtualTimeTests {
  @Test func endpointsArePolledAtTheirDeadlines() {
    let pair = Pair()
    pair.left.deadlines = [.zero + .milliseconds(30), .zero + .milliseconds(10)]
    // Moves its deadline forward when something arrives.
    pair.right.deadlines = [.zero + .seconds(1)]
    pair.right.onReceive = { _, _, _ in
      pair.right.deadlines = [.zero + .milliseconds(20), .zero + .seconds(2)]
    }
    pair.send(1)
    pair.network.run(for: .seconds(3))
    #expect(pair.left.polls == [.zero + .milliseconds(10), .zero + .milliseconds(30)])
    #expect(pair.right.polls == [.zero + .milliseconds(20), .zero + .seconds(2)])
    #expect(pair.network.overduePolls == 0)
    #expect(pair.network.now == .zero + .seconds(3))
  }

  /// An endpoint whose deadline never moves.
  final class Stuck: SimulatedEndpoint {
    func received(
      _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
      on local: TransportAddress, ecn: ECNCodepoint, at now: Instant
    ) {}
    func poll(at now: Instant) {}
    var nextDeadline: Instant? { .zero }
  }

  @Test func anEndpointThatSpinsIsNoticedAndTimeGoesOn() throws {
    let network = SimulatedNetwork(seed: 1)
    let host = network.addHost("a", "10.0.0.1")
    let stuck = Stuck()
    network.bind(stuck, to: network.freePort(on: host.addresses[0]))
    network.run(for: .milliseconds(1))
    #expect(network.overduePolls == 1_001)
    network.remove(stuck)
    network.run(for: .seconds(1))
    #expect(network.overduePolls == 1_001)
  }

  @Test func callbacksComeInOrderAndCanBeCancelled() {
    let network = SimulatedNetwork(seed: 1)
    var seen: [String] = []
    network.at(.zero + .milliseconds(5)) { _ in seen.append("b") }
    network.at(.zero + .milliseconds(5)) { _ in seen.append("c") }
    network.at(.zero + .milliseconds(1)) { _ in seen.append("a") }
    let cancelled = network.after(.milliseconds(2)) { _ in seen.append("never") }
    network.cancel(cancelled)
    var ticks = 0
    var ticker: SimulationCallback?
    ticker = network.every(.milliseconds(10)) { _ in
      ticks += 1
      if ticks == 4, let ticker { network.cancel(ticker) }
    }
    network.run(until: .zero + .seconds(1))
    #expect(seen == ["a", "b", "c"])
    #expect(ticks == 4)
    // The slot of a cancelled callback is used again, its old name doesn't cancel the new one.
    network.after(.milliseconds(1)) { _ in seen.append("d") }
    network.cancel(cancelled)
    network.run(for: .seconds(1))
    #expect(seen.last == "d")
  }

  @Test func runningUntilAConditionStopsAtTheEventThatMadeIt() {
    let pair = Pair(LinkConditions(delay: .milliseconds(50)))
    pair.send(1)
    #expect(pair.network.run(until: { !pair.right.numbers.isEmpty }, within: .seconds(5)))
    #expect(pair.network.now == .zero + .milliseconds(50))
    #expect(!pair.network.run(until: { false }, within: .seconds(5)))
    #expect(pair.network.now == .zero + .milliseconds(5_050))
  }

  @Test func channelsAreOrderedAndCloseOnce() {
    let network = SimulatedNetwork(seed: 1)
    let (client, server) = network.makeChannel(delay: .milliseconds(20))
    var seen: [String] = []
    client.send("one")
    client.delay = .milliseconds(1)
    client.send("two")
    network.run(for: .milliseconds(100))
    server.onMessage = { text, _ in seen.append(text) }
    server.onClose = { code, reason, _ in seen.append("\(code) \(reason)") }
    client.onMessage = { text, now in seen.append("\(text) \(now)") }
    server.send("reply")
    network.run(for: .milliseconds(20))
    client.send("three")
    client.close(code: 1001, reason: "gone")
    client.send("dropped")
    network.run(for: .seconds(1))
    #expect(seen == ["one", "two", "reply 120.0ms", "three", "1001 gone"])
    #expect(!server.isOpen && !client.isOpen)
  }
}
