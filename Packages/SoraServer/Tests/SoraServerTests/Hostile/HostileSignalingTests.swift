import SoraMedia
import SoraNetworkSimulator
import SoraSDP
import SoraServer
import SoraSignalingChannels
import SoraSignalingMessages
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
