import SoraNetworkSimulator
import SoraServer
import SoraSignalingChannels
import Testing

/// What clients may make the server hold.
struct LimitTests {
  private let network = SimulatedNetwork(seed: 5)

  private func text(_ count: Int) -> JSONValue { .string(String(repeating: "x", count: count)) }

  @Test func aClientsMetadataIsBounded() throws {
    let server = try TestServer(network)
    let changes: [(String, (inout ConnectMessage) -> Void)] = [
      ("INVALID-METADATA", { $0.metadata = self.text(65_535) }),
      ("INVALID-SIGNALING_NOTIFY_METADATA", { $0.notifyMetadata = self.text(65_535) }),
    ]
    for (number, (reason, change)) in changes.enumerated() {
      let client = try ScriptedClient("c", number + 1, server)
      client.connect(.sendrecv, configure: change)
      network.run(for: .milliseconds(100))
      #expect(client.closed?.code == 4490 && client.offer == nil)
      #expect(client.closed?.reason.hasPrefix("\(reason): ") == true)
    }
    // With the quotes of JSON, exactly as many as there may be.
    let client = try ScriptedClient("d", 9, server)
    client.connect(.sendrecv) { $0.notifyMetadata = text(65_534) }
    #expect(network.run(until: { client.isConnected }, within: .seconds(5)))
  }

  /// Who comes is told of all others: without a bound by a message that is too large to be sent, so that nobody would hear of anybody.
  @Test func theMetadataOfAChannelIsBounded() throws {
    let server = try TestServer(network)
    var admitted: [ScriptedClient] = []
    var refused: SFUClose?
    for number in 1...20 {
      let client = try ScriptedClient("c\(number)", number, server)
      client.connect(.recvonly) { $0.notifyMetadata = text(65_000) }
      #expect(
        network.run(until: { client.isConnected || client.closed != nil }, within: .seconds(5)))
      if let close = client.closed {
        refused = close
        break
      }
      admitted.append(client)
    }
    #expect(refused?.code == 4490)
    #expect(refused?.reason.hasPrefix("CONNECTION-LIMIT: the channel's metadata") == true)
    #expect(admitted.count == 13)
    let last = try #require(admitted.last?.notifications.first)
    #expect(last.others.count == 12)
    // Other channels have room.
    let other = try ScriptedClient("o", 50, server).connect(.sendrecv, channel: "other")
    #expect(network.run(until: { other.isConnected }, within: .seconds(5)))
  }

  /// Who came with little may not make it more than newcomers can be told of.
  @Test func theMetadataOfAChannelIsBoundedForCallsToo() throws {
    let server = try TestServer(network) { $0.maximumConnections = 100 }
    let clients = try (1...20).map {
      try ScriptedClient("c\($0)", $0, server).connect(.recvonly)
    }
    let other = try ScriptedClient("o", 50, server).connect(.recvonly, channel: "other")
    #expect(
      network.run(until: { (clients + [other]).allSatisfy(\.isConnected) }, within: .seconds(5)))
    func put(_ client: ScriptedClient, _ params: JSONValue, item: Bool = false) throws -> Bool {
      let method = "2025.2.0/PutSignalingNotifyMetadata" + (item ? "Item" : "")
      let id = try #require(client.offer?.connectionID)
      let request = RPCRequest(method: method, params: params)
      switch try #require(server.core.call(request, of: id, at: network.now)) {
      case .success: return true
      case .failure(let error):
        #expect(error.code == RPCError.Code.invalidParams.rawValue)
        return false
      }
    }
    let long: JSONValue = ["metadata": ["k": text(65_000)]]
    let taken = try clients.map { try put($0, long) }
    // 768 KiB have room for twelve of these, and nobody behind them.
    #expect(taken == (0..<20).map { $0 < 12 })
    // Neither piece by piece.
    var pieces = 0
    for number in 0..<100 {
      let item: JSONValue = ["key": .string("\(number)"), "value": text(1000)]
      if try put(clients[19], item, item: true) { pieces += 1 }
    }
    #expect(1..<8 ~= pieces)
    // Other channels don't notice, the full one takes less, and then there is room for a newcomer, who is told of all.
    #expect(try put(other, long))
    #expect(try put(clients[0], ["metadata": ["k": text(64_000)]]))
    let newcomer = try ScriptedClient("n", 60, server).connect(.recvonly)
    #expect(network.run(until: { newcomer.isConnected }, within: .seconds(5)))
    #expect(newcomer.notifications.first?.others.count == 20)
  }
}
