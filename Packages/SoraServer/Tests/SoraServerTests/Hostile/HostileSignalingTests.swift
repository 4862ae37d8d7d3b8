import SoraMedia
import SoraNetworkSimulator
import SoraSDP
import SoraServer
import SoraSignalingChannels
import SoraSignalingMessages
import SoraWire
import Testing

/// What a client that keeps to no rule says, and how much of it the server holds. Beside each, others' media go on.
struct HostileSignalingTests {
  private let network = SimulatedNetwork(seed: 61)

  private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

  @Test func connectsBeyondTheLimitsHoldNothing() throws {
    let server = try TestServer(network) {
      $0.maximumPeers = 40
      $0.maximumConnections = 20
    }
    let others = try Bystanders(server)
    var (full, most) = (0, 0)
    for round in 0..<1000 {
      if round % 100 == 0 { others.exchange() }
      guard let peer = server.core.accept(at: network.now) else {
        full += 1
        continue
      }
      // A third says nothing.
      if round % 3 > 0 {
        let connect = ConnectMessage(role: .sendrecv, channelID: "room \(round)")
        server.core.receive(.connect(connect), from: peer, at: network.now)
      }
      most = max(most, server.core.holdings.clients)
    }
    network.deadlinesChanged()
    #expect(full > 800 && most == 40)
    #expect(server.core.status.count == 20 && server.core.channelIDs.count == 19)
    #expect(server.core.totals.refusals >= 20)
    // Who has neither said anything nor answered is forgotten, and then there is room again.
    for _ in 0..<7 {
      network.run(for: .seconds(5))
      others.exchange()
    }
    #expect(server.core.holdings.clients == 2 && server.core.holdings.connections == 2)
    let newcomer = try ScriptedClient("n", 9, server).connect(.sendrecv)
    #expect(network.run(until: { newcomer.isConnected }, within: .seconds(5)))
  }

  /// Who takes all places has its own ones go for those who come from elsewhere: they needn't wait until it is forgotten.
  @Test(arguments: [["2001:db8::%x", "2001:db8::ffff:%x"], ["192.0.2.7", "::ffff:192.0.2.7"]])
  func newcomersFindAPlaceBesideAFlood(addresses: [String]) throws {
    let server = try TestServer(network) {
      $0.maximumPeers = 40
      $0.maximumConnections = 20
    }
    let others = try Bystanders(server)
    let hostile = try (0..<1000).map { number -> ClientNetwork in
      let text = addresses[number % 2].replacing("%x", with: String(number, radix: 16))
      return ClientNetwork(try #require(IPAddress(text)))
    }
    func flood(_ round: Int) {
      guard let peer = server.core.accept(from: hostile[round], at: network.now) else { return }
      if round % 3 > 0 {
        let connect = ConnectMessage(role: .sendrecv, channelID: "room \(round)")
        server.core.receive(.connect(connect), from: peer, at: network.now)
      }
    }
    var newcomers: [ScriptedClient] = []
    for round in 0..<1000 {
      flood(round)
      guard round % 200 == 199 else { continue }
      #expect(server.core.holdings.clients == 40 && server.core.status.count == 20)
      newcomers.append(try ScriptedClient("n", newcomers.count + 1, server).connect(.sendrecv))
      network.deadlinesChanged()
      // The flood goes on while it connects.
      for more in 0..<50 { flood(more) }
      let isIn = network.run(
        until: { newcomers.allSatisfy(\.isConnected) }, within: .seconds(5))
      #expect(isIn, "newcomer \(newcomers.count): \(newcomers.last?.closed?.reason ?? "waits")")
      others.exchange()
    }
    // Who is connected stays, however many come from one place.
    #expect(newcomers.allSatisfy { $0.closed == nil })
    let refused = server.events.compactMap { event -> String? in
      if case .refused(_, let reason) = event { reason } else { nil }
    }
    #expect(refused.contains("SERVER-FULL"))
  }

  /// Nobody goes for one who would be one of as many, nor for one of whom nothing is known.
  @Test func whoMakesRoom() throws {
    let (a, b, c) = (
      ClientNetwork(IPAddress(v4: 1)), ClientNetwork(IPAddress(v4: 2)),
      ClientNetwork(IPAddress(v4: 3))
    )
    let crowd: [(Int, ClientNetwork?)] = [(1, nil), (2, b), (3, a), (4, nil), (5, a), (6, nil)]
    #expect(ClientNetwork.leaver(of: crowd, for: c) == 3)
    #expect(ClientNetwork.leaver(of: crowd, for: b) == nil)
    #expect(ClientNetwork.leaver(of: crowd + [(7, a)], for: b) == 3)
    #expect(ClientNetwork.leaver(of: crowd, for: a) == nil)
    #expect(ClientNetwork.leaver(of: crowd, for: nil) == nil)
    #expect(ClientNetwork.leaver(of: crowd.filter { $0.1 != a }, for: c) == nil)
    #expect(ClientNetwork.leaver(of: [(Int, ClientNetwork?)](), for: c) == nil)
  }

  @Test func connectionsOfOneAddressAreBounded() throws {
    let server = try TestServer(network) { $0.maximumNetworkConnections = 2 }
    let address = ClientNetwork(IPAddress(v4: 7))
    var peers: [SFUPeerID] = []
    for channel in ["a", "b", "c"] {
      let peer = try #require(server.core.accept(from: address, at: network.now))
      peers.append(peer)
      server.core.receive(
        .connect(ConnectMessage(role: .recvonly, channelID: channel)), from: peer, at: network.now)
    }
    network.deadlinesChanged()
    let reason = "CONNECTION-LIMIT: the address has as many as it may"
    #expect(server.core.status.count == 2)
    #expect(server.events.contains(.refused(peers[2], reason: reason)))
    #expect(throws: SFUOfferError.refused(reason)) {
      try server.core.open(
        ConnectMessage(role: .sendonly, channelID: "d"), from: address, at: network.now)
    }
    // Others come, and so does it when one of its own has gone.
    let other = try ScriptedClient("o", 1, server).connect(.sendrecv)
    #expect(network.run(until: { other.isConnected }, within: .seconds(5)))
    server.core.receive(.disconnect(reason: nil), from: peers[0], at: network.now)
    let peer = try #require(server.core.accept(from: address, at: network.now))
    server.core.receive(
      .connect(ConnectMessage(role: .recvonly, channelID: "e")), from: peer, at: network.now)
    network.deadlinesChanged()
    #expect(server.core.status.count == 3)
  }

