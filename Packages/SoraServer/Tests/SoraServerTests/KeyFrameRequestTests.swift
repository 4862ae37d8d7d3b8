import SoraMedia
import SoraNetworkSimulator
import SoraServer
import Testing

/// Key frames that somebody outside of the channel asks for, as the HTTP API does.
struct KeyFrameRequestTests {
  private let network = SimulatedNetwork(seed: 57)

  private func ask(_ server: TestServer, _ client: ScriptedClient) throws {
    let id = try #require(client.offer?.connectionID)
    #expect(server.core.requestKeyFrame(connectionID: id, at: network.now))
    network.deadlinesChanged()
  }

  @Test func thoseOfOneIntervalAreOneAndOneMore() throws {
    let server = try TestServer(network)
    let client = try ScriptedClient("a", 1, server).connect(.sendonly)
    let other = try ScriptedClient("b", 2, server).connect(.sendonly)
    #expect(
      network.run(until: { client.isConnected && other.isConnected }, within: .seconds(5)))
    for one in [client, other] { one.send(.video, sequence: 1, timestamp: 1) }
    network.run(for: .seconds(2))
    #expect(client.keyFrameRequests.isEmpty, "nobody receives it")
    try ask(server, client)
    network.run(for: .milliseconds(100))
    #expect(client.keyFrameRequests == [1111])
    // Within the interval of 300 ms those that follow wait, and are one.
    for _ in 0..<10 {
      try ask(server, client)
      network.run(for: .milliseconds(10))
    }
    #expect(client.keyFrameRequests.count == 1)
    network.run(for: .milliseconds(250))
    #expect(client.keyFrameRequests.count == 2)
    // None by themselves, and none of others.
    network.run(for: .seconds(5))
    #expect(client.keyFrameRequests == [1111, 1111] && other.keyFrameRequests.isEmpty)
    try ask(server, client)
    network.run(for: .milliseconds(100))
    #expect(client.keyFrameRequests.count == 3)
    #expect(!server.core.requestKeyFrame(connectionID: "none", at: network.now))
  }

  @Test func eachLayerIsAskedForOncePerSecond() throws {
    let server = try TestServer(network)
    let sender = LayeredSender(
      try ScriptedClient("a", 1, server).connect(.sendonly) { $0.simulcast = true })
    let client = sender.client
    #expect(network.run(until: { client.isConnected }, within: .seconds(5)))
    [sender].run(milliseconds: 200)
    network.run(for: .seconds(2))
    let before = client.keyFrameRequests.count
    func asked() -> [Int] {
      let new = client.keyFrameRequests.dropFirst(before)
      return (0..<3).map { layer in new.count { $0 == LayeredSender.ssrc(layer) } }
    }
    for _ in 0..<20 {
      try ask(server, client)
      network.run(for: .milliseconds(20))
    }
    network.run(for: .milliseconds(500))
    #expect(asked() == [1, 1, 1])
    network.run(for: .milliseconds(300))
    #expect(asked() == [2, 2, 2])
    network.run(for: .seconds(5))
    #expect(asked() == [2, 2, 2])
    let layers = try #require(server.status(client)?.tracks.last?.layers)
    #expect(layers.map(\.keyFrameRequests) == [2, 2, 2])
  }

  /// A key frame that has come meanwhile is what was asked for.
  @Test func aKeyFrameThatComesMeanwhileIsEnough() throws {
    let server = try TestServer(network)
    let sender = LayeredSender(
      try ScriptedClient("a", 1, server).connect(.sendonly) { $0.simulcast = true })
    let viewer = try ScriptedClient("b", 2, server).connect(.recvonly) {
      $0.simulcastRequestRid = .r0
    }
    let client = sender.client
    #expect(
      network.run(until: { client.isConnected && viewer.isConnected }, within: .seconds(5)))
    network.run(for: .milliseconds(300))
    [sender].run(milliseconds: 2000)
    network.run(for: .seconds(2))
    let before = client.keyFrameRequests.count
    try ask(server, client)
    network.run(for: .milliseconds(100))
    try ask(server, client)
    [sender].run(milliseconds: 200)
    network.run(for: .seconds(3))
    let lowest = client.keyFrameRequests.dropFirst(before).count { $0 == LayeredSender.ssrc(0) }
    #expect(lowest == 1)
  }
}
