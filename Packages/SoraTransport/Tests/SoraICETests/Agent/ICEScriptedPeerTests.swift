import SoraICE
import SoraMedia
import Testing

/// A peer that says exactly what a test wants it to.
final class ScriptedPeer {
  let agent: ICEAgent
  let local = TransportAddress("10.0.0.1:1000")!
  let parameters = try! ICEParameters(ufrag: "peer", password: "peerpeerpeerpeerpeerpeer")
  var now = Instant.zero
  let random = RandomSource(seed: 77)
  var events: [ICEEvent] = []
  /// What the agent sent and nobody has looked at yet.
  var inbox: [(at: Instant, to: TransportAddress, message: STUNMessage)] = []

  /// What its answers say of the agent's address; without it, the truth.
  var mapped: TransportAddress?

  init(_ configuration: ICEAgent.Configuration) {
    agent = ICEAgent(configuration: configuration, random: RandomSource(seed: 78))
    agent.addLocalCandidate(base: local)
    agent.setRemoteParameters(parameters)
    agent.start(at: now)
    collect()
  }

  func collect() {
    while let event = agent.nextEvent() { events.append(event) }
    while let transmit = agent.nextTransmit() {
      if let message = try? parse(transmit.bytes) { inbox.append((now, transmit.remote, message)) }
    }
  }

  func pass(_ time: Duration) {
    let end = now + time
    while let deadline = agent.nextDeadline, deadline <= end {
      now = max(now, deadline)
      agent.poll(at: now)
      collect()
    }
    now = end
  }

  /// Sends a Binding request from an address, with credentials of the agent's and a fragment of its own: those in force,
  /// where nothing is said.
  func request(
    from address: String, _ extra: [STUNAttribute], priority: UInt32 = 1 << 30,
    to agent: ICEParameters? = nil, as ufrag: String = "peer"
  ) {
    let theirs = agent ?? self.agent.localParameters
    let message = STUNMessage(
      .request, transactionID: STUNTransactionID(random: random),
      attributes: [
        .username(Array("\(theirs.ufrag):\(ufrag)".utf8)), .priority(priority),
      ] + extra)
    deliver(message.encoded(key: Array(theirs.password.utf8)), from: address)
  }

  func deliver(_ bytes: [UInt8], from address: String) {
    bytes.withUnsafeBytes {
      agent.receive($0, from: TransportAddress(address)!, on: local, at: now)
    }
    collect()
  }

  /// Answers the requests the agent has sent, with success unless `code` says otherwise.
  func answer(code: Int? = nil, signed: Bool = true, only: (STUNMessage) -> Bool = { _ in true }) {
    let requests = inbox
    inbox = []
    for (_, address, message) in requests where message.messageClass == .request && only(message) {
      let response = STUNMessage(
        code == nil ? .success : .error, transactionID: message.transactionID,
        attributes: code.map { [.errorCode($0, reason: "")] } ?? [
          .xorMappedAddress(mapped ?? local)
        ])
      let key = signed ? Array(parameters.password.utf8) : nil
      deliver(response.encoded(key: key), from: address.description)
    }
  }
}

