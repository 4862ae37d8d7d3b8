import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraTransport
import Testing

/// Calls through a TURN server, in virtual time.
@Suite struct PeerRelayTests {
  @Test func aFirewallIsPassedThroughTheRelay() throws {
    let call = try RelayedCall(seed: 1)
    #expect(call.connect())
    #expect(call.a.selectedTypes == [.relay, .host])
    #expect(call.b.selectedTypes == [.host, .relay])
    call.exchange(100)
    #expect(call.a.received == Array(0..<100))
    #expect(call.b.received == Array(0..<100))
    #expect(call.firewall.blocked > 0)
    // Each packet has ChannelData's four bytes before it, and nothing else.
    let sent = call.a.transport.statistics.datagramsSent
    let relayed = call.turn.server.statistics.datagramsToPeers
    #expect(relayed > 100 && relayed <= sent)
    #expect(call.network.overduePolls == 0)
  }

  @Test func whoInsistsOnRelaysShowsNothingElse() throws {
    let call = try RelayedCall(
      seed: 2, policyA: .relay, policyB: .relay, serversB: RelayedCall.servers())
    call.firewall.isOpen = true
    #expect(call.connect())
    #expect(call.a.selectedTypes == [.relay, .relay])
    call.exchange(50)
    #expect(call.a.received == Array(0..<50))
    #expect(call.b.received == Array(0..<50))
    for candidate in call.a.candidates + call.b.candidates {
      #expect(candidate.type == .relay)
      #expect(candidate.address == .ip(IPAddress("192.0.2.1")!))
      // RFC 8828 §3: not even the mapped address.
      #expect(candidate.relatedAddress?.address == .ip(IPAddress("0.0.0.0")!))
    }
    #expect(call.a.candidates.count == 1)
  }

  @Test func aLinkThatLosesATenthOnlyTakesLonger() throws {
    var slowest = Duration.zero
    for seed in 1...20 as ClosedRange<UInt64> {
      let call = try RelayedCall(seed: seed, loss: 0.1, policyA: .relay)
      #expect(call.connect(), "seed \(seed)")
      for peer in [call.a, call.b] {
        if let at = peer.transport.statistics.secured { slowest = max(slowest, at - .zero) }
      }
      call.exchange(100)
      #expect(call.a.received.count > 40, "seed \(seed)")
      #expect(call.b.received.count > 40, "seed \(seed)")
    }
    print("relay at 10 % loss on each link: slowest of 20 connects \(slowest.inMilliseconds) ms")
  }

  @Test func anHourThroughTheRelayLosesNothing() throws {
    let call = try RelayedCall(seed: 3, policyA: .relay)
    #expect(call.connect())
    for minute in 0..<60 as Range<UInt16> {
      call.exchange(1, from: minute)
      call.network.run(for: .seconds(60))
    }
    #expect(call.a.received == Array(0..<60))
    #expect(call.b.received == Array(0..<60))
    #expect(call.turn.server.statistics.allocationsMade == 1)
    #expect(call.turn.server.statistics.notPermitted == 0)
    #expect(call.a.states.map(\.state) == [.connecting, .connected])
  }

  @Test func theEndGivesTheAllocationBack() throws {
    let call = try RelayedCall(seed: 4)
    #expect(call.connect())
    #expect(call.turn.server.allocationCount == 1)
    call.a.transport.close(at: call.network.now)
    call.network.run(for: .seconds(1))
    #expect(call.turn.server.allocationCount == 0)
    // The farewell of DTLS went through it before.
    #expect(call.b.states.last?.state == .failed(.closedByPeer))
  }

  @Test func candidatesSayWhereTheyComeFrom() throws {
    let call = try RelayedCall(seed: 5)
    #expect(call.connect())
    #expect(call.a.isGatheringOver && call.b.isGatheringOver)
    #expect(call.a.candidates.map(\.type) == [.host, .relay])
    let (host, relay) = (call.a.candidates[0], call.a.candidates[1])
    #expect(host.foundation != relay.foundation)
    #expect(relay.priority >> 24 == 0 && host.priority >> 24 == 126)
    #expect(relay.relatedAddress == .init(address: .ip(IPAddress("10.0.0.1")!), port: 5000))
    #expect(
      call.a.transport.gathered.map(\.url)
        == [nil, ICEServerURL("turn:192.0.2.1:3478?transport=udp")])
  }
}

