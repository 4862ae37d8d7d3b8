import SoraICE
import SoraMedia
import Testing

@Suite struct ICETrickleTests {
  @Test func candidatesMayComeLate() {
    let link = LossyLink.full(seed: 1)
    link.start(candidates: false)
    link.run(for: .seconds(3))
    #expect(link.nodes[0].agent.state == .checking)
    let (a, b) = (link.nodes[0].agent, link.nodes[1].agent)
    // One side's is enough: the other learns it from the check.
    a.addRemoteCandidate(b.localCandidates[0])
    #expect(link.run(for: .seconds(1)) { link.bothCompleted })
    #expect(b.selectedPair?.remoteType == .prflx)
    // The signalled candidate takes the peer-reflexive one's place.
    b.addRemoteCandidate(a.localCandidates[0])
    #expect(b.pairStatistics.first { $0.isSelected }?.remote.type == .host)
    #expect(b.remoteCandidateCount == 1)
  }

  /// A relay's check is worth more than a server-reflexive candidate until the relay is signalled as what it is.
  @Test func aDirectWayIsTriedOnceTheRelayIsKnown() throws {
    let peer = ScriptedPeer(.init(isControlling: true))
    let (relay, direct) = ("10.0.0.9:9", "198.51.100.1:1")
    peer.agent.addRemoteCandidate(
      try ICECandidate(
        parsing: "candidate:1 1 udp \(100 << 24 | 255) 198.51.100.1 1 typ srflx"))
    peer.request(from: relay, [.iceControlled(1)], priority: 110 << 24 | 255)
    for _ in 0..<20 {
      peer.pass(.milliseconds(50))
      // Its router lets nothing in from us yet.
      peer.inbox.removeAll { $0.to.description == direct }
      peer.answer()
    }
    #expect(peer.agent.state == .completed)
    #expect(peer.agent.selectedPair?.remote.description == relay)
    peer.pass(.seconds(1))
    #expect(!peer.inbox.contains { $0.to.description == direct }, "given up")
    peer.agent.addRemoteCandidate(
      try ICECandidate(parsing: "candidate:2 1 udp 255 10.0.0.9 9 typ relay"))
    for _ in 0..<20 {
      peer.pass(.milliseconds(50))
      peer.answer()
    }
    #expect(peer.agent.state == .completed)
    #expect(peer.agent.selectedPair?.remote.description == direct)
    #expect(peer.agent.statistics.selectedCandidatePairChanges == 2)
  }

  @Test func checksOvertakeTheAnswer() {
    let link = LossyLink.full(seed: 2)
    let (a, b) = (link.nodes[0].agent, link.nodes[1].agent)
    b.start(at: link.now)
    a.setRemoteParameters(b.localParameters)
    a.addRemoteCandidate(b.localCandidates[0])
    a.start(at: link.now)
    link.run(for: .milliseconds(300))
    #expect(a.state == .completed)
    #expect(b.state == .checking)
    b.setRemoteParameters(a.localParameters)
    #expect(link.run(for: .milliseconds(100)) { b.state == .completed })
  }

  @Test func namesAreHandedOutAndTakenBackResolved() throws {
    let link = LossyLink.full(seed: 3)
    let (a, b) = (link.nodes[0].agent, link.nodes[1].agent)
    link.start(candidates: false)
    let line = b.localCandidates[0].sdp.replacing("10.0.0.2", with: "4dc2.local")
    let candidate = try ICECandidate(parsing: line)
    a.addRemoteCandidate(candidate)
    a.addRemoteCandidate(candidate)
    link.settle()
    #expect(link.events(0).filter { $0 == .unresolvedCandidate(candidate) }.count == 1)
    #expect(a.statistics.dropped(.duplicateCandidate) == 1)
    #expect(a.remoteCandidateCount == 1)
    a.addRemoteCandidate(candidate.resolved(to: IPAddress("10.0.0.2")!))
    #expect(a.remoteCandidateCount == 1)
    #expect(link.run(for: .seconds(1)) { link.bothCompleted })
  }

  @Test func whatCannotBeUsedIsCounted() throws {
    let link = LossyLink.full(seed: 4)
    link.exchange()
    let agent = link.nodes[0].agent
    for line in [
      "candidate:1 1 tcp 1 10.0.0.3 9 typ host tcptype active",
      "candidate:1 2 udp 1 10.0.0.3 9 typ host",
      "candidate:1 1 udp 1 10.0.0.3 0 typ host", "candidate:1 1 udp 1 224.0.0.1 9 typ host",
      "candidate:1 1 udp 1 0.0.0.0 9 typ host", "candidate:1 1 udp 1 10.0.0.3 9 typ other",
    ] {
      agent.addRemoteCandidate(try ICECandidate(parsing: line))
    }
    #expect(agent.statistics.dropped(.unusableCandidate) == 6)
    agent.addRemoteCandidate(
      try ICECandidate(parsing: "candidate:1 1 udp 1 10.0.0.3 9 typ host ufrag XXXX"))
    #expect(agent.statistics.dropped(.staleCandidate) == 1)
    #expect(agent.remoteCandidateCount == 1)
  }

  @Test func memoryIsBounded() throws {
    let link = LossyLink.full(seed: 5, (1...10).map { "10.0.1.\($0):1" })
    let agent = link.nodes[0].agent
    for index in 1...200 {
      let name = index % 2 == 0 ? "10.0.2.\(index)" : "host\(index).local"
      agent.addRemoteCandidate(
        try ICECandidate(parsing: "candidate:1 1 udp \(index * 1000) \(name) 9 typ host"))
    }
    #expect(agent.remoteCandidateCount == 64)
    #expect(agent.statistics.dropped(.remoteCandidateLimit) == 136)
    #expect(agent.pairStatistics.count == 256)
    #expect(agent.statistics.dropped(.pairLimit) == 64)
    // The best have stayed.
    #expect(agent.pairStatistics.contains { $0.remote.priority == 64_000 })
  }
}
