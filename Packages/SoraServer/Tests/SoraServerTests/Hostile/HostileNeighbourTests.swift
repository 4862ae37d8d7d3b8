import SoraMedia
import SoraNetworkSimulator
import SoraServer
import SoraSignalingMessages
import Testing

/// What a client that keeps to no rule does to those in its own channel.
struct HostileNeighbourTests {
  private let network = SimulatedNetwork(seed: 64)

  private func client(
    _ number: Int, _ server: TestServer, _ conditions: LinkConditions = .ideal,
    labels: [String] = []
  ) throws -> (ScriptedClient, ClientData) {
    let client = try ScriptedClient("n\(number)", number, server, conditions).withData()
    client.connect(.sendrecv) {
      $0.dataChannelSignaling = true
      $0.dataChannels = labels.map { DataChannelOptions(label: $0) { $0.direction = .sendrecv } }
    }
    let data = try #require(client.data)
    let isOpen = network.run(
      until: { (["signaling", "notify", "rpc"] + labels).allSatisfy { data.isOpen($0) } },
      within: .seconds(10))
    #expect(isOpen)
    network.run(for: .milliseconds(500))
    return (client, data)
  }

  private func types(_ data: ClientData, on label: String) -> [String] {
    (data.received[label] ?? []).compactMap {
      (try? JSONValue(parsing: $0))?["type"]?.stringValue
    }
  }

  /// A member's link is full of others' messages; an offer and what is told of the channel reach it all the same.
  @Test func aFloodOfMessagesKeepsNoOfferFromAMember() throws {
    let server = try TestServer(network)
    let slow = LinkConditions(delay: .milliseconds(20), bitsPerSecond: 1_000_000)
    let (victim, heard) = try client(1, server, slow, labels: ["#x"])
    let (hostile, data) = try client(2, server, labels: ["#x"])
    // Large ones and small ones, which leave no gap.
    for _ in 0..<60 { try data.send([UInt8](repeating: 1, count: 100_000), on: "#x") }
    let isFull = network.run(
      until: { (server.status(victim)?.dropped.dataChannelFull ?? 0) > 5 }, within: .seconds(20))
    #expect(isFull)
    for _ in 0..<2000 { try data.send([UInt8](repeating: 2, count: 500), on: "#x") }
    network.run(for: .milliseconds(500))
    let before = types(heard, on: "signaling").count
    _ = try ScriptedClient("newcomer", 3, server).connect(.sendonly)
    let isOffered = network.run(
      until: { types(heard, on: "signaling").count > before }, within: .seconds(25))
    #expect(isOffered)
    #expect(types(heard, on: "signaling").last == "re-offer")
    #expect(
      network.run(
        until: { types(heard, on: "notify").contains("notify") }, within: .seconds(25)))
    #expect(victim.closed == nil && hostile.closed == nil)
  }

  /// What others are told of is bounded, and media in the channel go on.
  @Test func callsBeyondTheirBudgetAreRefused() throws {
    let server = try TestServer(network)
    let others = try Bystanders(server, channel: "room")
    let (hostile, data) = try client(1, server)
    let (_, heard) = try client(2, server)
    let metadata = String(repeating: "x", count: 60_000)
    for number in 0..<200 {
      try data.send(
        Array(
          (#"{"jsonrpc":"2.0","id":\#(number),"method":"2025.2.0/PutSignalingNotifyMetadata","params":"#
            + #"{"push":true,"metadata":"\#(metadata)"}}"#).utf8), on: "rpc")
      if number % 20 == 0 { others.exchange() }
    }
    #expect(
      network.run(until: { data.received["rpc"]?.count == 200 }, within: .seconds(60)))
    let refused = (data.received["rpc"] ?? []).count {
      (try? JSONValue(parsing: $0))?["error"]?["code"]?.intValue == -32_000
    }
    #expect(refused > 150 && refused < 200)
    #expect(server.status(hostile)?.dropped.callBudget == refused)
    #expect(types(heard, on: "push").count == 200 - refused)
    others.exchange()
    // It comes back with time.
    network.run(for: .seconds(2))
    try data.send(
      Array(
        #"{"jsonrpc":"2.0","id":"late","method":"2025.2.0/RequestSimulcastRid","params":{"rid":"r0"}}"#
          .utf8), on: "rpc")
    network.run(for: .milliseconds(500))
    #expect(try JSONValue(parsing: #require(data.received["rpc"]?.last))["result"] != nil)
    #expect(hostile.closed == nil)
  }

  /// Layers that are asked for in turn, hundreds of times: no publisher is asked for more key frames than one a second for it.
  @Test func layersThatFlipAskForFewKeyFrames() throws {
    let server = try TestServer(network)
    let publisher = try ScriptedClient("publisher", 7, server)
    publisher.connect(.sendonly) { $0.simulcast = true }
    let others = try Bystanders(server, channel: "room")
    let (_, data) = try client(1, server)
    for number in 0..<300 as Range<UInt16> {
      for (layer, ssrc) in [(0, 10), (1, 11), (2, 12)] as [(Int, UInt32)] {
        publisher.send(
          .video, sequence: number, timestamp: UInt32(number) * 3000, ssrc: ssrc,
          payloadCount: 100 + 100 * layer, rid: "r\(layer)")
      }
      for rid in ["r0", "r2"] {
        try data.send(
          Array(
            #"{"jsonrpc":"2.0","id":1,"method":"2025.2.0/RequestSimulcastRid","params":{"rid":"\#(rid)"}}"#
              .utf8), on: "rpc")
      }
      network.run(for: .milliseconds(33))
      if number % 60 == 0 { others.exchange() }
    }
    #expect(data.received["rpc"]?.count == 600)
    // Ten seconds, three viewers, three layers.
    #expect(publisher.keyFrameRequests.count <= 40, "\(publisher.keyFrameRequests.count)")
    others.exchange()
  }
}
