import SoraICE
import SoraMedia
import Testing

/// Our end of a pair as the peer sees it (RFC 8445 §7.2.5.3.1 and .2).
@Suite struct ICEReflexiveTests {
  private let base = TransportAddress("192.168.0.2:1000")!
  private let outer = TransportAddress("198.51.100.1:6000")!

  /// A controlling agent behind a translator, and one that isn't.
  private func translated(seed: UInt64) -> LossyLink {
    let link = LossyLink.full(seed: seed, [base.description], ["203.0.113.9:2000"])
    link.mappings[base] = outer
    link.blocked = { [base] _, to in to.ip == base.ip }
    return link
  }

  private func selected(_ agent: ICEAgent) throws -> ICEPairStatistics {
    try #require(agent.pairStatistics.first { $0.isSelected })
  }

  @Test func anAddressThatOnlyThePeerKnowsIsPeerReflexive() throws {
    let link = translated(seed: 1)
    let agent = link.nodes[0].agent
    link.start()
    #expect(agent.pairStatistics.map(\.local.type) == [.host], "no answer yet")
    #expect(link.run(for: .seconds(2)) { link.bothCompleted })
    let host = try #require(agent.localCandidates.first)
    let local = try selected(agent).local
    #expect(local.type == .prflx && local.transportAddress == outer)
    #expect(local.relatedAddress == .init(address: .ip(base.ip), port: base.port))
    // §7.1.1: the host's with another type preference.
    #expect(local.priority == host.priority - (126 - 110) << 24)
    #expect(local.foundation != host.foundation)
    #expect(agent.selectedPair?.localType == .prflx)
    // Packets go on leaving from the socket, and nothing of it is signalled.
    #expect(agent.selectedPair?.base == ICEBase(address: base))
    #expect(agent.localCandidates.count == 1)
    // Nobody translates the other one.
    #expect(try selected(link.nodes[1].agent).local.type == .host)
  }

  @Test(arguments: [true, false])
  func aServersAnswerNamesTheSameAddress(comesFirst: Bool) throws {
    let link = translated(seed: 2)
    let agent = link.nodes[0].agent
    func learn() {
      // The same address from another socket, as no translator would have it, is another candidate.
      let other = TransportAddress("192.168.0.3:1000")!
      agent.addLocalCandidate(.srflx, address: outer, base: ICEBase(address: other))
      agent.addLocalCandidate(.srflx, address: outer, base: ICEBase(address: base))
    }
    if comesFirst { learn() }
    link.start()
    #expect(link.run(for: .seconds(2)) { link.bothCompleted })
    if !comesFirst { learn() }
    let known = try #require(agent.localCandidates.last)
    #expect(try selected(agent).local == known)
    #expect(known.relatedAddress?.address == .ip(base.ip))
    #expect(agent.selectedPair?.localType == .srflx && agent.selectedPair?.local == base)
    #expect(agent.statistics.selectedCandidatePairChanges == 1)
  }

  /// A relay's address is what the peer sees of it.
  @Test func aRelayIsSeenAsItself() throws {
    let link = LossyLink(seed: 3)
    link.add(.init(isControlling: true), [])
    link.add(.init(isControlling: false), ["10.0.0.2:2000"])
    let relayed = TransportAddress("10.0.0.9:9000")!
    let agent = link.nodes[0].agent
    agent.addLocalCandidate(
      .relay, address: relayed, base: ICEBase(address: relayed, type: .relay))
    link.nodes[0].addresses = [relayed]
    link.start()
    #expect(link.run(for: .seconds(2)) { link.bothCompleted })
    #expect(try selected(agent).local.type == .relay)
    #expect(agent.selectedPair?.localType == .relay && agent.selectedPair?.base.type == .relay)
  }

  /// The translator forgets; a restart begins without knowing.
  @Test func theAddressFollowsTheTranslator() throws {
    let link = translated(seed: 4)
    let (agent, other) = (link.nodes[0].agent, link.nodes[1].agent)
    link.start()
    link.run(for: .seconds(5))
    let moved = TransportAddress("198.51.100.1:6001")!
    link.mappings[base] = moved
    #expect(link.run(for: .seconds(5)) { other.selectedPair?.remote == moved })
    #expect(try selected(agent).local.transportAddress == moved)
    #expect(Set(agent.pairStatistics.map(\.local.port)) == [6001])
    agent.restart(at: link.now)
    other.restart(at: link.now)
    #expect(try selected(agent).local.transportAddress == moved, "the old way")
    link.exchange()
    #expect(agent.pairStatistics.contains { !$0.isSelected && $0.local.type == .host })
    #expect(link.run(for: .seconds(2)) { link.bothCompleted })
    #expect(try selected(agent).local.type == .prflx)
  }

  /// A peer may say anything: nothing is kept but what it said last.
  @Test func aLyingPeerFillsNoMemory() throws {
    let peer = ScriptedPeer(.init(isControlling: true))
    peer.agent.addRemoteCandidate(
      try ICECandidate(parsing: "candidate:1 1 udp 2130706431 10.0.0.2 9 typ host"))
    var answers = 0
    for number in 1...2000 {
      peer.pass(.seconds(1))
      peer.mapped = TransportAddress(ip: IPAddress("198.51.100.7")!, port: UInt16(number))
      answers += peer.inbox.count
      peer.answer()
    }
    #expect(peer.agent.state == .completed && answers >= 2000)
    #expect(peer.agent.localCandidates.count == 1)
    #expect(peer.agent.pairStatistics.map(\.local.port) == [2000])
    #expect(peer.agent.selectedPair?.local == peer.local)
  }
}