  /// A connection keeps what its `connect` has said. As JSON in memory that is many times its text.
  @Test func whatAConnectBringsIsBounded() throws {
    let server = try TestServer(network)
    let others = try Bystanders(server)
    let values = (0..<8000).map { "value \($0)" }
    let changes: [(String, (inout ConnectMessage) -> Void)] = [
      ("INVALID-MESSAGE", { $0.additional = ["unknown": .string(self.text(256 * 1024))] }),
      (
        "INVALID-FORWARDING-FILTERS",
        {
          $0.forwardingFilters = [
            ForwardingFilter(rules: [
              [ForwardingRule(field: .connectionID, operator: .isIn, values: values)]
            ])
          ]
        }
      ),
      (
        "INVALID-FORWARDING-FILTERS",
        {
          $0.forwardingFilters = (0..<65).map { number in
            ForwardingFilter(rules: []) { $0.name = "\(number)" }
          }
        }
      ),
      (
        "INVALID-DATA-CHANNELS",
        {
          $0.dataChannelSignaling = true
          $0.dataChannels = [
            DataChannelOptions(label: "#a") {
              $0.direction = .sendrecv
              $0.protocol = self.text(70_000)
            }
          ]
        }
      ),
      (
        "INVALID-DATA-CHANNELS",
        {
          $0.dataChannels = (0..<65).map { number in
            DataChannelOptions(label: "#\(number)") { $0.direction = .sendrecv }
          }
        }
      ),
    ]
    for (number, (reason, change)) in changes.enumerated() {
      let client = try ScriptedClient("c", number + 1, server).withData()
      client.connect(.sendrecv, configure: change)
      network.run(for: .milliseconds(100))
      #expect(client.closed?.code == 4490 && client.offer == nil, "\(number)")
      #expect(client.closed?.reason.hasPrefix("\(reason): ") == true, "\(client.closed as Any)")
      others.exchange()
    }
    #expect(server.core.holdings.connections == 2)
  }

  /// Names are told to each newcomer, too, in the one message that has to be small enough to be sent.
  @Test func theNamesInAChannelAreBounded() throws {
    let server = try TestServer(network)
    let others = try Bystanders(server)
    // Six bytes each as JSON.
    let name = String(repeating: "\u{1}", count: 255)
    var refused = 0
    for _ in 0..<400 {
      let peer = try #require(server.core.accept(at: network.now))
      let connect = ConnectMessage(role: .recvonly, channelID: "room") {
        $0.clientID = name
        $0.bundleID = name
      }
      server.core.receive(.connect(connect), from: peer, at: network.now)
      if server.core.status.last?.peer != peer { refused += 1 }
    }
    network.deadlinesChanged()
    #expect(refused > 0 && refused < 200)
    let told = (server.core.status.count - 2) * 2 * 6 * name.utf8.count
    #expect(told < 1024 * 1024)
    others.exchange()
  }

