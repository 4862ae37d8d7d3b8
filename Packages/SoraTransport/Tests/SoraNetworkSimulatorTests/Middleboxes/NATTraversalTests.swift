import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraTransport
import Testing

/// ICE finds the best pair that there is, whatever stands between two peers.
@Suite struct NATTraversalTests {
  /// The selected pair's types at each end, own first; `nil` where no pair can work.
  static func expected(_ a: Place, _ b: Place, _ access: Access)
    -> (a: [ICECandidateType], b: [ICECandidateType])?
  {
    // `b` has no way but datagrams.
    if b == .noDatagrams { return nil }
    let relayed: (a: [ICECandidateType], b: [ICECandidateType]) = (
      [.relay, b.seenAs], [b.seenAs, .relay]
    )
    if a == .noDatagrams { return access.isStream ? relayed : nil }
    // A port that nobody can know meets a filter that wants to know it.
    let isHopeless =
      a == .symmetric && (b == .symmetric || b == .portRestrictedCone)
      || b == .symmetric && a == .portRestrictedCone
    if isHopeless { return access == .stun ? nil : relayed }
    return ([a.seenAs, b.seenAs], [b.seenAs, a.seenAs])
  }

  /// Every place on each side with every kind of server, over links drawn from the seed.
  @Test func theBestPairIsFoundBehindEveryKindOfNAT() throws {
    let cells = Place.allCases.count * Place.allCases.count * Access.allCases.count
    var slowest: [Access: Duration] = [:]
    for seed in simulationSeeds(1008) {
      var cell = Int(seed) % cells
      let placeA = Place.allCases[cell % Place.allCases.count]
      cell /= Place.allCases.count
      let placeB = Place.allCases[cell % Place.allCases.count]
      let access = Access.allCases[cell / Place.allCases.count]
      let dice = RandomSource(seed: seed)
      let conditions = LinkConditions(
        delay: .milliseconds(Int64(dice.next() % 80) + 1),
        jitter: .milliseconds(Int64(dice.next() % 5)), loss: Double(dice.next() % 4) / 100)
      let ports: NATBehaviour.Ports = dice.next() % 2 == 0 ? .preserved : .random
      let world = try HostileWorld(
        seed: seed, placeA, placeB, access, conditions: conditions, ports: ports)
      let label =
        "\(placeA) x \(placeB), \(access), ports \(ports): "
        + reproduction(seed, "theBestPairIsFoundBehindEveryKindOfNAT")
      world.a.connect(with: world.b)
      guard let expected = Self.expected(placeA, placeB, access) else {
        let hasFailed = world.network.run(
          until: { world.a.states.last?.state.isFailure ?? false },
          within: .seconds(20))
        #expect(hasFailed, "\(label) \(world.story)")
        #expect(world.a.selectedTypes == nil && !world.b.isConnected, "\(label)")
        continue
      }
      let isFound = world.network.run(
        until: {
          world.areConnected && world.a.selectedTypes == expected.a
            && world.b.selectedTypes == expected.b
        }, within: .seconds(15))
      #expect(isFound, "\(label) \(world.story), expected \(expected)")
      slowest[access] = max(slowest[access] ?? .zero, world.network.now - .zero)
      // It is the last word, and carries packets.
      let arrived = world.exchange(for: .seconds(1))
      #expect(
        world.a.selectedTypes == expected.a && world.b.selectedTypes == expected.b,
        "\(label) \(world.story)")
      #expect(arrived.atA > 30 && arrived.atB > 30, "\(label) \(arrived)")
      #expect(world.network.overduePolls == 0, "\(label)")
    }
    for (access, time) in slowest {
      print("best pair with \(access): slowest \(time.inMilliseconds) ms")
    }
  }

  /// With relays on both sides one of them is enough.
  @Test(arguments: [Access.turnUDP, .turnTCP, .turnTLS])
  func oneOfTwoRelaysIsUsed(access: Access) throws {
    for seed in simulationSeeds(10) {
      let world = try HostileWorld(
        seed: seed, .symmetric, .symmetric, access, serversB: access.servers)
      let label = reproduction(seed, "oneOfTwoRelaysIsUsed")
      #expect(world.connect(), "\(label) \(world.story)")
      world.network.run(for: .seconds(2))
      let types = world.a.selectedTypes ?? []
      #expect(types.count(where: { $0 == .relay }) == 1, "\(label) \(types)")
      let arrived = world.exchange(for: .seconds(1))
      #expect(arrived.atA == arrived.atB && arrived.atA >= 50, "\(label)")
    }
  }

  @Test(arguments: Access.allCases)
  func aSeedRunsTheSameWayTwice(access: Access) throws {
    let digests = try (1...2).map { _ in
      let world = try HostileWorld(
        seed: 77, .symmetric, .restrictedCone, access,
        conditions: LinkConditions(
          delay: .milliseconds(30), jitter: .milliseconds(9), loss: 0.05, codel: CoDel()))
      _ = world.connect()
      _ = world.exchange(for: .seconds(2))
      return world.network.log.digest
    }
    #expect(digests[0] == digests[1])
  }

  /// Two peers in one home reach each other directly; behind two NATs of one outer NAT only where that one hairpins.
  @Test(arguments: [true, false])
  func nestedTranslatorsNeedAHairpin(hairpins: Bool) throws {
    let network = SimulatedNetwork(seed: 5)
    defer { network.removeAllEndpoints() }
    let internet = network.addRouter("internet")
    let serverHost = network.addHost("server", "192.0.2.1")
    network.link(serverHost, internet, LinkConditions(delay: .milliseconds(10)))
    let server = SimulatedTURNServer(
      network, on: serverHost, configuration: .init(realm: "r", credentials: .users([:])))
    var behaviour = NATBehaviour.portRestrictedCone
    behaviour.hairpins = hairpins
    let outer = network.addNAT(
      "outer", behaviour, outside: [IPAddress("198.51.100.1")!], uplink: internet)
    var peers: [SimulatedTransportPeer] = []
    for number in 1...2 {
      let inner = network.addNAT(
        "inner \(number)", .portRestrictedCone, outside: [IPAddress("100.64.0.\(number)")!],
        uplink: outer.router)
      let host = network.addHost("peer \(number)", "192.168.\(number).2")
      network.link(host, inner.router, LinkConditions(delay: .milliseconds(2)))
      var configuration = SimulatedTransportPeer.Configuration()
      configuration.servers = Access.stun.servers
      peers.append(
        try SimulatedTransportPeer(
          network, on: host, serial: UInt64(number), isControlling: number == 1, configuration))
    }
    peers[0].connect(with: peers[1])
    let isConnected = network.run(
      until: { peers.allSatisfy(\.isConnected) }, within: .seconds(10))
    #expect(isConnected == hairpins)
    #expect((outer.statistics.hairpinned > 0) == hairpins)
    if !hairpins { #expect(outer.statistics.hairpinsRefused > 0) }
    if hairpins { #expect(peers[0].selectedTypes == [.srflx, .srflx]) }
    #expect(server.server.allocationCount == 0)
  }

  @Test func peersOfOneHomeStayInside() throws {
    let network = SimulatedNetwork(seed: 6)
    defer { network.removeAllEndpoints() }
    let internet = network.addRouter("internet")
    let nat = network.addNAT(
      "nat", .symmetric, outside: [IPAddress("198.51.100.1")!], uplink: internet)
    let peers = try (1...2).map { number in
      let host = network.addHost("peer \(number)", "192.168.1.\(number)")
      network.link(host, nat.router, LinkConditions(delay: .milliseconds(1)))
      return try SimulatedTransportPeer(
        network, on: host, serial: UInt64(number), isControlling: number == 1)
    }
    peers[0].connect(with: peers[1])
    #expect(network.run(until: { peers.allSatisfy(\.isConnected) }, within: .seconds(2)))
    #expect(peers[0].selectedTypes == [.host, .host])
    #expect(nat.statistics.mappingsMade == 0)
  }
}
