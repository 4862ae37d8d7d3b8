import SoraMedia
import SoraNetworkSimulator
import SoraServer
import SoraSignalingMessages
import Testing

/// A grant wins over what a client asks for, whichever of two keys for one thing either of them uses.
struct GrantPrecedenceTests {
  private let network = SimulatedNetwork(seed: 80)

  private func viewer(
    asking members: String, granted: String, of sender: LayeredSender, _ server: TestServer
  ) throws -> ScriptedClient {
    let asked = try ConnectMessage.read(
      try JSONValue(parsing: #"{"role":"recvonly","channel_id":"room","# + members + "}"),
      path: "connect")
    let client = try ScriptedClient("viewer", 5, server).connect(asked, granted: granted)
    let isThere = network.run(
      until: { client.isConnected && client.sections(of: sender.client, .audio).count == 1 },
      within: .seconds(5))
    #expect(isThere)
    network.run(for: .milliseconds(300))
    return client
  }

  private func sender(_ server: TestServer) throws -> LayeredSender {
    let client = try ScriptedClient("sender", 1, server).connect(.sendonly) { $0.simulcast = true }
    #expect(network.run(until: { client.isConnected }, within: .seconds(5)))
    return LayeredSender(client)
  }

  /// The client's own filter would be matched first, and let through what the grant keeps from it.
  @Test(arguments: [
    (
      #""forwarding_filters":[{"name":"mine","priority":1,"action":"allow","rules":[[{"field":"kind","operator":"is_in","values":["video","audio"]}]]}]"#,
      #"{"forwarding_filter":{"rules":[[{"field":"kind","operator":"is_in","values":["video"]}]]}}"#
    ),
    (
      #""forwarding_filter":{"priority":1,"action":"allow","rules":[[{"field":"kind","operator":"is_in","values":["video","audio"]}]]}"#,
      #"{"forwarding_filters":[{"name":"theirs","rules":[[{"field":"kind","operator":"is_in","values":["video"]}]]}]}"#
    ),
  ]) func aFilterIsInThePlaceOfAllOfTheClients(asked: String, granted: String) throws {
    let server = try TestServer(network)
    let sender = try sender(server)
    let viewer = try viewer(asking: asked, granted: granted, of: sender, server)
    [sender].run(milliseconds: 1000)
    #expect(viewer.packets(of: sender.client, .video).media.isEmpty)
    #expect(viewer.packets(of: sender.client, .audio).media.count > 20)
  }

  @Test(arguments: [
    (#""simulcast_request_rid":"r2""#, #"{"simulcast_rid":"r0"}"#),
    (#""simulcast_rid":"r2""#, #"{"simulcast_request_rid":"r0"}"#),
  ]) func aLayerIsInThePlaceOfTheClients(asked: String, granted: String) throws {
    let server = try TestServer(network)
    let sender = try sender(server)
    let viewer = try viewer(asking: asked, granted: granted, of: sender, server)
    [sender].run(milliseconds: 2000)
    #expect(viewer.sizes(of: sender) == [100])
  }
}
