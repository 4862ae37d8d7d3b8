import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraSDP
import SoraTransport
import Testing
import WebRTC

/// W3C's states, each from its own transport, and the snapshots that carry them.
@Suite(.timeLimit(.minutes(5))) struct CoreStateTests {
  /// Counts what it is told.
  private final class Counter: PeerConnectionCoreDelegate {
    private(set) var snapshots = 0
    private(set) var tracks = 0
    /// Whether each track was in the snapshot by the time it was told of.
    private(set) var areKnown = true

    func core(_ core: PeerConnectionCore, event: PeerConnectionEvent, at now: Instant) {
      if case .updated = event { snapshots += 1 }
      guard case .trackAdded(let id, _) = event else { return }
      tracks += 1
      areKnown = areKnown && core.snapshot.transceivers.contains { $0.id == id }
    }

    func core(
      _: PeerConnectionCore, receivedVideo _: EncodedFrame, codec _: String, transceiverID _: Int,
      at _: Instant
    ) {}

    func core(
      _: PeerConnectionCore, receivedAudio _: UnsafeRawBufferPointer, header _: RTPHeader,
      transceiverID _: Int, at _: Instant
    ) {}
  }

  /// A snapshot of all transceivers for each track that comes would cost the square of their number.
  @Test func manyTracksComeWithOneSnapshot() throws {
    let pair = pair(58)
    let core = pair.callee.core
    let counter = Counter()
    core.delegate = counter
    let sections = (0..<100).map {
      SoraOffer.Section.from($0 % 2 == 0 ? "audio" : "video", "c\($0)", mid: "m\($0)")
    }
    try core.setRemoteDescription(.offer, SoraOffer(sections: sections).text, at: .zero)
    #expect(counter.tracks == 100 && counter.areKnown)
    #expect(counter.snapshots <= 4, "\(counter.snapshots)")
    #expect(core.snapshot.states.signaling == .haveRemoteOffer)
  }

  private func pair(_ seed: UInt64) -> CorePair {
    CorePair(seed: seed, LinkConditions(delay: .milliseconds(20)))
  }

  @Test func eachTransportHasItsOwnStates() throws {
    let pair = pair(41)
    try pair.negotiate()
    for party in [pair.caller, pair.callee] {
      #expect(party.snapshot.states.signaling == .stable)
      #expect(party.snapshot.states.gathering == .complete)
      #expect(party.snapshot.states.connection == .connecting)
    }
    pair.network.run(for: .seconds(3))
    for party in [pair.caller, pair.callee] {
      #expect(party.iceStates.first == .checking && party.iceStates.last == .completed)
      #expect(!party.iceStates.contains(.failed) && !party.iceStates.contains(.disconnected))
      #expect(party.dtlsStates == [.connecting, .connected])
      #expect(party.connectionStates == [.connecting, .connected])
      #expect(party.snapshot == party.core.snapshot)
      let states = party.snapshot.states
      #expect(states.ice == .completed && states.dtls == .connected)
      #expect(states.connection == .connected && states.failure == nil)
      #expect(party.snapshot.selectedPair?.local == party.address)
      #expect(party.snapshot.transceivers.map(\.currentDirection) == [.sendrecv, .sendrecv])
      #expect(party.snapshot.localDescription?.sdp == party.core.localDescription)
      #expect(party.snapshot.remoteDescription?.sdp == party.core.remoteDescription)
    }
    #expect(pair.caller.snapshot.localDescription?.kind == .offer)
    #expect(pair.callee.snapshot.localDescription?.kind == .answer)
    pair.caller.core.close(at: pair.network.now)
    #expect(pair.caller.iceStates.last == .closed && pair.caller.dtlsStates.last == .closed)
    #expect(pair.caller.connectionStates == [.connecting, .connected, .closed])
    pair.network.run(for: .seconds(1))
    // The peer's close_notify ends what DTLS agreed on, and says nothing of ICE.
    #expect(pair.callee.dtlsStates.last == .closed && pair.callee.iceStates.last == .completed)
    #expect(pair.callee.connectionStates.last == .failed)
    #expect(pair.callee.failures == [.closedByPeer])
  }

  @Test func aFailureOfDTLSIsNoneOfICE() throws {
    let pair = pair(42)
    let wrong = try SimulationCertificate.make(77).fingerprint
    let right = try SimulationCertificate.make(2).fingerprint
    try pair.negotiate(from: pair.caller, to: pair.callee) { answer in
      answer.replacing(right.description, with: wrong.description)
    }
    pair.network.run(for: .seconds(3))
    let caller = pair.caller
    #expect(caller.dtlsStates.last == .failed)
    #expect(!caller.iceStates.contains(.failed) && !caller.iceStates.contains(.closed))
    #expect(caller.iceStates.contains(.connected) || caller.iceStates.contains(.completed))
    #expect(caller.connectionStates == [.connecting, .failed])
    guard case .dtls? = caller.failures.first else {
      Issue.record("\(caller.failures)")
      return
    }
    #expect(caller.failures.count == 1)
  }

  @Test func aFailureOfICEIsNoneOfDTLS() throws {
    let pair = pair(43)
    pair.link.setUp(false)
    try pair.negotiate()
    pair.network.run(for: .seconds(60))
    for party in [pair.caller, pair.callee] {
      #expect(party.iceStates == [.checking, .failed])
      #expect(party.dtlsStates.isEmpty && party.snapshot.states.dtls == .new)
      #expect(party.connectionStates == [.connecting, .failed])
      #expect(party.failures.count == 1 && party.snapshot.states.failure == party.failures.first)
    }
  }

  /// W3C webrtc §5.6.4: more candidates may come until somebody says that there are none.
  @Test func theSearchIsCompleteOnceThePeersCandidatesAre() throws {
    let pair = pair(44)
    try pair.negotiate(from: pair.caller, to: pair.callee) { answer in
      answer.replacing("a=end-of-candidates\r\n", with: "")
    }
    pair.network.run(for: .seconds(3))
    #expect(pair.callee.iceStates.last == .completed)
    #expect(pair.caller.core.transport.ice.selectedPair?.isNominated == true)
    #expect(pair.caller.iceStates.last == .connected)
    #expect(pair.caller.connectionStates.last == .connected)
    try pair.caller.core.addRemoteCandidate("", at: pair.network.now)
    #expect(pair.caller.iceStates.last == .completed)
    #expect(pair.caller.snapshot.states.ice == .completed)
  }

  /// W3C webrtc §5.6.4: a restart looks for a path beside the one in use, and is none of the connection's until that is lost.
  @Test func aRestartKeepsThePathInUse() throws {
    let pair = pair(46)
    try pair.negotiate()
    pair.network.run(for: .seconds(3))
    let caller = pair.caller
    func offerRestart() throws {
      caller.core.restartICE(at: pair.network.now)
      let offer = try caller.core.createOffer()
      try caller.core.setLocalDescription(
        .offer, offer, addresses: [caller.address], at: pair.network.now)
      pair.network.deadlinesChanged()
    }
    #expect(caller.iceStates.last == .completed)
    try offerRestart()
    pair.network.run(for: .seconds(1))
    #expect(caller.iceStates.last == .connected)
    #expect(caller.connectionStates == [.connecting, .connected])
    try caller.core.rollback(at: pair.network.now)
    #expect(caller.iceStates.last == .completed)
    try offerRestart()
    pair.link.setUp(false)
    pair.network.run(for: .seconds(8))
    #expect(caller.iceStates.last == .disconnected)
    #expect(caller.connectionStates == [.connecting, .connected, .disconnected])
    pair.network.run(for: .seconds(30))
    #expect(caller.iceStates.last == .failed)
    #expect(caller.connectionStates == [.connecting, .connected, .disconnected, .failed])
  }

  @Test func candidatesThatCantBeReadAreNamed() throws {
    let pair = pair(45)
    let bad = "candidate:1 1 udp 2122260223 192.0.2.300.1 5000 typ nothing"
    try pair.negotiate(from: pair.caller, to: pair.callee) { answer in
      answer.replacing("a=end-of-candidates", with: "a=\(bad)\r\na=end-of-candidates")
    }
    guard case .unreadableCandidate(let line, _)? = pair.caller.unusableCandidates.first else {
      Issue.record("\(pair.caller.unusableCandidates)")
      return
    }
    #expect(line == bad)
    let before = pair.caller.core.remoteDescription
    #expect {
      try pair.caller.core.addRemoteCandidate("candidate:what", at: pair.network.now)
    } throws: { error in
      guard case NegotiationError.unreadableCandidate("candidate:what", _) = error else {
        return false
      }
      return true
    }
    #expect(pair.caller.core.remoteDescription == before)
    pair.network.run(for: .seconds(2))
    #expect(pair.caller.connectionStates == [.connecting, .connected], "the others do")
  }

  @Test(arguments: [
    (ICEConnectionState.new, DTLSTransportState.new, PeerConnectionState.new),
    (.closed, .closed, .new), (.checking, .new, .connecting), (.connected, .new, .connecting),
    (.connected, .connecting, .connecting), (.new, .connected, .connecting),
    (.checking, .connected, .connecting), (.connected, .connected, .connected),
    (.completed, .connected, .connected), (.completed, .closed, .connected),
    (.disconnected, .connecting, .disconnected), (.disconnected, .connected, .disconnected),
    (.disconnected, .failed, .failed), (.completed, .failed, .failed),
    (.failed, .connected, .failed),
    (.failed, .new, .failed),
  ])
  func theConnectionFollowsFromBoth(
    ice: ICEConnectionState, dtls: DTLSTransportState, connection: PeerConnectionState
  ) {
    #expect(PeerConnectionState(ice: ice, dtls: dtls) == connection)
    #expect(PeerConnectionState(ice: ice, dtls: dtls, isClosed: true) == .closed)
    #expect(PeerConnectionState(ice: ice, dtls: dtls, hasFailed: true) == .failed)
  }
}
