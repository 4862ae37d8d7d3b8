import SoraDataChannel
import SoraMedia
import SoraNetworkSimulator
import SoraServer
import SoraSignalingMessages
import Testing

/// What a decision does in calls, in virtual time.
struct GrantCallTests {
  private let network = SimulatedNetwork(seed: 79)

  private func senders(
    _ count: Int, _ server: TestServer, spotlight: Bool = false
  ) throws -> [LayeredSender] {
    let all = try (1...count).map { number in
      LayeredSender(
        try ScriptedClient("sender \(number)", number, server).connect(.sendonly) {
          $0.simulcast = true
          if spotlight { $0.spotlight = true }
        })
    }
    #expect(
      network.run(until: { all.allSatisfy { $0.client.isConnected } }, within: .seconds(5)))
    return all
  }

  private func request(_ members: String) throws -> ConnectMessage {
    try ConnectMessage.read(
      try JSONValue(parsing: #"{"role":"recvonly","channel_id":"room"\#(members)}"#),
      path: "connect")
  }

  private func waitFor(_ client: ScriptedClient, _ senders: [LayeredSender] = []) {
    #expect(
      network.run(
        until: {
          client.isConnected
            && senders.allSatisfy { client.sections(of: $0.client, .audio).count == 1 }
        }, within: .seconds(5)))
    network.run(for: .milliseconds(300))
  }

  @Test func aLayerIsDecided() throws {
    let server = try TestServer(network)
    let all = try senders(1, server)
    let asked = try request(#","simulcast_rid":"r2""#)
    let lowest = try ScriptedClient("lowest", 5, server)
      .connect(asked, granted: #"{"simulcast_rid":"r0"}"#)
    let free = try ScriptedClient("free", 6, server).connect(asked, granted: "{}")
    for client in [lowest, free] { waitFor(client, all) }
    all.run(milliseconds: 2000)
    #expect(lowest.sizes(of: all[0]) == [100] && free.sizes(of: all[0]) == [900])
    #expect(lowest.closed == nil && free.closed == nil)
  }

  @Test func placesAndLayersOfASpotlightAreDecided() throws {
    let server = try TestServer(network)
    // The first one says how many places there are.
    let viewer = try ScriptedClient("viewer", 9, server).connect(
      try request(
        #","spotlight":true,"spotlight_number":5,"spotlight_focus_rid":"r0","#
          + #""spotlight_unfocus_rid":"r1""#),
      granted: #"{"spotlight_number":1,"spotlight_focus_rid":"r2","spotlight_unfocus_rid":"none"}"#)
    waitFor(viewer)
    let all = try senders(2, server, spotlight: true)
    waitFor(viewer, all)
    for speaker in [0, 1] {
      for (index, one) in all.enumerated() { one.isSpeaking = index == speaker }
      all.run(milliseconds: 3000)
      #expect(viewer.sizes(of: all[speaker]) == [900])
      #expect(viewer.sizes(of: all[1 - speaker]).isEmpty)
    }
    let told = viewer.events.filter { $0.eventType.hasPrefix("spotlight.") }
    #expect(
      Set(told.map { "\($0.eventType) \($0.connectionID ?? "-") \($0.spotlightNumber ?? 0)" })
        == Set(
          [("focused", 0), ("unfocused", 0), ("focused", 1)].map { kind, index in
            "spotlight.\(kind) \(all[index].client.offer?.connectionID ?? "") 1"
          }))
  }

  @Test(arguments: [
    #""forwarding_filter":{"rules":[[{"field":"kind","operator":"is_in","values":["video"]}]]}"#,
    #""forwarding_filters":[{"name":"n","rules":[[{"field":"kind","operator":"is_not_in","values":["audio"]}]]}]"#,
  ])
  func aFilterIsDecided(_ decided: String) throws {
    let server = try TestServer(network)
    let all = try senders(1, server)
    let client = try ScriptedClient("viewer", 9, server)
      .connect(try request(""), granted: "{\(decided)}")
    let free = try ScriptedClient("free", 8, server).connect(try request(""), granted: "{}")
    for one in [client, free] { waitFor(one, all) }
    all.run(milliseconds: 1000)
    for (one, sees) in [(client, false), (free, true)] {
      #expect(one.packets(of: all[0].client, .audio).media.count == 50)
      #expect(one.packets(of: all[0].client, .video).media.isEmpty != sees)
    }
    let listed = try #require(server.core.filters(channelID: "room"))
    #expect(listed.map(\.connectionID) == [client.offer?.connectionID])
  }

  @Test(arguments: [true, false]) func whoOutlivesItsWebSocketIsDecided(isLeft: Bool) throws {
    let server = try TestServer(network)
    let client = try ScriptedClient("a", 1, server).withData()
    try client.connect(
      try request(
        #","data_channel_signaling":true,"ignore_disconnect_websocket":\#(!isLeft)"#),
      granted: #"{"ignore_disconnect_websocket":\#(isLeft)}"#)
    let data = try #require(client.data)
    #expect(
      network.run(until: { client.isConnected && data.isOpen("rpc") }, within: .seconds(5)))
    network.run(for: .milliseconds(300))
    #expect(client.offer?.ignoreDisconnectWebSocket == isLeft)
    client.loseSignaling()
    network.deadlinesChanged()
    network.run(for: .seconds(20))
    #expect((server.status(client)?.isConnected == true) == isLeft)
  }

  @Test func dataChannelsAreDecided() throws {
    let server = try TestServer(network)
    let granted = ##"{"data_channels":[{"label":"#given","direction":"sendrecv"}]}"##
    let all = try (1...2).map { number in
      try ScriptedClient("\(number)", number, server).withData().connect(
        try request(
          ##","data_channel_signaling":true,"data_channels":[{"label":"#own","direction":"sendrecv"}]"##
        ), granted: granted)
    }
    let data = all.compactMap(\.data)
    #expect(
      network.run(until: { data.allSatisfy { $0.isOpen("#given") } }, within: .seconds(5)))
    network.run(for: .milliseconds(300))
    #expect(data.allSatisfy { !$0.isOpen("#own") })
    try data[0].send(Array("hello".utf8), on: "#given")
    network.run(for: .milliseconds(300))
    #expect(data[1].received["#given"] == [Array("hello".utf8)])
    #expect(data[0].received["#given"] == nil)
  }
}
