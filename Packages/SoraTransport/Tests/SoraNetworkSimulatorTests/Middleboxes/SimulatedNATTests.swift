import SoraICE
import SoraMedia
import SoraNetworkSimulator
import Testing

/// A host behind a translator, and two outside with two ports each.
private final class Home {
  let network = SimulatedNetwork(seed: 3, retention: .digestOnly)
  let nat: SimulatedNAT
  let inside = Counter()
  let insideAddress = TransportAddress("192.168.0.2:5000")!
  let outsides: [Counter]
  /// First host's two ports, then the second host's.
  let outsideAddresses = [
    TransportAddress("203.0.113.1:10")!, TransportAddress("203.0.113.1:20")!,
    TransportAddress("203.0.113.2:10")!,
  ]

  init(_ behaviour: NATBehaviour) {
    let internet = network.addRouter("internet")
    nat = network.addNAT(
      "nat", behaviour, outside: [IPAddress("198.51.100.1")!], uplink: internet)
    network.link(network.addHost("inside", "192.168.0.2", "2001:db8::2"), nat.router)
    for number in 1...2 {
      network.link(
        network.addHost("outside \(number)", "203.0.113.\(number)", "2001:db8:1::\(number)"),
        internet)
    }
    network.bind(inside, to: insideAddress)
    outsides = outsideAddresses.map { _ in Counter() }
    for (counter, address) in zip(outsides, outsideAddresses) { network.bind(counter, to: address) }
  }

  deinit { network.removeAllEndpoints() }

  func out(_ index: Int) {
    network.send([1], from: insideAddress, to: outsideAddresses[index])
    network.run(for: .milliseconds(1))
  }

  /// Whether a datagram from outside comes in.
  func comesIn(_ index: Int, to address: TransportAddress) -> Bool {
    let before = inside.numbers.count
    network.send([1], from: outsideAddresses[index], to: address)
    network.run(for: .milliseconds(1))
    return inside.numbers.count == before + 1
  }
}

@Suite struct SimulatedNATTests {
  /// RFC 4787 §4.1: same mapping for another port, and for another host.
  @Test(arguments: [
    (NATBehaviour.Dependence.endpointIndependent, true, true), (.addressDependent, true, false),
    (.addressAndPortDependent, false, false),
  ])
  func mappingsDependOnTheFarEnd(
    mapping: NATBehaviour.Dependence, samePort: Bool, sameHost: Bool
  ) {
    let home = Home(NATBehaviour(mapping: mapping, filtering: .endpointIndependent))
    for index in 0..<3 { home.out(index) }
    let seen = home.outsides.map { $0.sources[0] }
    // The inside port is kept where it is free.
    #expect(seen[0] == TransportAddress("198.51.100.1:5000")!)
    #expect((seen[1] == seen[0]) == samePort)
    #expect((seen[2] == seen[0]) == sameHost)
    #expect(home.nat.mappingCount(at: home.network.now) == Set(seen).count)
    #expect(
      home.nat.outsideAddress(
        of: home.insideAddress, towards: home.outsideAddresses[2], at: home.network.now)
        == seen[2])
    // Each mapping leads back inside.
    for index in 0..<3 { #expect(home.comesIn(index, to: seen[index])) }
  }

  /// RFC 4787 §5: who may answer after the first host's first port was sent to.
  @Test(arguments: [
    (NATBehaviour.fullCone, [true, true, true]), (.restrictedCone, [true, true, false]),
    (.portRestrictedCone, [true, false, false]), (.symmetric, [true, false, false]),
  ])
  func filtersDependOnTheFarEnd(behaviour: NATBehaviour, passes: [Bool]) {
    let home = Home(behaviour)
    #expect(!home.comesIn(0, to: TransportAddress("198.51.100.1:5000")!))
    home.out(0)
    let address = home.outsides[0].sources[0]
    #expect((0..<3).map { home.comesIn($0, to: address) } == passes)
    #expect(home.nat.statistics.filtered == 1 + passes.count(where: { !$0 }))
    // Private addresses are nobody's outside.
    #expect(!home.comesIn(0, to: home.insideAddress))
  }

  @Test func aMappingRunsOutUnlessTheInsideKeepsIt() {
    var behaviour = NATBehaviour.portRestrictedCone
    behaviour.mappingTimeout = .seconds(30)
    behaviour.ports = .random
    let home = Home(behaviour)
    home.out(0)
    let address = home.outsides[0].sources[0]
    for _ in 0..<4 {
      home.network.run(for: .seconds(20))
      home.out(0)
    }
    #expect(home.comesIn(0, to: address))
    // What comes from outside doesn't keep it, unless it is said to.
    home.network.run(for: .seconds(20))
    #expect(home.comesIn(0, to: address))
    home.network.run(for: .seconds(15))
    #expect(!home.comesIn(0, to: address))
    home.nat.behaviour.inboundRefreshes = true
    home.out(0)
    let next = home.outsides[0].sources.last!
    #expect(next != address)
    for _ in 0..<4 {
      home.network.run(for: .seconds(20))
      #expect(home.comesIn(0, to: next))
    }
    home.nat.reboot()
    #expect(!home.comesIn(0, to: next))
    #expect(home.nat.statistics.mappingsMade == 2)
    #expect(home.nat.statistics.mappingsExpired == 1)
  }

  @Test func anotherFamilyIsRoutedAsItIs() {
    let home = Home(.symmetric)
    let from = TransportAddress("[2001:db8::2]:7")!
    let to = TransportAddress("[2001:db8:1::1]:9")!
    home.network.bind(home.inside, to: from)
    home.network.bind(home.outsides[0], to: to)
    home.network.send([1], from: from, to: to)
    home.network.send([1], from: to, to: from)
    home.network.run(for: .seconds(1))
    #expect(home.outsides[0].sources == [from])
    #expect(home.inside.sources == [to])
  }
}
