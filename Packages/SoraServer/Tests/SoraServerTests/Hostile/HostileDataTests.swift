import SoraDataChannel
import SoraMedia
import SoraNetworkSimulator
import SoraServer
import SoraSignalingChannels
import SoraSignalingMessages
import SoraTransport
import Testing

/// What a client that keeps to no rule does with its data channels. Beside each, others' media go on.
struct HostileDataTests {
  private let network = SimulatedNetwork(seed: 62)

  /// A client whose data channels are open.
  private func client(
    _ number: Int, _ server: TestServer, labels: [String] = []
  ) throws -> (ScriptedClient, ClientData) {
    let client = try ScriptedClient("d\(number)", number, server).withData()
    client.connect(.sendrecv) {
      $0.dataChannelSignaling = true
      $0.dataChannels = labels.map { DataChannelOptions(label: $0) { $0.direction = .sendrecv } }
    }
    let data = try #require(client.data)
    let all = ["signaling", "rpc"] + labels
    let isOpen = network.run(until: { all.allSatisfy { data.isOpen($0) } }, within: .seconds(5))
    #expect(isOpen)
    network.run(for: .milliseconds(100))
    return (client, data)
  }

  @Test func callsAreAnsweredOneByOneAndChangeNothing() throws {
    let server = try TestServer(network)
    let others = try Bystanders(server)
    let (hostile, data) = try client(1, server)
    let calls = [
      "", "[", "{}", #"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#,
      #"{"jsonrpc":"2.0","id":2,"method":"2025.2.0/PutSignalingNotifyMetadata","params":[]}"#,
      #"{"jsonrpc":"2.0","id":3,"method":"2025.2.0/RequestSimulcastRid","params":{"rid":"r9"}}"#,
      String(repeating: "[", count: 10_000),
      #"{"jsonrpc":"2.0","id":4,"method":"2025.2.0/PutSignalingNotifyMetadata","params":{"metadata":""#
        + String(repeating: "x", count: 70_000) + "\"}}",
    ]
    for round in 0..<100 {
      if round % 20 == 0 { others.exchange() }
      for call in calls { try data.send(Array(call.utf8), on: "rpc") }
      // Neither has it a say there.
      try data.send([1, 2, 3], on: "notify")
    }
    #expect(
      network.run(until: { data.received["rpc"]?.count == 800 }, within: .seconds(60)))
    for answer in data.received["rpc"] ?? [] {
      #expect(try JSONValue(parsing: answer)["error"] != nil)
    }
    #expect(server.status(hostile)?.dropped.malformedDataMessage == 100)
    #expect(hostile.closed == nil)
    others.exchange()
  }

  @Test func channelsOfItsOwnAreClosed() throws {
    let server = try TestServer(network)
    let others = try Bystanders(server)
    let (hostile, data) = try client(1, server)
    let id = try #require(hostile.offer).connectionID
    let before = try #require(server.core.dataReport(connectionID: id)).channels.count
    for number in 0..<1000 { try data.open("#own \(number)") }
    network.run(for: .seconds(1))
    others.exchange()
    #expect(
      network.run(
        until: { server.core.dataReport(connectionID: id)?.channels.count == before },
        within: .seconds(30)))
    #expect(data.closed == 1000)
    others.exchange()
  }

  /// What is larger than the server's description allows ends the association, and with it the connection.
  @Test func aMessageThatIsTooLargeEndsItsClient() throws {
    let server = try TestServer(network)
    let others = try Bystanders(server)
    let (hostile, data) = try client(1, server, labels: ["#x"])
    try data.send([UInt8](repeating: 1, count: 4 * 1024 * 1024), on: "#x")
    #expect(network.run(until: { server.status(hostile) == nil }, within: .seconds(30)))
    let id = hostile.offer?.connectionID
    let reasons = server.events.compactMap { event -> String? in
      guard case .left(_, let left, _, let reason) = event, left == id else { return nil }
      return reason
    }
    #expect(reasons == ["DATA-CHANNEL-LOST"])
    others.exchange()
  }

  /// Messages for a client that takes none wait up to a limit, and are dropped beyond.
  @Test func whatNobodyReadsIsBounded() throws {
    let server = try TestServer(network) { $0.data.sendBufferLimit = 512 * 1024 }
    let others = try Bystanders(server)
    let (sender, data) = try client(1, server, labels: ["#x"])
    let (silent, _) = try client(2, server, labels: ["#x"])
    silent.vanish()
    for _ in 0..<40 { try data.send([UInt8](repeating: 1, count: 100_000), on: "#x") }
    var most = 0
    let isFull = network.run(
      until: {
        most = max(most, server.status(silent)?.dropped.dataChannelFull ?? 0)
        return most >= 34
      }, within: .seconds(4))
    #expect(isFull)
    #expect(most < 40)
    others.exchange()
    #expect(network.run(until: { server.status(silent) == nil }, within: .seconds(60)))
    #expect(sender.closed == nil && server.status(sender) != nil)
    others.exchange()
  }

  /// A connection that says goodbye counts against no limit any more while its channels close.
  @Test func goodbyesAreBounded() throws {
    let server = try TestServer(network) { $0.maximumPeers = 3 }
    let others = try Bystanders(server)
    var most = 0
    for number in 1...40 {
      let (hostile, _) = try client(number, server)
      hostile.say(.disconnect(reason: nil))
      // It neither closes its channels nor says that it has gone.
      hostile.vanish()
      network.run(for: .milliseconds(15))
      most = max(most, server.core.holdings.connections)
      if number % 10 == 0 { others.exchange() }
    }
    // The others, and as many goodbyes as there may be clients.
    #expect(most == 2 + 3)
    network.run(for: .seconds(4))
    #expect(server.core.holdings.connections == 2)
    others.exchange()
  }
}