/// What a connection without a usable server says.
@Suite struct PeerServerFailureTests {
  @Test func wrongCredentialsAreNamed() throws {
    let servers = RelayedCall.servers(password: "guess")
    let call = try RelayedCall(seed: 11, policyA: .relay, serversA: servers)
    #expect(!call.connect())
    let failures = [ICEServerFailure(url: servers[0].url, error: .wrongCredentials)]
    #expect(
      call.a.states.last?.state
        == .failed(.serversFailed(failures, localCandidates: 0, remoteCandidates: 1)))
    // At once, not after the patience of a search.
    #expect((call.a.states.last?.at ?? .distantFuture) < Instant.zero + .seconds(1))
  }

  @Test func aServerThatIsNotThereIsNamedWhenNothingElseWorks() throws {
    let servers = RelayedCall.servers("turn:192.0.2.1:9")
    let call = try RelayedCall(seed: 12, serversA: servers)
    #expect(!call.connect())
    call.network.run(for: .seconds(10))
    guard case .failed(.serversFailed(let failures, _, _))? = call.a.states.last?.state else {
      Issue.record("\(String(describing: call.a.states.last))")
      return
    }
    #expect(failures == [ICEServerFailure(url: servers[0].url, error: .timedOut)])
  }

  @Test func aNameIsResolvedFirstAndOneThatCannotBeIsNamed() throws {
    let servers = RelayedCall.servers("turn:turn.example.org")
    for addresses in [[IPAddress("192.0.2.1")!], []] {
      let call = try RelayedCall(seed: 13, policyA: .relay, serversA: servers)
      call.start()
      #expect(call.a.names == ["turn.example.org"])
      call.network.run(for: .milliseconds(100))
      call.a.transport.resolved("turn.example.org", to: addresses, at: call.network.now)
      call.network.deadlinesChanged()
      _ = call.network.run(until: { call.a.transport.state == .connected }, within: .seconds(5))
      if addresses.isEmpty {
        #expect(
          call.a.states.last?.state
            == .failed(
              .serversFailed(
                [
                  ICEServerFailure(
                    url: servers[0].url, error: .unresolvable(name: "turn.example.org"))
                ],
                localCandidates: 0, remoteCandidates: 1)))
      } else {
        #expect(call.a.transport.state == .connected)
      }
    }
  }

  @Test func ofSeveralServersThoseThatAnswerAreUsed() throws {
    let servers =
      RelayedCall.servers("turn:192.0.2.1:9") + RelayedCall.servers("turn:192.0.2.77")
      + RelayedCall.servers()
    let call = try RelayedCall(seed: 14, policyA: .relay, serversA: servers)
    #expect(call.connect())
    // Nobody waited for those that don't.
    #expect((call.a.transport.statistics.secured ?? .distantFuture) < Instant.zero + .seconds(1))
  }

  @Test func theRelayPolicyWithoutAServerFailsAtOnce() throws {
    let call = try RelayedCall(seed: 15, policyA: .relay, serversA: [])
    #expect(!call.connect())
    #expect(
      call.a.states.last?.state
        == .failed(.serversFailed([], localCandidates: 0, remoteCandidates: 1))
        || call.a.states.last?.state
          == .failed(.serversFailed([], localCandidates: 0, remoteCandidates: 0))
    )
  }

  @Test func aStreamWithoutAWayToOpenOneIsNamed() throws {
    let servers = RelayedCall.servers("turn:192.0.2.1?transport=tcp")
    let call = try RelayedCall(seed: 16, policyA: .relay, serversA: servers)
    call.start()
    call.network.run(for: .seconds(1))
    #expect(call.a.transport.gatherer.failures.map(\.url) == [servers[0].url])
  }
}

/// Ways that come and go while a call runs.
@Suite struct PeerPathChangeTests {
  @Test func theCallMovesFromTheRelayToADirectWay() throws {
    let call = try RelayedCall(seed: 21)
    #expect(call.connect())
    #expect(call.a.selectedTypes == [.relay, .host])
    call.exchange(50)
    call.firewall.isOpen = true
    call.exchange(200, from: 50)
    #expect(call.a.selectedTypes == [.host, .host])
    #expect(call.b.selectedTypes == [.host, .host])
    // Packets on the new way may pass those on the old one; none is lost.
    #expect(call.a.received.sorted() == Array(0..<250))
    #expect(call.b.received.sorted() == Array(0..<250))
    #expect(call.a.states.map(\.state) == [.connecting, .connected])
  }

  @Test func anInterfaceThatGoesIsReplacedByOneThatComes() throws {
    let call = try RelayedCall(seed: 22, serversA: [])
    call.firewall.isOpen = true
    #expect(call.connect())
    call.exchange(20)
    let new = TransportAddress("10.0.1.1:5001")!
    call.a.addBase(new)
    call.exchange(20, from: 20)
    call.a.removeBase(call.a.bases[0])
    call.exchange(100, from: 40)
    #expect(call.a.transport.ice.selectedPair?.local == new)
    #expect(call.a.transport.state == .connected)
    #expect(call.b.transport.state == .connected)
    #expect(call.a.received.suffix(50) == Array(90..<140)[...])
    #expect(call.b.received.suffix(50) == Array(90..<140)[...])
    #expect(call.a.transport.gathered.map(\.isGone) == [true, false])
  }

  @Test func anInterfaceThatGoesFirstIsReplacedToo() throws {
    let call = try RelayedCall(seed: 23, serversA: [])
    call.firewall.isOpen = true
    #expect(call.connect())
    call.a.removeBase(call.a.bases[0])
    #expect(call.a.transport.state == .disconnected)
    call.network.run(for: .seconds(1))
    call.a.addBase(TransportAddress("10.0.1.1:5001")!)
    #expect(
      call.network.run(until: { call.a.transport.state == .connected }, within: .seconds(3)))
    // The other side has heard of it a little later.
    call.network.run(for: .milliseconds(100))
    call.exchange(50)
    #expect(call.a.received == Array(0..<50))
    #expect(call.b.received == Array(0..<50))
  }

  @Test func anAllocationThatIsLostLeavesTheDirectWayAndIsMadeAnew() throws {
    let call = try RelayedCall(seed: 24)
    #expect(call.connect())
    call.firewall.isOpen = true
    call.exchange(100)
    #expect(call.a.selectedTypes == [.host, .host])
    call.turn.server.close()
    // Until the refresh finds out.
    call.network.run(for: .seconds(700))
    call.exchange(20, from: 100)
    #expect(call.a.received.suffix(20) == Array(100..<120)[...])
    #expect(call.a.transport.gathered.map(\.isGone) == [false, true, false])
    #expect(call.a.selectedTypes == [.host, .host])
    #expect(call.turn.server.allocationCount == 1)
    #expect(call.a.transport.state == .connected)
  }
}
