import SoraICE
import SoraMedia
import Testing

@Suite struct ICEFailureTests {
  static func isFailed(_ event: ICEEvent) -> Bool { event == .stateChanged(.failed) }

  /// All checks time out after 9.75 s; nothing else is to come.
  @Test func noPairWorks() {
    let link = LossyLink.full(seed: 1)
    link.blocked = { _, _ in true }
    link.start()
    #expect(link.run(for: .seconds(60)) { link.nodes.allSatisfy { $0.agent.state == .failed } })
    #expect((9.7...10).contains(link.now.seconds))
    #expect(!link.events(0).contains(.consentLost))
    #expect(link.nodes.allSatisfy { $0.agent.nextDeadline == nil })
  }

  /// Candidates may still come, so it takes the whole connect timeout.
  @Test func nothingComes() {
    for link in [LossyLink.full(seed: 2), LossyLink.lite(seed: 2)] {
      link.start(candidates: false)
      #expect(link.run(for: .seconds(60)) { link.nodes.allSatisfy { $0.agent.state == .failed } })
      #expect(link.now == .zero + .seconds(15))
    }
  }

  /// No candidates at all, and the peer says so: its checks are awaited for a while (RFC 8863).
  @Test func nothingWillCome() {
    let link = LossyLink.full(seed: 3)
    link.start(candidates: false)
    for node in link.nodes { node.agent.endOfRemoteCandidates() }
    #expect(link.run(for: .seconds(60)) { link.nodes.allSatisfy { $0.agent.state == .failed } })
    #expect(link.now == .zero + .seconds(5))
  }

  @Test func thePeersParametersNeverCome() {
    let link = LossyLink.full(seed: 4)
    link.nodes[0].agent.start(at: link.now)
    #expect(link.run(for: .seconds(60)) { link.nodes[0].agent.state == .failed })
    #expect(link.now == .zero + .seconds(15))
  }

  /// A pair whose way back is another address isn't one (RFC 8445 §7.2.5.2.1).
  @Test func asymmetricAnswersDontCount() {
    let link = LossyLink.full(seed: 5)
    link.mappings[TransportAddress("10.0.0.2:2000")!] = TransportAddress("10.0.0.77:2000")!
    link.blocked = { from, to in
      to.ip == IPAddress("10.0.0.77")
        || from.ip == IPAddress("10.0.0.1") && to.ip == IPAddress("10.0.0.77")
    }
    link.start()
    link.run(for: .seconds(5))
    #expect(link.nodes[0].agent.statistics.dropped(.asymmetricResponse) > 0)
    #expect(link.nodes[0].agent.selectedPair == nil)
  }

  @Test func aClosedAgentIsSilent() {
    let link = LossyLink.full(seed: 6)
    link.start()
    link.run(for: .seconds(1))
    let agent = link.nodes[0].agent
    agent.close(at: link.now)
    link.settle()
    #expect(link.events(0).last == .stateChanged(.closed))
    #expect(agent.nextDeadline == nil && agent.selectedPair == nil)
    #expect(link.run(for: .seconds(10)) { link.nodes[1].agent.state == .failed })
    #expect(link.events(1).filter { $0 == .consentLost }.count == 1)
  }
}
