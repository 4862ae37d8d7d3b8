import SoraICE
import SoraMedia
import Testing

/// A peer whose address changes as often as it likes: networks come and go, and translators forget.
@Suite struct ICEMovingPeerTests {
  private func address(_ index: Int) -> String { "10.1.\(index / 250).\(index % 250 + 1):9" }

  /// Moves to an address and nominates it there.
  private func move(_ peer: ScriptedPeer, to address: String) {
    let role: UInt64 = 1
    for _ in 0..<3 {
      peer.request(from: address, [.iceControlling(role), .useCandidate])
      peer.pass(.milliseconds(100))
      peer.answer()
    }
    peer.pass(.milliseconds(1500))
    peer.answer()
  }

  @Test(arguments: [true, false])
  func everyMoveIsFollowed(lite: Bool) {
    let peer = ScriptedPeer(.init(isControlling: false, isLite: lite))
    for index in 0..<200 {
      move(peer, to: address(index))
      #expect(peer.agent.selectedPair?.remote == TransportAddress(address(index)))
      #expect(peer.agent.selectedPair?.isNominated == true)
      #expect(peer.agent.state == .completed)
    }
    #expect(peer.agent.remoteCandidateCount <= 64)
    #expect(peer.agent.pairStatistics.count <= 64)
    // Also back to where it was long ago, and lately.
    for index in [0, 198] {
      move(peer, to: address(index))
      #expect(peer.agent.selectedPair?.remote == TransportAddress(address(index)))
    }
  }

  @Test(arguments: [true, false])
  func pairsMakeRoomToo(lite: Bool) throws {
    var configuration = ICEConfiguration(isControlling: false, isLite: lite)
    configuration.maxPairs = 8
    let peer = ScriptedPeer(configuration)
    for index in 0..<50 {
      move(peer, to: address(index))
      #expect(peer.agent.selectedPair?.remote == TransportAddress(address(index)))
    }
    #expect(peer.agent.pairStatistics.count <= 8)
    #expect(peer.agent.remoteCandidateCount <= 64)
  }

  /// What was signalled stays, and the pair in use does however long it has been silent on its own.
  @Test(arguments: [true, false])
  func whatIsInUseStays(lite: Bool) throws {
    var configuration = ICEConfiguration(isControlling: false, isLite: lite)
    configuration.maxRemoteCandidates = 4
    let peer = ScriptedPeer(configuration)
    let signalled = try ICECandidate(parsing: "candidate:1 1 udp 9 10.0.0.2 1 typ host")
    peer.agent.addRemoteCandidate(signalled)
    move(peer, to: address(0))
    // Checks alone, which are worth less.
    for index in 1..<20 {
      peer.request(from: address(index), [.iceControlling(1)], priority: 5)
      peer.pass(.milliseconds(50))
      peer.answer()
    }
    #expect(peer.agent.selectedPair?.remote == TransportAddress(address(0)))
    let known = peer.agent.remoteCandidates
    #expect(known.contains(signalled) && known.count == 4)
    #expect(Set(known.map(\.foundation)).count == 4)
    for index in [0, 18, 19] { #expect(peer.agent.knows(TransportAddress(address(index))!)) }
    #expect(!peer.agent.knows(TransportAddress(address(17))!))
    #expect(
      peer.agent.pairStatistics.allSatisfy { pair in
        known.contains { $0.transportAddress == pair.remote.transportAddress }
      })
    #expect(peer.agent.statistics.dropped(.remoteCandidateLimit) == 17)
  }
}
