import SoraICE
import SoraMedia
import Testing

@Suite struct ICEConnectTests {
  @Test func twoFullAgentsAgreeOnOnePair() {
    let link = LossyLink.full(seed: 1)
    link.start()
    #expect(link.run(for: .seconds(2)) { link.bothCompleted })
    // One round trip finds the pair, one more nominates it; both directions take 10 to 12 ms.
    #expect(link.now < .zero + .milliseconds(80))
    #expect(link.nodes[0].agent.selectedPair?.local == TransportAddress("10.0.0.1:1000"))
    #expect(link.nodes[0].agent.selectedPair?.remote == TransportAddress("10.0.0.2:2000"))
    #expect(link.nodes[1].agent.selectedPair?.remote == TransportAddress("10.0.0.1:1000"))
    #expect(link.nodes.allSatisfy { $0.agent.selectedPair?.isNominated == true })
    #expect(
      link.events(0) == [
        .stateChanged(.checking),
        .selectedPair(
          local: TransportAddress("10.0.0.1:1000")!, remote: TransportAddress("10.0.0.2:2000")!),
        .stateChanged(.connected), .stateChanged(.completed),
      ])
    let statistics = link.nodes[0].agent.statistics
    #expect(statistics.requestsSent == 2)
    #expect(statistics.responsesReceived == 2)
    #expect((20...24).contains(statistics.currentRoundTripTime?.inMilliseconds ?? 0))
  }

  @Test func aFullAgentConnectsToALiteOne() {
    let link = LossyLink.lite(seed: 2)
    link.start()
    #expect(link.run(for: .seconds(2)) { link.bothCompleted })
    #expect(link.now < .zero + .milliseconds(80))
    #expect(link.nodes[1].agent.selectedPair?.remote == TransportAddress("10.0.0.1:1000"))
    // The lite agent checked nothing.
    #expect(link.nodes[1].agent.statistics.requestsSent == 0)
    link.run(for: .seconds(60))
    #expect(link.bothCompleted)
    #expect(link.nodes[1].agent.statistics.consentRequestsSent == 0)
  }

  /// The description of the client needn't hold candidates, nor arrive before its checks.
  @Test func aLiteAgentLearnsThePeerFromItsChecks() {
    let link = LossyLink.lite(seed: 3)
    let (client, server) = (link.nodes[0].agent, link.nodes[1].agent)
    server.start(at: link.now)
    client.setRemoteParameters(server.localParameters)
    client.addRemoteCandidate(server.localCandidates[0])
    client.start(at: link.now)
    #expect(link.run(for: .seconds(1)) { client.state == .completed })
    #expect(server.state == .checking)
    server.setRemoteParameters(client.localParameters)
    link.settle()
    #expect(server.state == .completed)
    #expect(server.selectedPair?.remoteType == .prflx)
  }

  /// RFC 8445 §6.1.1: whoever thinks otherwise, the full agent controls a lite one.
  @Test func aFullAgentControlsALiteOne() {
    let link = LossyLink(seed: 4)
    link.add(.init(isControlling: false), ["10.0.0.1:1000"])
    link.add(.init(isControlling: true, isLite: true), ["10.0.0.2:2000"])
    link.start()
    #expect(link.run(for: .seconds(2)) { link.bothCompleted })
    #expect(link.nodes[0].agent.isControlling && !link.nodes[1].agent.isControlling)
  }

  @Test(arguments: [true, false], Array(1...20) as [UInt64])
  func roleConflictsAreResolved(bothControlling: Bool, seed: UInt64) {
    let link = LossyLink(seed: seed)
    link.add(.init(isControlling: bothControlling), ["10.0.0.1:1000"])
    link.add(.init(isControlling: bothControlling), ["10.0.0.2:2000"])
    link.start()
    #expect(link.run(for: .seconds(3)) { link.bothCompleted })
    #expect(link.nodes[0].agent.isControlling != link.nodes[1].agent.isControlling)
    #expect(link.nodes.contains { $0.agent.statistics.roleConflicts > 0 })
  }

  @Test func iPv6IsPreferredAndIPv4StepsIn() {
    let (a, b) = (["10.0.0.1:1", "[2001:db8::1]:1"], ["10.0.0.2:2", "[2001:db8::2]:2"])
    let link = LossyLink.full(seed: 6, a, b)
    link.start()
    #expect(link.run(for: .seconds(2)) { link.bothCompleted })
    #expect(link.nodes[1].agent.selectedPair?.remote == TransportAddress("[2001:db8::1]:1"))

    let broken = LossyLink.full(seed: 6, a, b)
    broken.blocked = { from, _ in from.ip.isV6 }
    broken.start()
    #expect(broken.run(for: .seconds(2)) { broken.bothCompleted })
    #expect(broken.nodes[1].agent.selectedPair?.remote == TransportAddress("10.0.0.1:1"))
    // It was used as soon as it worked, and nominated when IPv6 hadn't answered for a tenth of a second.
    #expect(
      broken.nodes[0].events.contains {
        $0.event == .stateChanged(.connected) && $0.at < .zero + .milliseconds(50)
      })
    #expect(broken.now < .zero + .milliseconds(250))
  }

  @Test(arguments: Array(1...100) as [UInt64])
  func aThirdOfAllDatagramsLost(seed: UInt64) {
    for link in [
      LossyLink.full(
        seed: seed, ["10.0.0.1:1", "[2001:db8::1]:1"], ["10.0.0.2:2", "[2001:db8::2]:2"]),
      LossyLink.lite(seed: seed),
    ] {
      link.loss = 0.3
      link.start()
      #expect(link.run(for: .seconds(12)) { link.bothCompleted })
      let (a, b) = (link.nodes[0].agent.selectedPair, link.nodes[1].agent.selectedPair)
      #expect(a?.local == b?.remote && a?.remote == b?.local)
    }
  }

  @Test func anAddressBehindANATIsLearnt() {
    let link = LossyLink.full(seed: 8, ["192.168.0.2:1000"], ["203.0.113.9:2000"])
    link.mappings[TransportAddress("192.168.0.2:1000")!] = TransportAddress("198.51.100.1:6000")!
    link.blocked = { _, to in to.ip == IPAddress("192.168.0.2") }
    link.start()
    #expect(link.run(for: .seconds(2)) { link.bothCompleted })
    #expect(link.nodes[1].agent.selectedPair?.remote == TransportAddress("198.51.100.1:6000"))
    #expect(link.nodes[1].agent.selectedPair?.remoteType == .prflx)
    let pair = link.nodes[0].agent.pairStatistics.first { $0.isSelected }
    #expect(pair?.mappedAddress == TransportAddress("198.51.100.1:6000"))
  }

  /// Two runs of one seed send the same bytes at the same times.
  @Test func aSeedGivesOneRun() {
    func run() -> [String] {
      let link = LossyLink.full(
        seed: 9, ["10.0.0.1:1", "[2001:db8::1]:1"], ["10.0.0.2:2", "[2001:db8::2]:2"])
      link.loss = 0.2
      link.start()
      link.run(for: .seconds(20))
      return link.log
    }
    let log = run()
    #expect(log.count > 50)
    #expect(log == run())
  }
}
