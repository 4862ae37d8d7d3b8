import SoraICE
import SoraMedia
import Testing

@Suite struct ICEConsentTests {
  @Test(arguments: Array(1...10) as [UInt64])
  func aVanishedPeerIsNoticedOnceWithinFiveSeconds(seed: UInt64) throws {
    for link in [LossyLink.full(seed: seed), LossyLink.lite(seed: seed)] {
      link.start()
      link.run(for: .seconds(20) + .milliseconds(Int64(seed) * 97))
      #expect(link.bothCompleted)
      link.nodes[0].isConnected = false
      link.nodes[1].isConnected = false
      let gone = link.now
      link.run(for: .seconds(30))
      for node in [0, 1] {
        let events = link.events(node)
        #expect(events.filter { $0 == .consentLost }.count == 1)
        #expect(
          events.suffix(3) == [.stateChanged(.disconnected), .consentLost, .stateChanged(.failed)])
        let lost = try #require(link.time(node, of: .consentLost)) - gone
        // The last sign of life may have come just before, or one consent interval before.
        #expect(lost <= .milliseconds(5050) && lost > .milliseconds(2900))
        let disconnected = try #require(link.time(node, of: .stateChanged(.disconnected))) - gone
        #expect(disconnected <= .milliseconds(2550))
        #expect(link.nodes[node].agent.selectedPair == nil)
      }
    }
  }

  /// Where a relay may be what is silent, consent lasts for as long as RFC 7675 §5.1 has it.
  @Test(arguments: [true, false]) func aRelayInDoubtIsGivenTime(isDoubted: Bool) throws {
    let link = LossyLink(seed: 4)
    link.add(.init(isControlling: true), [])
    link.add(.init(isControlling: false), ["10.0.0.2:2000"])
    let relayed = TransportAddress("10.0.0.9:9000")!
    let agent = link.nodes[0].agent
    let candidate = agent.addLocalCandidate(
      .relay, address: relayed, base: ICEBase(address: relayed, type: .relay))
    link.nodes[0].addresses = [relayed]
    link.start()
    link.run(for: .seconds(3))
    #expect(link.bothCompleted && candidate.type == .relay)
    agent.noteRelay(isInDoubt: isDoubted, at: link.now)
    link.loss = 1
    let gone = link.now
    let sent = agent.statistics.consentRequestsSent
    link.run(for: .seconds(60))
    let (one, two) = (link.time(0, of: .consentLost), link.time(1, of: .consentLost))
    let took = (try #require(one) - gone, try #require(two) - gone)
    #expect(took.0 < (isDoubted ? .seconds(30.1) : .seconds(5.1)))
    #expect(took.0 > (isDoubted ? .seconds(27) : .seconds(2)))
    // The peer can't know.
    #expect(took.1 < .seconds(30.1) && took.1 > .seconds(27))
    for node in 0..<2 {
      let disconnected = try #require(link.time(node, of: .stateChanged(.disconnected))) - gone
      #expect(disconnected <= .milliseconds(2550))
    }
    // Quickly as long as it may be a link that loses much, slowly from then on.
    #expect(agent.statistics.consentRequestsSent - sent < 80)
  }

  /// The peer's relay may be known from a check before it is signalled, and counts as one from then on.
  @Test(arguments: [true, false]) func aPeersRelayIsGivenTimeOnceItIsKnown(isKnown: Bool) throws {
    let link = LossyLink(seed: 6)
    link.add(.init(isControlling: true), [])
    link.add(.init(isControlling: false), ["10.0.0.2:2000"])
    let relayed = TransportAddress("10.0.0.9:9000")!
    let (one, two) = (link.nodes[0].agent, link.nodes[1].agent)
    let candidate = one.addLocalCandidate(
      .relay, address: relayed, base: ICEBase(address: relayed, type: .relay))
    link.nodes[0].addresses = [relayed]
    link.start(candidates: false)
    one.addRemoteCandidate(two.localCandidates[0])
    #expect(link.run(for: .seconds(3)) { link.bothCompleted })
    #expect(two.selectedPair?.remoteType == .prflx)
    link.loss = 1
    let gone = link.now
    link.run(for: .seconds(3))
    if isKnown { two.addRemoteCandidate(candidate) }
    #expect(two.selectedPair?.remoteType == (isKnown ? .relay : .prflx))
    link.run(for: .seconds(60))
    let took = try #require(link.time(1, of: .consentLost)) - gone
    #expect(took < (isKnown ? .seconds(30.1) : .seconds(5.1)))
    #expect(took > (isKnown ? .seconds(27) : .seconds(2)))
  }

  @Test func aShortOutageHeals() {
    for link in [LossyLink.full(seed: 3), LossyLink.lite(seed: 3)] {
      link.start()
      link.run(for: .seconds(10))
      link.loss = 1
      #expect(
        link.run(for: .seconds(4)) { link.nodes.allSatisfy { $0.agent.state == .disconnected } })
      link.run(for: .seconds(1))
      link.loss = 0
      #expect(link.run(for: .seconds(2)) { link.bothCompleted })
      #expect(!link.events(0).contains(.consentLost) && !link.events(1).contains(.consentLost))
    }
  }

  @Test(arguments: Array(1...10) as [UInt64])
  func aThirdLostIsNoReasonToGiveUp(seed: UInt64) {
    for link in [LossyLink.full(seed: seed), LossyLink.lite(seed: seed)] {
      link.start()
      link.run(for: .seconds(1))
      link.loss = 0.3
      link.run(for: .seconds(120))
      #expect(link.nodes.allSatisfy { $0.agent.state != .failed })
    }
  }

  @Test func mediaKeepsALiteAgentFromAsking() {
    let link = LossyLink.lite(seed: 5)
    link.start()
    link.run(for: .seconds(1))
    link.nodes[0].isConnected = false
    let server = link.nodes[1].agent
    // The client's STUN is gone, but its media comes.
    for _ in 0..<500 {
      link.run(for: .milliseconds(20))
      server.noteTraffic(at: link.now)
    }
    #expect(server.state == .completed)
    #expect(server.statistics.consentRequestsSent == 0)
    #expect(link.run(for: .seconds(6)) { server.state == .failed })
    #expect(server.statistics.consentRequestsSent > 5)
  }

  /// A peer that checks consent every six seconds, and sends no media, is asked for a sign of life.
  @Test func aLiteAgentToleratesALazyPeer() {
    for asks in [true, false] {
      let link = LossyLink(seed: 6)
      var lazy = ICEAgent.Configuration(isControlling: true)
      lazy.consentInterval = .seconds(6)
      lazy.consentTimeout = .seconds(30)
      lazy.disconnectedTimeout = .seconds(30)
      link.add(lazy, ["10.0.0.1:1000"])
      var server = ICEAgent.Configuration(isControlling: false, isLite: true)
      server.liteAsksWhenSilent = asks
      link.add(server, ["10.0.0.2:2000"])
      link.start()
      link.run(for: .seconds(60))
      #expect((link.nodes[1].agent.state == .completed) == asks)
    }
  }

  /// One of two ways breaks: the controlling side moves over to the other before consent is lost.
  @Test func theOtherWayTakesOver() {
    let link = LossyLink.full(
      seed: 7, ["10.0.0.1:1", "[2001:db8::1]:1"], ["10.0.0.2:2", "[2001:db8::2]:2"])
    link.start()
    link.run(for: .seconds(5))
    #expect(link.bothCompleted)
    #expect(link.nodes.allSatisfy { $0.agent.selectedPair?.local.ip.isV6 == true })
    link.blocked = { from, _ in from.ip.isV6 }
    link.run(for: .seconds(20))
    #expect(link.bothCompleted)
    #expect(link.nodes.allSatisfy { $0.agent.selectedPair?.local.ip.isV4 == true })
    #expect(!link.events(0).contains(.consentLost) && !link.events(1).contains(.consentLost))
  }
}
