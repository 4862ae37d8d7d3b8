import RedisServer
import SoraCluster
import SoraICE
import SoraServer
import SoraSignaling
import SoraTransport
import Testing

/// What the HTTP API of one server does in the channels of another.
@Suite(
  .enabled(if: RedisServer.isInstalled, .init(rawValue: RedisServer.requirement)),
  .timeLimit(.minutes(2)))
struct ClusterPushTests {
  private func server(_ redis: RedisServer) async throws -> SoraServer {
    var configuration = SoraServer.Configuration()
    configuration.mediaAddresses = [.loopbackV4]
    configuration.apiPort = 0
    configuration.cluster = .init(redis: try RedisAddress(redis.url))
    return try await SoraServer.start(configuration)
  }

  /// Runs with two servers, and a client in a channel of each.
  private func serving(
    _ body: (_ apis: [APIClient], _ clients: [ListeningClient]) async throws -> Void
  ) async throws {
    let redis = try RedisServer()
    let servers = [try await server(redis), try await server(redis)]
    let loop = try NetworkLoop.make()
    defer { loop.shutdown() }
    let apis = servers.map { APIClient($0.apiURL) }
    // Until each knows of both.
    for api in apis {
      #expect(
        await waits {
          let page = try? await api.send(
            "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
          return page?.body.contains("\nsora_cluster_nodes 2\n") == true
        })
    }
    let clients = [
      try await ListeningClient(servers[0].url, on: loop),
      try await ListeningClient(servers[1].url, on: loop),
    ]
    for (client, channel) in zip(clients, ["x", "y"]) {
      try await client.join("sendonly", channel, #""client_id":"robot""#)
    }
    try await body(apis, clients)
    for client in clients { await client.finish() }
    for server in servers { await server.shutdown() }
    withExtendedLifetime(redis) {}
  }

  @Test func aPushReachesTheChannelOfTheOtherServer() async throws {
    try await serving { apis, clients in
      let id = clients[0].connectionID
      for (target, members) in [
        ("Sora_20160711.PushChannel", #""data":1"#),
        ("Sora_20160711.PushClient", #""client_id":"robot","data":2"#),
        ("Sora_20160711.PushConnection", #""connection_id":"\#(id)","data":3"#),
        ("Sora_20201120.PushChannelByRole", #""role":"sendonly","data":{"last":[null]}"#),
      ] {
        let answer = try await apis[1].post(target, #"{"channel_id":"x",\#(members)}"#)
        #expect(answer.status == 200 && answer.json == [:], "\(target): \(answer.body)")
      }
      #expect(await waits { clients[0].pushes.count == 4 })
      #expect(clients[0].pushes == [1, 2, 3, ["last": [nil]]])
      // Nobody of its own hears it, and the other way round it goes the same way.
      let back = try await apis[0].post(
        "Sora_20160711.PushChannel", #"{"channel_id":"y","data":"back"}"#)
      #expect(back.status == 200)
      #expect(await waits { !clients[1].pushes.isEmpty })
      #expect(clients[1].pushes == ["back"] && clients[0].pushes.count == 4)
      let nobody = try await apis[1].post(
        "Sora_20160711.PushClient", #"{"channel_id":"x","client_id":"eve","data":1}"#)
      #expect(nobody.status == 404 && nobody.errorType == "CLIENT-NOT-FOUND", "\(nobody.body)")
    }
  }

  @Test func filtersAndStatisticsOfTheOtherServerAreReached() async throws {
    try await serving { apis, clients in
      let filter =
        #""name":"n","rules":[[{"field":"kind","operator":"is_in","values":["video"]}]]"#
      let made = try await apis[1].post(
        "Sora_20230628.CreateChannelForwardingFilter", #"{"channel_id":"x",\#(filter)}"#)
      #expect(made.status == 200, "\(made.body)")
      let expected = try JSONValue(parsing: #"[{"channel_id":"x",\#(filter)}]"#)
      for api in apis {
        let list = try await api.post(
          "Sora_20230628.ListForwardingFilters", #"{"channel_id":"x"}"#)
        #expect(list.json == expected, "\(list.body)")
      }
      let body = #"{"channel_id":"x","connection_id":"\#(clients[0].connectionID)"}"#
      let found = try await apis[1].post("Sora_20170529.GetStatsConnection", body)
      #expect(found.json?["connection_id"]?.stringValue == clients[0].connectionID)
      #expect(found.json?["tracks"]?.arrayValue?.count == 2)
    }
  }
}
