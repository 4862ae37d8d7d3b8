import Foundation
import Logging
import RedisServer
import SoraCluster
import SoraDTLS
import SoraICE
import SoraServer
import SoraSignaling
import SoraTransport
import Testing

/// Servers with one Redis, their sockets and their HTTP API.
@Suite(
  .enabled(if: RedisServer.isInstalled, .init(rawValue: RedisServer.requirement)),
  .timeLimit(.minutes(5)))
struct ClusterServerTests {
  private func server(
    _ redis: RedisServer, _ logger: Logger? = nil,
    configure: (inout SoraServer.Configuration) -> Void = { _ in }
  ) async throws -> SoraServer {
    var configuration = SoraServer.Configuration(logger: logger)
    configuration.mediaAddresses = [.loopbackV4]
    configuration.apiPort = 0
    configuration.cluster = .init(redis: try RedisAddress(redis.url))
    configure(&configuration)
    return try await SoraServer.start(configuration)
  }

  private func metric(_ name: String, of server: SoraServer) async throws -> Int? {
    let answer = try await APIClient(server.apiURL).send(
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    let line = answer.body.split(separator: "\n").first { $0.hasPrefix(name + " ") }
    return line.flatMap { Int($0.dropFirst(name.count + 1)) }
  }

  /// Until each knows of all.
  private func meet(_ servers: [SoraServer]) async {
    #expect(
      await waits {
        for server in servers {
          guard (try? await metric("sora_cluster_nodes", of: server)) == servers.count else {
            return false
          }
        }
        return true
      })
  }

  /// A client with media: who has none is put out after half a minute, which on a busy machine may be over before a test is.
  private func live(_ url: String, on loop: NetworkLoop) async throws -> LiveClient {
    let client = try await LiveClient(url, DTLSCertificate.generate(), on: loop)
    client.connect("sendrecv", channel: "x", dataChannels: false)
    #expect(await waits { await client.isConnected })
    return client
  }

  private func redirect(of peer: SignalingPeer) async throws -> String? {
    guard case .message(let message)? = try await peer.next() else { return nil }
    #expect(message["type"] == "redirect", "\(message)")
    #expect(try await peer.close()?.code == .normal)
    return message["location"]?.stringValue
  }

