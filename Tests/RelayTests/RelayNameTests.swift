import SignalingTestSupport
import SoraICE
import SoraServer
import SoraSignaling
import Testing

/// How offers name the relay.
@Suite(.timeLimit(.minutes(5))) struct RelayNameTests {
  /// By the name that the client knows, whose certificate signaling has shown already; libwebrtc takes none for an address.
  @Test func aClientThatCameByANameIsToldTheName() async throws {
    var configuration = SoraServer.Configuration()
    configuration.mediaAddresses = [.loopbackV4]
    var turn = SoraServer.Configuration.TURN(port: 0)
    turn.securePort = 0
    turn.tls = try await Certificates.shared.value.identity("server")
    configuration.turn = turn
    let server = try await SoraServer.start(configuration)
    let secure = try #require(server.turnURLs.last.flatMap { ICEServerURL($0) })
    #expect(secure.relayProtocol == "tls" && server.turnURLs.count == 3)

    #expect(try await offered(server, by: "127.0.0.1") == server.turnURLs)
    let byName = try await offered(server, by: "localhost")
    #expect(byName.dropLast() == server.turnURLs.dropLast())
    #expect(byName.last == "turns:localhost:\(secure.port)?transport=tcp")
    await server.shutdown()
  }

  private func offered(_ server: SoraServer, by name: String) async throws -> [String] {
    let socket = try await WebSocketClient.connect(url: "ws://\(name):\(server.port)/signaling")
    socket.send(
      text: """
        {"type":"connect","role":"recvonly","channel_id":"names","audio":true,"video":true}
        """)
    defer { socket.close() }
    for await event in socket.messages {
      guard case .text(let text) = event,
        case .offer(let offer) = try SignalingMessage(parsing: text)
      else { continue }
      return offer.configuration?.iceServers.flatMap(\.urls) ?? []
    }
    return []
  }
}
