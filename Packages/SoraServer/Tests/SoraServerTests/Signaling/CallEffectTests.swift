import SoraMedia
import SoraNetworkSimulator
import SoraServer
import SoraSignalingMessages
import Testing

/// What calls on the data channel `rpc` do to others, and to what the caller sees.
struct CallEffectTests {
  private let network = SimulatedNetwork(seed: 55)

  /// A client whose data channels are open.
  private func caller(
    _ number: Int, _ server: TestServer, _ role: SFURole = .recvonly,
    configure: (inout ConnectMessage) -> Void = { _ in }
  ) throws -> ScriptedClient {
    let client = try ScriptedClient("caller \(number)", number, server).withData()
    client.connect(role) {
      $0.dataChannelSignaling = true
      configure(&$0)
    }
    #expect(
      network.run(
        until: { client.isConnected && client.data?.isOpen("rpc") == true }, within: .seconds(5)))
    network.run(for: .milliseconds(300))
    return client
  }

  /// The answer to a call, with its parameters as JSON text.
  private func call(
    _ client: ScriptedClient, _ method: String, _ params: String
  ) throws -> JSONValue {
    let data = try #require(client.data)
    let count = data.received["rpc"]?.count ?? 0
    let text = #"{"jsonrpc":"2.0","id":"c","method":"2025.2.0/\#(method)","params":\#(params)}"#
    try data.send(Array(text.utf8), on: "rpc")
    #expect(
      network.run(until: { (data.received["rpc"]?.count ?? 0) > count }, within: .seconds(2)))
    return try JSONValue(parsing: try #require(data.received["rpc"]?.last))
  }

  @Test func metadataThatArePutArePushedToTheOthers() throws {
    let server = try TestServer(network)
    let others = try (1...2).map { try ScriptedClient("o\($0)", $0, server).connect(.recvonly) }
    let elsewhere = try ScriptedClient("e", 3, server).connect(.recvonly, channel: "other")
    let client = try caller(4, server) { $0.notifyMetadata = ["name": "before"] }
    let id = try #require(client.offer?.connectionID)
    let metadata = #"{"name":"é","seats":[1,null]}"#
    let value = try JSONValue(parsing: metadata)
    #expect(
      try call(client, "PutSignalingNotifyMetadata", #"{"metadata":\#(metadata),"push":true}"#)
        == ["jsonrpc": "2.0", "id": "c", "result": value])
    network.run(for: .milliseconds(100))
    let pushed = try JSONValue(
      parsing: #"{"type":"signaling_notify_metadata_ext","action":"PutMetadata","#
        + #""connection_id":"\#(id)","metadata":\#(metadata)}"#)
    for other in others { #expect(other.pushes == [pushed]) }
    #expect(elsewhere.pushes.isEmpty && client.data?.received["push"] == nil)
    // Without it nobody hears of it until somebody comes.
    for push in ["", #","push":false"#] {
      _ = try call(client, "PutSignalingNotifyMetadata", #"{"metadata":"last"\#(push)}"#)
    }
    let late = try ScriptedClient("late", 5, server).connect(.recvonly)
    #expect(network.run(until: { late.isConnected }, within: .seconds(5)))
    #expect(others.allSatisfy { $0.pushes.count == 1 })
    let told = late.notifications.first?.others.first { $0.connectionID == id }
    #expect(told?.metadata == "last")
  }

  @Test func layersOfASpotlightFollowCalls() throws {
    let server = try TestServer(network)
    let all = try (1...2).map { number in
      LayeredSender(
        try ScriptedClient("s\(number)", number, server).connect(.sendonly) {
          $0.simulcast = true
          $0.spotlight = true
        })
    }
    #expect(
      network.run(until: { all.allSatisfy { $0.client.isConnected } }, within: .seconds(5)))
    let viewer = try caller(9, server) {
      $0.spotlight = true
      $0.spotlightFocusRid = .r2
      $0.spotlightUnfocusRid = .r1
    }
    let id = try #require(viewer.offer?.connectionID)
    func seen() -> [Set<Int>] {
      all.run(milliseconds: 2500)
      return all.map { viewer.sizes(of: $0) }
    }
    all[0].isSpeaking = true
    #expect(seen() == [[900], [300]])
    let names: [String: JSONValue] = ["channel_id": "room", "recv_connection_id": .string(id)]
    let asked = try call(
      viewer, "RequestSpotlightRid",
      #"{"spotlight_focus_rid":"r0","spotlight_unfocus_rid":"none"}"#)
    #expect(
      asked["result"]
        == .object(
          names.merging(["spotlight_focus_rid": "r0", "spotlight_unfocus_rid": "none"]) { $1 }))
    #expect(seen() == [[100], []])
    // Of one sender, whose wish then stands beside that of all.
    let second = all[1].client.offer?.connectionID ?? ""
    _ = try call(
      viewer, "RequestSpotlightRid",
      #"{"send_connection_id":"\#(second)","spotlight_focus_rid":"r1","spotlight_unfocus_rid":"r2"}"#
    )
    #expect(seen() == [[100], [900]])
    let reset = try call(viewer, "ResetSpotlightRid", #"{"send_connection_id":"\#(second)"}"#)
    #expect(reset["result"] == .object(names))
    // It is as all are then, and all as `connect` has it.
    #expect(seen() == [[100], []])
    _ = try call(viewer, "ResetSpotlightRid", "{}")
    #expect(seen() == [[900], [300]])
  }

  @Test func theLayerOfASimulcastFollowsCalls() throws {
    let server = try TestServer(network)
    let sender = LayeredSender(
      try ScriptedClient("s", 1, server).connect(.sendonly) { $0.simulcast = true })
    #expect(network.run(until: { sender.client.isConnected }, within: .seconds(5)))
    let viewer = try caller(2, server) { $0.simulcastRequestRid = .r2 }
    let other = try ScriptedClient("o", 3, server).connect(.recvonly) {
      $0.simulcastRequestRid = .r2
    }
    #expect(network.run(until: { other.isConnected }, within: .seconds(5)))
    network.run(for: .milliseconds(300))
    for (rid, sizes) in [("r0", [100]), ("none", []), ("r1", [300])] as [(String, Set<Int>)] {
      let answer = try call(viewer, "RequestSimulcastRid", #"{"rid":"\#(rid)"}"#)
      #expect(answer["result"]?["rid"]?.stringValue == rid)
      [sender].run(milliseconds: 2500)
      #expect(viewer.sizes(of: sender) == sizes && other.sizes(of: sender) == [900], "\(rid)")
    }
  }
}