  @Test func aClientIsSentToTheNodeThatHasItsChannel() async throws {
    let redis = try RedisServer()
    let (a, b) = (try await server(redis), try await server(redis))
    await meet([a, b])
    let first = try await SignalingPeer(a.url)
    first.connect(channel: "x")
    _ = try await first.offer()
    let second = try await SignalingPeer(b.url)
    second.connect(channel: "x")
    #expect(try await redirect(of: second) == a.url)
    #expect(try await metric("sora_cluster_redirects_total", of: b) == 1)
    let third = try await SignalingPeer(a.url)
    third.connect(channel: "x", #""redirect":true"#)
    _ = try await third.offer()
    // Once it is empty, the channel is anybody's.
    for peer in [first, third] {
      peer.socket.send(text: #"{"type":"disconnect"}"#)
      _ = try await peer.close()
    }
    #expect(await waits { (try? await metric("sora_cluster_channels", of: a)) == 0 })
    var offered = false
    for _ in 0..<100 where !offered {
      let peer = try await SignalingPeer(b.url)
      peer.connect(channel: "x")
      guard case .message(let message)? = try await peer.next() else { break }
      offered = message["type"] == "offer"
    }
    #expect(offered)
    await a.shutdown()
    await b.shutdown()
  }

  /// RFC 9725 §4.5: with 307, a POST is made again where the answer says.
  @Test func whoPublishesByWHIPIsSentToTheNodeThatHasItsChannel() async throws {
    let redis = try RedisServer()
    let (a, b) = (try await server(redis), try await server(redis))
    await meet([a, b])
    let first = try await SignalingPeer(a.url)
    first.connect(channel: "x")
    _ = try await first.offer()
    func post(_ channel: String, to server: SoraServer) async throws -> APIClient.Answer {
      let offer = WHIPTests.offer
      return try await APIClient(server.httpURL).send(
        "POST /whip/\(channel) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
          + "Content-Type: application/sdp\r\nContent-Length: \(offer.utf8.count)\r\n\r\n" + offer)
    }
    let elsewhere = try await post("x", to: b)
    #expect(elsewhere.status == 307)
    let port = try #require(URLComponents(string: a.url)?.port)
    #expect(elsewhere.head.contains("location: http://127.0.0.1:\(port)/whip/x\r\n"))
    #expect(try await post("x", to: a).status == 201)
    // What it opens is placed, too.
    #expect(try await post("y", to: b).status == 201)
    #expect(try await metric("sora_cluster_channels", of: b) == 1)
    let second = try await SignalingPeer(a.url)
    second.connect(channel: "y")
    #expect(try await redirect(of: second) == b.url)
    await a.shutdown()
    await b.shutdown()
  }

  /// With tokens: who isn't let in takes no place.
  @Test func whoIsRefusedTakesNoPlace() async throws {
    let redis = try RedisServer()
    let key = "a-key-that-is-long-enough-0123456789"
    let a = try await server(redis) { $0.access.secretKey = SecretKey(key) }
    await meet([a])
    let stranger = try await SignalingPeer(a.url)
    stranger.connect(channel: "x")
    #expect(try await stranger.close()?.code == .signalingError)
    #expect(try await metric("sora_cluster_channels", of: a) == 0)
    let friend = try await SignalingPeer(a.url)
    friend.connect(channel: "x", #""metadata":{"access_token":"\#(key)"}"#)
    _ = try await friend.offer()
    #expect(try await metric("sora_cluster_channels", of: a) == 1)
    await a.shutdown()
  }

  @Test func theAPIReachesTheRightNode() async throws {
    let redis = try RedisServer()
    let (a, b) = (try await server(redis), try await server(redis))
    await meet([a, b])
    let peers = [try await SignalingPeer(a.url), try await SignalingPeer(b.url)]
    for (peer, channel) in zip(peers, ["x", "y"]) {
      peer.connect(channel: channel, #""data_channel_signaling":false"#)
      _ = try await peer.offer()
    }
    let api = APIClient(b.apiURL)
    // A list is everybody's; whichever is asked.
    for client in [api, APIClient(a.apiURL)] {
      let all = try await client.post("Sora_20201013.ListConnections", "")
      #expect(
        Set(all.json?.arrayValue?.compactMap { $0["channel_id"]?.stringValue } ?? []) == [
          "x", "y",
        ],
        "\(all.body)")
      #expect(!all.head.contains("x-sora-missing-nodes"))
      let report = try await client.post("Sora_20171010.GetStatsReport", "{}")
      #expect(report.json?["channels"] == 2, "\(report.body)")
    }
    let listed = try await api.post(
      "Sora_20201013.ListChannelConnections", #"{"channel_id":"x"}"#)
    #expect(listed.json?.arrayValue?.count == 1, "\(listed.body)")
    // What another node has forwarded isn't forwarded again.
    let body = #"{"channel_id":"x"}"#
    let marked = try await api.send(
      "POST / HTTP/1.1\r\nHost: h\r\nx-sora-target: Sora_20151104.DisconnectChannel\r\n"
        + "x-sora-forwarded: 1\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n"
        + body)
    #expect(marked.status == 404 && marked.errorType == "CHANNEL-NOT-FOUND", "\(marked.body)")
    // Errors come from there, too.
    let wrong = try await api.post(
      "Sora_20151104.DisconnectConnection", #"{"channel_id":"x","connection_id":"none"}"#)
    #expect(wrong.status == 404 && wrong.errorType == "CONNECTION-NOT-FOUND", "\(wrong.body)")
    let nowhere = try await api.post("Sora_20151104.DisconnectChannel", #"{"channel_id":"z"}"#)
    #expect(nowhere.status == 404)
    let ended = try await api.post("Sora_20151104.DisconnectChannel", body)
    #expect(ended.status == 200, "\(ended.body)")
    #expect(try await peers[0].close()?.reason == "DISCONNECTED-API")
    #expect(await b.connections.count == 1)
    await a.shutdown()
    await b.shutdown()
  }

  @Test func aServerThatDrainsSendsItsClientsToAnother() async throws {
    let redis = try RedisServer()
    let a = try await server(redis) { $0.drain.limit = .seconds(240) }
    let b = try await server(redis)
    await meet([a, b])
    let (stays, moves) = (try await SignalingPeer(a.url), try await SignalingPeer(a.url))
    for (peer, channel) in [(stays, "stays"), (moves, "moves")] {
      peer.connect(channel: channel)
      _ = try await peer.offer()
    }
    let draining = Task { await a.drain() }
    let api = APIClient(a.apiURL)
    let probe = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    while try await api.send(probe).status == 200 {}
    let late = try await SignalingPeer(a.url)
    late.connect(channel: "new")
    #expect(try await redirect(of: late) == b.url)
    // Who wants to join one that is still there has it moved: all meet at the other.
    let newcomer = try await SignalingPeer(b.url)
    newcomer.connect(channel: "moves")
    _ = try await newcomer.offer()
    let end = try await moves.close()
    #expect(end?.code == .goingAway && end?.reason == "CHANNEL-MOVED")
    #expect(await a.connections.count == 1)
    stays.socket.send(text: #"{"type":"disconnect"}"#)
    await draining.value
    await a.shutdown()
    await meet([b])
    await b.shutdown()
  }

  @Test func withoutTheRedisWhatIsThereGoesOn() async throws {
    let redis = try RedisServer(password: "never-to-be-seen")
    let log = LogRecorder()
    let logger = log.logger
    let a = try await server(redis, logger)
    await meet([a])
    let loop = try NetworkLoop.make()
    let first = try await live(a.url, on: loop)
    redis.stop()
    #expect(await waits { (try? await metric("sora_cluster_up", of: a)) == 0 })
    // One more in the channel that is there; a new channel is for later.
    let second = try await live(a.url, on: loop)
    let own = try await APIClient(a.apiURL).post(
      "Sora_20201013.ListChannelConnections", #"{"channel_id":"x"}"#)
    #expect(own.json?.arrayValue?.count == 2, "\(own)")
    let third = try await SignalingPeer(a.url)
    third.connect(channel: "new")
    let end = try await third.close()
    #expect(end?.code == .tryAgainLater && end?.reason.hasPrefix("CLUSTER-UNAVAILABLE") == true)
    let lost = try await APIClient(a.apiURL).post(
      "Sora_20201013.ListChannelConnections", #"{"channel_id":"elsewhere"}"#)
    #expect(lost.status == 503 && lost.errorType == "CLUSTER-UNAVAILABLE")
    try redis.startAgain()
    #expect(await waits { (try? await metric("sora_cluster_up", of: a)) == 1 })
    let fourth = try await SignalingPeer(a.url)
    fourth.connect(channel: "new")
    _ = try await fourth.offer()
    #expect(!log.text.contains("never-to-be-seen"))
    for client in [first, second] { await client.finish() }
    loop.shutdown()
    await a.shutdown()
  }

  /// Started before its Redis, with a wrong password, or none to reach: it runs, and says why it can't do much.
  @Test func aServerStartsBeforeItsRedis() async throws {
    let redis = try RedisServer()
    redis.stop()
    let a = try await server(redis)
    let early = try await SignalingPeer(a.url)
    early.connect(channel: "x")
    try redis.startAgain()
    // It has waited for its place.
    _ = try await early.offer()
    await a.shutdown()
  }
}
