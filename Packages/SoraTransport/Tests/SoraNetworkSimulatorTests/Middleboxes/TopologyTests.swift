import SoraICE
import SoraMedia
import SoraNetworkSimulator
import Testing

@Suite struct TopologyTests {
  @Test func anEndpointAnswersAndBothVersionsWork() throws {
    let network = SimulatedNetwork(seed: 1)
    let a = network.addHost("a", "10.0.0.1", "2001:db8::1")
    let b = network.addHost("b", "10.0.0.2", "2001:db8::2")
    network.link(a, b, LinkConditions(delay: .milliseconds(7)))
    let client = Counter()
    let server = Counter()
    server.onReceive = { number, source, local in
      network.send(from: local, to: source, capacity: 8) { memory in
        memory.storeBytes(of: number + 1, as: UInt64.self)
        return 8
      }
    }
    for (mine, theirs) in zip(a.addresses, b.addresses) {
      let from = network.freePort(on: mine)
      let to = TransportAddress(ip: theirs, port: 443)
      #expect(network.bind(client, to: from))
      #expect(network.bind(server, to: to))
      #expect(!network.bind(client, to: to))
      network.send([1, 0, 0, 0, 0, 0, 0, 0], from: from, to: to)
    }
    network.run(for: .seconds(1))
    #expect(client.numbers == [2, 2])
    #expect(client.times.allSatisfy { $0 == .zero + .milliseconds(14) })
  }

  @Test func whatGoesNowhereIsCounted() throws {
    let pair = Pair()
    let nowhere = TransportAddress(ip: try #require(IPAddress("192.0.2.9")), port: 1)
    pair.network.send([1], from: pair.leftAddress, to: nowhere)
    pair.network.send([1], from: nowhere, to: pair.leftAddress)
    pair.network.send(
      [1], from: pair.leftAddress, to: TransportAddress(ip: pair.rightAddress.ip, port: 9))
    pair.network.run(for: .seconds(1))
    #expect(pair.network.drops.noRoute == 1)
    #expect(pair.network.drops.unknownSender == 1)
    #expect(pair.network.drops.noEndpoint == 1)
  }

  @Test func twoAddressesOfOneHostReachEachOther() throws {
    let network = SimulatedNetwork(seed: 1)
    network.addHost("a", "127.0.0.1")
    let one = Counter()
    let from = network.freePort(on: try #require(IPAddress("127.0.0.1")))
    network.bind(one, to: from)
    network.send([7, 0, 0, 0, 0, 0, 0, 0], from: from, to: from)
    network.run(for: .seconds(1))
    #expect(one.numbers == [7])
  }

  /// A translator with one outside address and no filtering, as little as shows that routers can rewrite.
  final class Translator: SimulatedMiddlebox {
    let outside: IPAddress
    var ports: [TransportAddress: UInt16] = [:]
    var insides: [UInt16: TransportAddress] = [:]

    init(outside: IPAddress) { self.outside = outside }

    func forward(
      source: inout TransportAddress, destination: inout TransportAddress,
      payload: UnsafeMutableRawBufferPointer, over link: SimulatedLink, at now: Instant
    ) -> Bool {
      if destination.ip == outside {
        guard let inside = insides[destination.port] else { return false }
        destination = inside
        return true
      }
      let port = ports[source] ?? UInt16(40_000 + ports.count)
      ports[source] = port
      insides[port] = source
      source = TransportAddress(ip: outside, port: port)
      return true
    }
  }

  @Test func aRouterTranslatesAddresses() throws {
    let network = SimulatedNetwork(seed: 1)
    let inside = network.addHost("inside", "192.168.0.2")
    let outside = network.addHost("outside", "203.0.113.5")
    let public_ = try #require(IPAddress("198.51.100.1"))
    let nat = network.addRouter(
      "nat", addresses: [public_], middlebox: Translator(outside: public_))
    network.link(inside, nat, LinkConditions(delay: .milliseconds(1)))
    network.link(nat, outside, LinkConditions(delay: .milliseconds(9)))
    let client = Counter()
    let server = Counter()
    let from = TransportAddress(ip: inside.addresses[0], port: 5000)
    let to = TransportAddress(ip: outside.addresses[0], port: 3478)
    network.bind(client, to: from)
    network.bind(server, to: to)
    server.onReceive = { _, source, local in
      network.send([9, 0, 0, 0, 0, 0, 0, 0], from: local, to: source)
    }
    network.send([1, 0, 0, 0, 0, 0, 0, 0], from: from, to: to)
    network.send([1], from: to, to: TransportAddress(ip: public_, port: 50_000))
    network.run(for: .seconds(1))
    #expect(server.sources == [TransportAddress(ip: public_, port: 40_000)])
    #expect(client.numbers == [9])
    #expect(client.times == [.zero + .milliseconds(20)])
    #expect(network.drops.filtered == 1)
  }

  @Test func aHostWithTwoInterfacesUsesTheOneOfItsSource() throws {
    let network = SimulatedNetwork(seed: 1)
    let phone = network.addHost("phone", "10.1.0.2", "10.2.0.2")
    let internet = network.addRouter("internet")
    let server = network.addHost("server", "203.0.113.5")
    let slow = LinkConditions(delay: .milliseconds(40))
    network.link(
      phone, internet, forward: .ideal, backward: .ideal, interfaceA: [phone.addresses[0]])
    network.link(phone, internet, forward: slow, backward: slow, interfaceA: [phone.addresses[1]])
    network.link(internet, server)
    let counter = Counter()
    let echo = Counter()
    let to = TransportAddress(ip: server.addresses[0], port: 1)
    network.bind(echo, to: to)
    echo.onReceive = { _, source, local in
      network.send([1, 0, 0, 0, 0, 0, 0, 0], from: local, to: source)
    }
    for address in phone.addresses {
      let local = TransportAddress(ip: address, port: 7)
      network.bind(counter, to: local)
      network.send([1], from: local, to: to)
    }
    network.run(for: .seconds(1))
    #expect(counter.times == [.zero, .zero + .milliseconds(80)])
  }

  @Test func anAddressThatGoesLosesWhatIsUnderWayToIt() throws {
    let pair = Pair(LinkConditions(delay: .milliseconds(10)))
    pair.send(1)
    pair.network.run(for: .milliseconds(5))
    pair.network.removeAddress(pair.rightAddress.ip, from: pair.rightHost)
    pair.network.run(for: .milliseconds(10))
    #expect(pair.right.numbers.isEmpty)
    #expect(pair.network.drops.noRoute == 1)
    // The binding is still there when the address comes back.
    pair.network.addAddress(pair.rightAddress.ip, to: pair.rightHost)
    pair.send(2)
    pair.network.run(for: .milliseconds(20))
    #expect(pair.right.numbers == [2])
  }
}
