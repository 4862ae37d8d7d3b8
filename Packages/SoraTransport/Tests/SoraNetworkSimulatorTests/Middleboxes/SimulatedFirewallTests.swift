import SoraICE
import SoraMedia
import SoraNetworkSimulator
import Testing

/// A host behind a firewall and one outside.
private final class Office {
  let network = SimulatedNetwork(seed: 4, retention: .digestOnly)
  let firewall: SimulatedFirewall
  let inside = Counter()
  let outside = Counter()
  let insideAddress = TransportAddress("203.0.113.9:5000")!

  init(_ rules: SimulatedFirewall.Rules) {
    let internet = network.addRouter("internet")
    firewall = network.addFirewall("firewall", rules, uplink: internet)
    network.link(network.addHost("inside", "203.0.113.9"), firewall.router)
    network.link(network.addHost("outside", "192.0.2.1"), internet)
    network.bind(inside, to: insideAddress)
    for port in [53, 443, 3478] as [UInt16] { network.bind(outside, to: server(port)) }
  }

  deinit { network.removeAllEndpoints() }

  func server(_ port: UInt16) -> TransportAddress {
    TransportAddress(ip: IPAddress("192.0.2.1")!, port: port)
  }

  func goesOut(_ port: UInt16) -> Bool {
    let before = outside.numbers.count
    network.send([1], from: insideAddress, to: server(port))
    network.run(for: .milliseconds(1))
    return outside.numbers.count == before + 1
  }

  func comesIn(_ port: UInt16) -> Bool {
    let before = inside.numbers.count
    network.send([1], from: server(port), to: insideAddress)
    network.run(for: .milliseconds(1))
    return inside.numbers.count == before + 1
  }

  func opens(_ port: UInt16) -> Bool {
    network.listen(on: server(port)) { _ in }
    let stream = network.openStream(from: insideAddress.ip, to: server(port))
    return network.run(until: { stream.isOpen }, within: .seconds(1))
  }
}

@Suite struct SimulatedFirewallTests {
  @Test func onlyAnswersComeInAndOnlyForAWhile() {
    let office = Office(.onlyOutbound)
    #expect(!office.comesIn(443))
    #expect(office.goesOut(443))
    #expect(office.comesIn(443))
    #expect(!office.comesIn(53))
    office.network.run(for: .seconds(121))
    #expect(!office.comesIn(443))
    #expect(office.firewall.blockedInbound == 3)
    office.firewall.rules.onlyAnswersComeIn = false
    #expect(office.comesIn(443))
  }

  @Test(arguments: [
    (SimulatedFirewall.Rules.onlyOutbound, [true, true, true], [true, true, true]),
    (.onlyNameServers, [true, false, false], [true, true, true]),
    (.noDatagrams, [false, false, false], [true, true, true]),
    (.onlyWeb, [false, false, false], [false, true, false]),
  ])
  func portsDecide(rules: SimulatedFirewall.Rules, datagrams: [Bool], streams: [Bool]) {
    let office = Office(rules)
    #expect([53, 443, 3478].map { office.goesOut($0) } == datagrams)
    #expect([53, 443, 3478].map { office.opens($0) } == streams)
    #expect(office.firewall.blockedOutbound == datagrams.count(where: { !$0 }))
    #expect(office.firewall.blockedStreams == streams.count(where: { !$0 }))
  }
}