  @Test func textThatIsNoMessageEndsItsClientAlone() throws {
    let server = try TestServer(network)
    let others = try Bystanders(server)
    let texts = [
      String(repeating: "[", count: 100_000), String(repeating: #"{"a":"#, count: 100_000),
      "\"" + text(1_000_000), #"{"type":"connect","role":[[[]]]}"#, "", "\u{0}",
      #"{"type":"connect","role":"sendrecv","channel_id":"\#(text(256))"}"#,
      #"{"type":"connect","role":"sendrecv","channel_id":"a","spotlight_number":1e308}"#,
      #"{"type":"connect","role":"sendrecv","channel_id":"a","audio":{"bit_rate":-99999999999}}"#,
      #"{"type":"answer","sdp":"v=0"}"#,
    ]
    for (number, text) in texts.enumerated() {
      // Before it has connected, and behind that.
      for isConnected in [false, true] where !isConnected || number != texts.count - 1 {
        let client = try ScriptedClient("t", number * 2 + (isConnected ? 1 : 0) + 1, server)
        if isConnected {
          client.connect(.sendrecv)
          #expect(network.run(until: { client.isConnected }, within: .seconds(5)))
        }
        client.say(SFUMessage(parsing: text))
        #expect(network.run(until: { client.closed != nil }, within: .seconds(1)), "\(number)")
        #expect(client.closed?.code == 4490)
        #expect((client.closed?.reason.utf8.count ?? 0) <= 123)
      }
      others.exchange()
    }
    network.run(for: .seconds(1))
    #expect(server.core.status.count == 2)
  }

  @Test func messagesOutOfTurnAreCounted() throws {
    let server = try TestServer(network)
    let others = try Bystanders(server)
    let hostile = try ScriptedClient("h", 1, server).connect(.sendrecv)
    #expect(network.run(until: { hostile.isConnected }, within: .seconds(5)))
    let peer = try #require(hostile.peer)
    let answer = try #require(hostile.answers.first).text
    for round in 0..<4000 {
      if round % 500 == 0 { others.exchange() }
      let candidate = "candidate:1 1 udp 2 10.9.\(round / 200).\(round % 200 + 1) 9 typ host"
      for message: SFUMessage in [
        .reAnswer(sdp: answer), .answer(sdp: "nonsense"), .other("update"), .candidate(candidate),
        .candidate("candidate:nonsense"), .candidate(text(3000)),
        .statistics([.string(text(1000))]),
      ] {
        server.core.receive(message, from: peer, at: network.now)
      }
    }
    network.deadlinesChanged()
    network.run(for: .milliseconds(200))
    let dropped = try #require(server.status(hostile)).dropped
    #expect(dropped.unexpectedMessage == 12_000)
    #expect(dropped.malformedCandidate == 8000)
    // Some of 64 are what its path has taught.
    #expect((3936...4000).contains(dropped.tooManyCandidates))
    #expect(hostile.closed == nil)
    hostile.connect(.sendrecv)
    network.run(for: .milliseconds(200))
    #expect(hostile.closed?.reason.hasPrefix("INVALID-MESSAGE: ") == true)
    others.exchange()
  }

  /// Who never answers offers is asked one at a time, and goes.
  @Test func whoAnswersNoOfferIsOfferedNoMore() throws {
    let server = try TestServer(network)
    let others = try Bystanders(server)
    let hostile = try ScriptedClient("h", 1, server).connect(.recvonly)
    #expect(network.run(until: { hostile.isConnected }, within: .seconds(5)))
    hostile.answersOffers = false
    for number in 2..<30 {
      let guest = try ScriptedClient("g", number, server).connect(.sendonly)
      #expect(network.run(until: { guest.isConnected }, within: .seconds(5)))
      guest.loseSignaling()
    }
    others.exchange()
    #expect(hostile.offers.count == 2)
    #expect(network.run(until: { hostile.closed != nil }, within: .seconds(40)))
    #expect(hostile.closed?.reason.hasPrefix("ANSWER-TIMEOUT") == true)
    others.exchange()
  }

  /// A track that was turned down isn't offered again, as long as it is there.
  @Test func tracksThatAreGoneAreNotRemembered() throws {
    let server = try TestServer(network)
    let others = try Bystanders(server)
    let hostile = try ScriptedClient("h", 1, server)
    hostile.rejectedCodecs = ["VP8"]
    hostile.connect(.recvonly)
    #expect(network.run(until: { hostile.isConnected }, within: .seconds(5)))
    var most = 0
    for number in 2..<32 {
      let offers = hostile.offers.count
      let guest = try ScriptedClient("g", number, server).connect(.sendonly)
      #expect(
        network.run(
          until: { guest.isConnected && hostile.offers.count > offers }, within: .seconds(5)))
      network.run(for: .milliseconds(50))
      most = max(most, server.core.holdings.refusedTracks)
      // It stays turned down while its publisher stays.
      #expect(server.status(hostile)?.subscriptions.contains { $0.kind == .video } == false)
      guest.loseSignaling()
      network.run(for: .milliseconds(50))
    }
    #expect(1...2 ~= most)
    others.exchange()
  }
}
