import SoraICE
import SoraNetworkSimulator
import SoraServer
import SoraSignaling
import Testing

/// A server that is about to go: in simulated time.
struct DrainTests {
  private func makeServer() throws -> (SimulatedNetwork, TestServer) {
    let network = SimulatedNetwork(seed: 77)
    return (network, try TestServer(network))
  }

  @Test func newClientsAreSentElsewhereAndOldOnesGoOn() throws {
    let (network, server) = try makeServer()
    let old = try ScriptedClient("old", 1, server).connect(.sendrecv)
    let early = try ScriptedClient("early", 2, server)
    #expect(network.run(until: { old.isConnected }, within: .seconds(5)))
    server.core.drain(to: "wss://other.example/signaling", at: network.now)
    #expect(server.core.isDraining)
    // One whose WebSocket is open already, and one that comes now.
    early.connect(.recvonly)
    let late = try ScriptedClient("late", 3, server).connect(.sendrecv)
    network.run(for: .milliseconds(200))
    for client in [early, late] {
      #expect(client.redirects == ["wss://other.example/signaling"])
      #expect(client.closed?.code == 1000 && client.offer == nil)
    }
    network.run(for: .seconds(10))
    #expect(old.closed == nil && old.redirects.isEmpty)
    #expect(server.core.status.count == 1)
    server.core.shutdown(at: network.now)
    network.run(for: .milliseconds(100))
    #expect(old.redirects == ["wss://other.example/signaling"])
    #expect(old.closed == SFUClose(code: 1001, reason: "SERVER-SHUTDOWN"))
    #expect(server.core.status.isEmpty && server.core.nextDeadline == nil)
  }

  @Test func withoutAnotherServerWhoComesIsClosed() throws {
    let (network, server) = try makeServer()
    let old = try ScriptedClient("old", 1, server).connect(.sendrecv)
    let early = try ScriptedClient("early", 2, server)
    #expect(network.run(until: { old.isConnected }, within: .seconds(5)))
    server.core.drain(to: nil, at: network.now)
    #expect(server.core.accept(at: network.now) == nil)
    // What it says behind that goes nowhere.
    early.connect(.recvonly)
    network.run(for: .milliseconds(200))
    #expect(early.closed?.code == 1001 && early.redirects.isEmpty)
    #expect(old.closed == nil)
    server.core.shutdown(at: network.now)
    network.run(for: .milliseconds(100))
    #expect(old.closed?.code == 1001 && old.redirects.isEmpty)
  }
}

/// The same with sockets.
@Suite(.timeLimit(.minutes(5))) struct RealDrainTests {
  @Test func itWaitsForTheLastConnection() async throws {
    var configuration = SoraServer.Configuration()
    configuration.mediaAddresses = [.loopbackV4]
    configuration.apiPort = 0
    configuration.drain.limit = .seconds(240)
    configuration.drain.redirectURL = "ws://127.0.0.1:1/signaling"
    let server = try await SoraServer.start(configuration)
    let client = try await SignalingPeer(server.url)
    client.connect()
    _ = try await client.offer()
    let draining = Task { await server.drain() }
    // The server says when it has begun.
    let api = APIClient(server.apiURL)
    let probe = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    while try await api.send(probe).status == 200 {}
    #expect(try await api.send(probe).status == 503)
    let late = try await SignalingPeer(server.url)
    late.connect()
    guard case .message(let message)? = try await late.next() else {
      Issue.record("no redirect came")
      return
    }
    #expect(message == ["type": "redirect", "location": "ws://127.0.0.1:1/signaling"])
    #expect(try await late.close()?.code == .normal)
    #expect(await server.connections.count == 1)
    client.socket.send(text: #"{"type":"disconnect"}"#)
    // Ends as the last one goes, long before the limit.
    await draining.value
    #expect(await server.connections.isEmpty)
    await server.shutdown()
  }

  @Test func itIsBounded() async throws {
    var configuration = SoraServer.Configuration()
    configuration.mediaAddresses = [.loopbackV4]
    configuration.drain.limit = .milliseconds(50)
    let server = try await SoraServer.start(configuration)
    let client = try await SignalingPeer(server.url)
    client.connect()
    _ = try await client.offer()
    await server.drain()
    #expect(await server.connections.count == 1)
    let late = try await SignalingPeer(server.url)
    #expect(try await late.close()?.code == .goingAway)
    await server.shutdown()
    #expect(try await client.close()?.code == .goingAway)
  }

  /// RFC 9725 §4.5: with 307, a POST is made again where the answer says.
  @Test(arguments: ["ws://127.0.0.1:1/signaling", "wss://other.example/signaling", nil])
  func whoPublishesByWHIPIsSentElsewhere(_ other: String?) async throws {
    var configuration = SoraServer.Configuration()
    configuration.mediaAddresses = [.loopbackV4]
    configuration.apiPort = 0
    configuration.drain.redirectURL = other
    // A server that is full has no room, but the other one may have.
    configuration.access.maximumConnections = 1
    let server = try await SoraServer.start(configuration)
    let client = APIClient(server.httpURL)
    func post(_ path: String) async throws -> APIClient.Answer {
      let offer = WHIPTests.offer
      return try await client.send(
        "POST \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
          + "Content-Type: application/sdp\r\nContent-Length: \(offer.utf8.count)\r\n\r\n" + offer)
    }
    #expect(try await post("/whip/a").status == 201)
    #expect(try await post("/whip/b").status == 503)
    let draining = Task { await server.drain() }
    // The server says when it has begun.
    let api = APIClient(server.apiURL)
    let probe = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    while try await api.send(probe).status == 200 {}
    let answer = try await post("/whip/b")
    if let other {
      let origin = other.hasPrefix("wss") ? "https://other.example" : "http://127.0.0.1:1"
      #expect(answer.status == 307)
      #expect(answer.head.contains("location: \(origin)/whip/b\r\n"))
    } else {
      #expect(answer.status == 503)
      #expect(answer.head.contains("retry-after: 5\r\n"))
    }
    await server.shutdown()
    await draining.value
  }
}
