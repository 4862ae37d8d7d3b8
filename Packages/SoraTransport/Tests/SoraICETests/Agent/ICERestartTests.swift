import SoraICE
import SoraMedia
import Testing

@Suite struct ICERestartTests {
  @Test(arguments: [true, false])
  func newCredentialsFindAPairAnew(withLite: Bool) {
    let link = withLite ? LossyLink.lite(seed: 1) : LossyLink.full(seed: 1)
    link.start()
    link.run(for: .seconds(5))
    let (a, b) = (link.nodes[0].agent, link.nodes[1].agent)
    let old = (a.localParameters, b.localParameters)
    let moves = link.selections
    a.restart(at: link.now)
    #expect(a.localParameters != old.0 && a.state == .checking)
    // The pair stays while signalling takes its time, longer than consent lasts.
    link.run(for: .seconds(8))
    #expect(a.selectedPair != nil && b.selectedPair != nil)
    #expect(b.state == .completed)
    // The answerer restarts by taking over other parameters.
    b.setRemoteParameters(a.localParameters)
    #expect(b.localParameters != old.1)
    for candidate in a.localCandidates { b.addRemoteCandidate(candidate) }
    a.setRemoteParameters(b.localParameters)
    for candidate in b.localCandidates { a.addRemoteCandidate(candidate) }
    #expect(link.run(for: .seconds(1)) { link.bothCompleted })
    link.run(for: .seconds(30))
    #expect(link.bothCompleted)
    #expect(!link.events(0).contains(.consentLost) && !link.events(1).contains(.consentLost))
    // Another pair, though of the same addresses; the end of it counts as well.
    for agent in [a, b] {
      #expect(agent.statistics.selectedCandidatePairChanges == 2)
      agent.close(at: link.now)
      #expect(agent.statistics.selectedCandidatePairChanges == 3)
    }
    link.settle()
    #expect(link.selections == moves, "nobody has to send elsewhere")
  }

  @Test func aRestartMovesToAnotherAddress() {
    let link = LossyLink.lite(seed: 2)
    link.start()
    link.run(for: .seconds(2))
    let (a, b) = (link.nodes[0].agent, link.nodes[1].agent)
    // The old network is gone; a new address appears.
    link.blocked = { from, to in from.ip == IPAddress("10.0.0.1") || to.ip == IPAddress("10.0.0.1")
    }
    let other = TransportAddress("10.0.5.5:1000")!
    link.nodes[0].addresses.append(other)
    a.restart(at: link.now)
    a.addLocalCandidate(base: other)
    b.restart(at: link.now)
    link.exchange()
    #expect(link.run(for: .seconds(2)) { link.bothCompleted })
    #expect(b.selectedPair?.remote == other)
  }

  @Test func aRestartLeadsOutOfFailure() {
    let link = LossyLink.full(seed: 3)
    link.blocked = { _, _ in true }
    link.start()
    #expect(link.run(for: .seconds(20)) { link.nodes.allSatisfy { $0.agent.state == .failed } })
    link.blocked = { _, _ in false }
    for node in link.nodes { node.agent.restart(at: link.now) }
    link.exchange()
    #expect(link.run(for: .seconds(2)) { link.bothCompleted })
  }

  /// Signaling may take longer than the search waits.
  @Test func anAnswerThatComesTooLateIsStillOne() {
    let link = LossyLink.full(seed: 8)
    link.blocked = { _, _ in true }
    link.start()
    #expect(link.run(for: .seconds(20)) { link.nodes.allSatisfy { $0.agent.state == .failed } })
    link.blocked = { _, _ in false }
    for node in link.nodes { node.agent.restart(at: link.now) }
    #expect(link.run(for: .seconds(20)) { link.nodes.allSatisfy { $0.agent.state == .failed } })
    link.exchange()
    #expect(link.run(for: .seconds(2)) { link.bothCompleted })
  }

  /// A restart whose offer is rolled back: what was agreed on before goes on, as if nothing had been.
  @Test(arguments: [0, 1], [true, false])
  func aRestartIsTakenBack(side: Int, withLite: Bool) throws {
    let link = withLite ? LossyLink.lite(seed: 9) : LossyLink.full(seed: 9)
    link.start()
    link.run(for: .seconds(2))
    let (agent, other) = (link.nodes[side].agent, link.nodes[1 - side].agent)
    let old = agent.localParameters
    let remote = agent.remoteParameters
    let pair = try #require(agent.selectedPair)
    for _ in 0..<2 { agent.restart(at: link.now) }
    // What is trickled meanwhile may be of either generation.
    agent.addRemoteCandidate(
      try ICECandidate(parsing: "candidate:7 1 udp 2130706431 10.0.0.9 9 typ host"))
    link.run(for: .seconds(8))
    let taken = agent.localParameters
    agent.rollBackRestart(at: link.now)
    #expect(agent.localParameters == old && agent.remoteParameters == remote && taken != old)
    #expect(agent.state == .completed && agent.selectedPair?.remote == pair.remote)
    #expect(agent.remoteCandidates.count == 2)
    link.run(for: .seconds(60))
    #expect(link.bothCompleted && other.selectedPair?.remote == pair.local)
    #expect(!link.events(0).contains(.consentLost) && !link.events(1).contains(.consentLost))
    // Taken back once; the one after it is like any other.
    agent.rollBackRestart(at: link.now)
    #expect(agent.localParameters == old)
    agent.restart(at: link.now)
    other.restart(at: link.now)
    link.exchange()
    #expect(link.run(for: .seconds(2)) { link.bothCompleted })
    let new = agent.localParameters
    agent.rollBackRestart(at: link.now)
    #expect(agent.localParameters == new, "agreed on")
  }

