import SoraICE
import SoraMedia
import SoraNetworkSimulator
import Testing

/// Two hosts, a link, and a listener that echoes.
private final class Wire {
  let network: SimulatedNetwork
  let link: SimulatedLink
  let client: SimulatedHost
  let listener = TransportAddress("10.0.0.2:80")!
  var accepted: [SimulatedStream] = []
  var received: [UInt8] = []
  var receivedAt: [Instant] = []
  var openedAt: Instant?
  var ended: String?

  init(seed: UInt64 = 1, _ conditions: LinkConditions = LinkConditions(delay: .milliseconds(20))) {
    network = SimulatedNetwork(seed: seed)
    client = network.addHost("client", "10.0.0.1")
    link = network.link(client, network.addHost("server", "10.0.0.2"), conditions)
    network.listen(on: listener) { [unowned self] stream in
      accepted.append(stream)
      stream.onReceive = { bytes, _ in stream.send(Array(bytes)) }
    }
  }

  deinit { network.removeAllEndpoints() }

  func open(to address: TransportAddress? = nil, roundTrips: Int = 1) -> SimulatedStream {
    let stream = network.openStream(
      from: client.addresses[0], to: address ?? listener, roundTrips: roundTrips)
    stream.onOpen = { [unowned self] in openedAt = $0 }
    stream.onReceive = { [unowned self] bytes, now in
      received += Array(bytes)
      receivedAt.append(now)
    }
    stream.onEnd = { [unowned self] reason, _ in ended = reason }
    return stream
  }
}

@Suite struct SimulatedStreamTests {
  @Test func openingTakesItsRoundTripsAndBytesComeBack() {
    for roundTrips in 1...3 {
      let wire = Wire()
      let stream = wire.open(roundTrips: roundTrips)
      stream.send([9])  // Too early: dropped.
      wire.network.run(for: .seconds(1))
      #expect(wire.openedAt == .zero + .milliseconds(40 * Int64(roundTrips)))
      stream.send([1, 2])
      stream.send([3])
      wire.network.run(for: .seconds(1))
      #expect(wire.received == [1, 2, 3])
      #expect(wire.receivedAt[0] == .zero + .milliseconds(1040))
      #expect(wire.accepted.map(\.remote) == [stream.local])
      stream.close()
      wire.network.run(for: .seconds(1))
      #expect(wire.accepted[0].isEnded)
      #expect(wire.ended == nil)
    }
  }

  @Test func lossBecomesDelayAndOrderIsKept() {
    for seed in simulationSeeds(20) {
      let wire = Wire(
        seed: seed,
        LinkConditions(delay: .milliseconds(20), jitter: .milliseconds(15), loss: 0.2))
      let stream = wire.open()
      let isOpen = wire.network.run(until: { stream.isOpen }, within: .seconds(10))
      #expect(isOpen, "seed \(seed)")
      for number in 0..<200 { stream.send([UInt8(number)]) }
      wire.network.run(for: .seconds(30))
      #expect(wire.received == Array(0..<200), "seed \(seed)")
      #expect(stream.retransmissions > 10, "seed \(seed)")
      // Someone's piece was lost, so its followers waited two round trips at least.
      #expect(wire.receivedAt.last! - wire.receivedAt[0] >= .milliseconds(80), "seed \(seed)")
    }
  }

  @Test func aBreakOfTenSecondsIsOutlivedAndALongOneIsNot() {
    for (length, survives) in [(10, true), (60, false)] {
      let wire = Wire()
      let stream = wire.open()
      wire.network.run(for: .seconds(1))
      wire.link.setUp(false)
      stream.send([1])
      wire.network.run(for: .seconds(Int64(length)))
      wire.link.setUp(true)
      wire.network.run(for: .seconds(20))
      #expect(wire.received == (survives ? [1] : []))
      #expect(wire.ended == (survives ? nil : "timed out"))
      #expect(stream.isEnded == !survives)
    }
  }

  @Test func whatCannotBeOpenedSaysWhy() {
    for (address, reason) in [
      ("10.0.0.2:81", "connection refused"), ("10.9.9.9:80", "no route to host"),
    ] {
      let wire = Wire()
      let stream = wire.open(to: TransportAddress(address)!)
      wire.network.run(for: .seconds(1))
      #expect(wire.ended == reason)
      #expect(!stream.isOpen && stream.isEnded)
    }
    let wire = Wire()
    wire.link.setUp(false)
    _ = wire.open()
    wire.network.run(for: .seconds(11))
    #expect(wire.ended == "timed out")
  }

  @Test func theRateLimitsAStream() {
    let wire = Wire(LinkConditions(delay: .milliseconds(5), bitsPerSecond: 1_000_000))
    let stream = wire.open()
    wire.network.run(for: .seconds(1))
    stream.send([UInt8](repeating: 1, count: 10_000))
    wire.network.run(for: .seconds(1))
    // Ten kilobytes and eight packets' headers at a megabit take 82.56 ms each way.
    #expect(wire.receivedAt == [.zero + .milliseconds(1010) + .microseconds(2 * 82_560)])
  }
}
