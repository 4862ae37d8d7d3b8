import SoraNetworkSimulator
import SoraServer
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
}