  /// The way dies and an address comes while the restart waits: the generation that is taken back searches with what there is now.
  @Test func takenBackWithoutAWayItSearches() {
    let link = LossyLink.full(seed: 10, ["10.0.0.1:1000", "10.0.1.1:1000"])
    link.start()
    link.run(for: .seconds(2))
    let agent = link.nodes[0].agent
    let first = agent.selectedPair?.local
    agent.restart(at: link.now)
    link.blocked = { from, to in from == first || to == first }
    link.run(for: .seconds(7))
    #expect(agent.selectedPair == nil && agent.state == .checking)
    // The other side has failed meanwhile; only a restart that it hears of leads out of that.
    #expect(link.nodes[1].agent.state == .failed)
    agent.removeLocalCandidates(base: first!, at: link.now)
    agent.rollBackRestart(at: link.now)
    #expect(agent.state == .checking)
    #expect(link.run(for: .seconds(20)) { agent.state == .failed })
    for node in link.nodes { node.agent.restart(at: link.now) }
    link.exchange()
    #expect(link.run(for: .seconds(2)) { link.bothCompleted })
  }

  @Test func takenBackAFailureIsOneAgain() {
    let link = LossyLink.full(seed: 11)
    link.blocked = { _, _ in true }
    link.start()
    #expect(link.run(for: .seconds(20)) { link.nodes.allSatisfy { $0.agent.state == .failed } })
    let agent = link.nodes[0].agent
    agent.restart(at: link.now)
    #expect(agent.state == .checking)
    agent.rollBackRestart(at: link.now)
    #expect(agent.state == .failed && agent.nextDeadline == nil)
  }

  @Test func aRestartThatFindsNothingFails() {
    let link = LossyLink.full(seed: 4)
    link.start()
    link.run(for: .seconds(2))
    let agent = link.nodes[0].agent
    agent.restart(at: link.now)
    link.run(for: .seconds(2))
    agent.setRemoteParameters(LossyLink.full(seed: 5).nodes[1].agent.localParameters)
    let restarted = link.now
    #expect(link.run(for: .seconds(60)) { agent.state == .failed })
    // The agent's time is that of its last poll.
    #expect(link.now - restarted <= .seconds(15) && link.now - restarted > .seconds(13))
  }

  /// The peer's description may never come, as where the offer is given up.
  @Test func aRestartWithoutAnAnswerLeavesTheOldWay() {
    let link = LossyLink.full(seed: 6)
    link.start()
    link.run(for: .seconds(2))
    let agent = link.nodes[0].agent
    let pair = agent.selectedPair
    agent.restart(at: link.now)
    link.run(for: .seconds(120))
    #expect(agent.state == .checking)
    #expect(agent.selectedPair?.remote == pair?.remote && pair != nil)
    #expect(!link.events(0).contains(.consentLost) && !link.events(1).contains(.consentLost))
    // Where the old way dies too, nothing is left.
    link.blocked = { _, _ in true }
    #expect(link.run(for: .seconds(10)) { agent.state == .failed })
  }

  /// What was right before a restart is wrong soon after it.
  @Test(arguments: [true, false])
  func oldCredentialsAreForgotten(withLite: Bool) throws {
    let link = withLite ? LossyLink.lite(seed: 7) : LossyLink.full(seed: 7)
    link.start()
    link.run(for: .seconds(2))
    let (a, b) = (link.nodes[0].agent, link.nodes[1].agent)
    let (old, oldOfPeer) = (b.localParameters, a.localParameters)
    a.restart(at: link.now)
    b.restart(at: link.now)
    link.exchange()
    #expect(link.run(for: .seconds(2)) { link.bothCompleted })
    func ask(_ parameters: ICEParameters) -> Int {
      let request = STUNMessage(
        .request, transactionID: STUNTransactionID(random: RandomSource(seed: 1)),
        attributes: [
          .username(Array("\(parameters.ufrag):\(oldOfPeer.ufrag)".utf8)), .priority(1),
          .iceControlling(1),
        ])
      let before = b.statistics.dropped(.unknownUsername)
      request.encoded(key: Array(parameters.password.utf8)).withUnsafeBytes {
        b.receive(
          $0, from: link.nodes[0].addresses[0], on: link.nodes[1].addresses[0], at: link.now)
      }
      return b.statistics.dropped(.unknownUsername) - before
    }
    #expect(ask(old) == 0)
    link.run(for: .seconds(4))
    #expect(ask(old) == 1)
    #expect(link.bothCompleted)
  }

  /// Chromium keeps a pair of two generations for good once it was answered on it, while it waits for the answer to its
  /// restart: then no check of the new generation gets through to it.
  @Test func twoGenerationsAreNotMixed() {
    let peer = ScriptedPeer(.init(isControlling: false))
    peer.request(from: "10.0.0.2:1", [.iceControlling(1), .useCandidate])
    peer.pass(.milliseconds(10))
    peer.answer()
    #expect(peer.agent.state == .completed)
    let old = peer.agent.localParameters
    // The second restart is the one that is answered.
    for _ in 0..<2 { peer.agent.restart(at: peer.now) }
    peer.inbox = []

    peer.request(from: "10.0.0.2:2", [.iceControlling(1)], to: old, as: "next")
    #expect(peer.inbox.isEmpty)
    #expect(peer.agent.statistics.dropped(.staleCandidate) == 1)
    // The pair in use stays alive on both sides, and the new generation is welcome before its parameters are.
    peer.request(from: "10.0.0.2:1", [.iceControlling(1)], to: old)
    peer.request(from: "10.0.0.2:2", [.iceControlling(1)], as: "next")
    #expect(peer.inbox.map(\.message.messageClass) == [.success, .success])
  }
}