@Suite struct ICEScriptedPeerTests {
  /// RFC 8445 §7.3.1.5: USE-CANDIDATE before our own check has succeeded acts when it does.
  @Test func nominationBeforeOurCheckSucceeds() {
    let peer = ScriptedPeer(.init(isControlling: false))
    peer.request(from: "10.0.0.2:1", [.iceControlling(1), .useCandidate])
    #expect(peer.inbox.first?.message.mappedAddress == TransportAddress("10.0.0.2:1"))
    #expect(peer.agent.selectedPair == nil)
    peer.pass(.milliseconds(10))
    peer.answer()
    #expect(peer.agent.state == .completed)
    #expect(
      peer.events.suffix(2) == [
        .selectedPair(local: peer.local, remote: TransportAddress("10.0.0.2:1")!),
        .stateChanged(.completed),
      ])
  }

  /// An aggressive peer puts USE-CANDIDATE in every check; the best pair counts (RFC 5245 §8.1.1.2).
  @Test(arguments: [true, false])
  func aggressiveNomination(lite: Bool) {
    let peer = ScriptedPeer(.init(isControlling: false, isLite: lite))
    for _ in 0..<3 {
      for (address, priority) in [("10.0.0.2:1", 100), ("10.0.0.3:1", 300), ("10.0.0.4:1", 200)]
        as [(String, UInt32)]
      {
        peer.request(from: address, [.iceControlling(1), .useCandidate], priority: priority)
        peer.pass(.milliseconds(20))
        peer.answer()
      }
    }
    #expect(peer.agent.state == .completed)
    #expect(peer.agent.selectedPair?.remote == TransportAddress("10.0.0.3:1"))
    // A peer that has moved over nominates the other no more.
    for _ in 0..<4 {
      peer.pass(.milliseconds(500))
      peer.answer()
      peer.request(from: "10.0.0.2:1", [.iceControlling(1), .useCandidate], priority: 100)
    }
    #expect(peer.agent.selectedPair?.remote == TransportAddress("10.0.0.2:1"))
    #expect(peer.agent.state == .completed)
  }

  /// RFC 7675 §5.2.
  @Test func consentCanBeRevoked() {
    let peer = ScriptedPeer(.init(isControlling: false))
    peer.request(from: "10.0.0.2:1", [.iceControlling(1), .useCandidate])
    peer.pass(.milliseconds(10))
    peer.answer()
    peer.pass(.milliseconds(1250))
    #expect(peer.agent.statistics.consentRequestsSent > 0)
    peer.answer(code: 403, signed: false)
    #expect(peer.agent.state == .completed)
    #expect(peer.agent.statistics.dropped(.unauthenticatedError) > 0)
    peer.pass(.milliseconds(300))
    peer.answer(code: 403)
    #expect(peer.events.suffix(2) == [.consentLost, .stateChanged(.failed)])
  }

  @Test func wrongAnswersAreNoAnswers() throws {
    let peer = ScriptedPeer(.init(isControlling: true))
    peer.agent.addRemoteCandidate(
      try ICECandidate(parsing: "candidate:1 1 udp 9 10.0.0.2 1 typ host"))
    peer.pass(.milliseconds(1))
    let check = try #require(peer.inbox.first?.message)
    #expect(check.username == Array("peer:\(peer.agent.localParameters.ufrag)".utf8))
    #expect(check.fingerprint == .valid && check.hasIntegrity && check.priority != nil)
    #expect(!check.usesCandidate)
    let response = STUNMessage(
      .success, transactionID: check.transactionID, attributes: [.xorMappedAddress(peer.local)])
    peer.deliver(response.encoded(key: nil), from: "10.0.0.2:1")
    peer.deliver(response.encoded(key: [1, 2, 3]), from: "10.0.0.2:1")
    #expect(peer.agent.statistics.dropped(.badIntegrity) == 2)
    let other = STUNMessage(.success, transactionID: .init(random: peer.random))
    peer.deliver(other.encoded(key: Array(peer.parameters.password.utf8)), from: "10.0.0.2:1")
    #expect(peer.agent.statistics.dropped(.unknownTransaction) == 1)
    #expect(peer.agent.selectedPair == nil)
    peer.deliver(response.encoded(key: Array(peer.parameters.password.utf8)), from: "10.0.0.2:1")
    #expect(peer.agent.state == .connected)
    // Now the nomination is on its way.
    #expect(peer.inbox.last?.message.usesCandidate == true)
    peer.answer { $0.usesCandidate }
    #expect(peer.agent.state == .completed)
  }

  /// RFC 8445 §14.3: 0, 250, 750 ms and then every second, eleven times.
  @Test func retransmissionsBackOff() throws {
    let peer = ScriptedPeer(.init(isControlling: true))
    peer.agent.addRemoteCandidate(
      try ICECandidate(parsing: "candidate:1 1 udp 9 10.0.0.2 1 typ host"))
    var times: [Double] = []
    while peer.agent.state == .checking, peer.now < .zero + .seconds(12) {
      peer.pass(.milliseconds(10))
      times += peer.inbox.map(\.at.seconds)
      peer.inbox = []
    }
    #expect(times.count == 11)
    #expect(
      zip(times, times.dropFirst()).map { (($1 - $0) * 100).rounded() / 100 } == [
        0.25, 0.5, 1, 1, 1, 1, 1, 1, 1, 1,
      ])
    #expect(peer.agent.statistics.retransmissionsSent == 10)
  }

  /// A lite agent can't be made to control.
  @Test func aLiteAgentRefusesAControlledPeer() {
    let peer = ScriptedPeer(.init(isControlling: false, isLite: true))
    peer.request(from: "10.0.0.2:1", [.iceControlled(0)])
    #expect(peer.inbox.first?.message.errorCode == 487)
    #expect(peer.agent.selectedPair == nil)
    peer.request(from: "10.0.0.2:1", [.iceControlling(0)])
    #expect(peer.agent.state == .connected)
    peer.request(from: "10.0.0.2:1", [.iceControlling(0), .useCandidate])
    #expect(peer.agent.state == .completed)
  }

  /// Reflexive and relayed candidates start from a base; only host and relayed ones form pairs (RFC 8445 §6.1.2.4).
  @Test func otherLocalCandidateTypesFitIn() throws {
    let peer = ScriptedPeer(.init(isControlling: true))
    let base = ICEBase(address: peer.local)
    let srflx = peer.agent.addLocalCandidate(
      .srflx, address: TransportAddress("198.51.100.1:7")!, base: base)
    #expect(srflx.sdp.contains("198.51.100.1 7 typ srflx raddr 10.0.0.1 rport 1000"))
    let relayed = TransportAddress("203.0.113.3:8")!
    let relay = peer.agent.addLocalCandidate(
      .relay, address: relayed, base: ICEBase(address: relayed, type: .relay, transport: .tcp),
      relatedAddress: TransportAddress("198.51.100.1:7"))
    #expect(
      relay.priority < srflx.priority && srflx.priority < peer.agent.localCandidates[0].priority)
    peer.agent.addRemoteCandidate(
      try ICECandidate(parsing: "candidate:1 1 udp 9 10.0.0.2 1 typ host"))
    #expect(peer.agent.pairStatistics.map(\.local.type) == [.host, .relay])
    peer.pass(.milliseconds(50))
    #expect(peer.inbox.count == 2)
  }

  /// Found by fuzzing: the wait for a better pair ended while this side had stopped controlling, and its deadline stayed.
  @Test func aRoleChangeLeavesNoDeadlineBehind() throws {
    let peer = ScriptedPeer(.init(isControlling: true))
    for (host, priority) in [("10.0.0.2", 1), ("10.0.0.3", 2_000_000)] {
      peer.agent.addRemoteCandidate(
        try ICECandidate(parsing: "candidate:\(priority) 1 udp \(priority) \(host) 9 typ host"))
    }
    peer.pass(.milliseconds(20))
    let worse = STUNMessage(
      .success,
      transactionID: try #require(peer.inbox.first { $0.to.description == "10.0.0.2:9" }).message
        .transactionID,
      attributes: [.xorMappedAddress(peer.local)])
    peer.deliver(worse.encoded(key: Array(peer.parameters.password.utf8)), from: "10.0.0.2:9")
    #expect(peer.agent.selectedPair?.isNominated == false)
    peer.agent.isControlling = false
    // Until consent is lost there is always something to do, and it takes far fewer polls than this.
    for _ in 0..<200 {
      guard let deadline = peer.agent.nextDeadline else { break }
      peer.now = max(peer.now, deadline)
      peer.agent.poll(at: peer.now)
      peer.collect()
    }
    #expect(peer.agent.state == .failed)
    #expect(peer.events.contains(.consentLost))
  }
}
