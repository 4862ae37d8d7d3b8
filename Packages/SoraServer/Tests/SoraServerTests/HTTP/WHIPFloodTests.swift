import Foundation
import SoraICE
import SoraServer
import SoraSignaling
import Testing

/// Clients of WHIP, WHEP and WebSockets that keep to no rule, on real sockets, beside one that does.
@Suite(.timeLimit(.minutes(5)))
struct WHIPFloodTests {
  private static let trickle = "Content-Type: application/trickle-ice-sdpfrag\r\nIf-Match: *\r\n"

  private func request(
    _ client: APIClient, _ method: String, _ path: String, _ headers: String = "",
    _ body: String = ""
  ) async throws -> APIClient.Answer {
    try await client.send(
      "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(headers)"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }

  /// The path of the session that an answer has made, as it is spelled.
  private func location(_ answer: APIClient.Answer) throws -> String {
    let line = answer.head.components(separatedBy: "\r\n").first { $0.hasPrefix("location: ") }
    let parts = try #require(line).dropFirst("location: ".count).split(separator: "/")
    // `APIClient` has read the head in lower case.
    return "/\(parts[0])/\(parts[1])/\(parts[2].uppercased())"
  }

  @Test func sessionsAreBoundedAndNobodyElses() async throws {
    var configuration = SoraServer.Configuration()
    configuration.mediaAddresses = [.loopbackV4]
    configuration.access.maximumConnections = 8
    let server = try await SoraServer.start(configuration)
    let client = APIClient(server.httpURL)
    let type = "Content-Type: application/sdp\r\n"
    let good = try await request(client, "POST", "/whip/quiet", type, WHIPTests.offer)
    #expect(good.status == 201)
    let own = try location(good)
    let connection = try #require(await server.connections.first)

    var statuses: [Int: Int] = [:]
    for number in 0..<40 {
      let answer = try await request(
        client, "POST", "/whip/room\(number % 3)", type, WHIPTests.offer)
      statuses[answer.status, default: 0] += 1
    }
    #expect(statuses == [201: 7, 503: 33])
    #expect(await server.connections.count == 8)
    // Others are told the names of connections and channels, and those end nothing.
    let id = own.split(separator: "/")[2]
    let fragment = "a=ice-ufrag:abcd\r\na=candidate:1 1 udp 2 127.0.0.1 9 typ host\r\n"
    for path in [
      "/whip/quiet/\(connection.connectionID)", "/whip/room0/\(id)", "/whep/quiet/\(id)",
      "/whip/quiet/\(id.lowercased())", "/whip/quiet/", "/whip/quiet/\(id)/x",
    ] {
      let ended = try await request(client, "DELETE", path)
      #expect(ended.status == 404 || ended.status == 405, "\(path)")
      let patched = try await request(client, "PATCH", path, Self.trickle, fragment)
      #expect(patched.status == 404 || patched.status == 405, "\(path)")
    }
    for _ in 0..<40 {
      let text =
        fragment + String(repeating: "a=candidate:1 1 udp 2 127.0.0.2 9 typ host\r\n", count: 500)
      #expect(try await request(client, "PATCH", own, Self.trickle, text).status == 204)
    }
    #expect(await server.connections.contains { $0.connectionID == connection.connectionID })
    #expect(try await request(client, "DELETE", own).status == 200)
    // There is room for one more then.
    #expect(try await request(client, "POST", "/whip/quiet", type, WHIPTests.offer).status == 201)
    await server.shutdown()
  }

  @Test func hugeAndDeepTextEndsItsWebSocketAlone() async throws {
    let server = try await SoraServer.start()
    let good = try await SignalingPeer(server.url)
    good.connect(channel: "quiet")
    _ = try await good.offer()
    let cases: [(String, WebSocketCloseCode)] = [
      (String(repeating: "x", count: 1 << 20 + 1), .messageTooBig),
      (String(repeating: "[", count: 1 << 19), .signalingError),
      (
        #"{"type":"connect","role":"sendrecv","channel_id":"room","x":""#
          + String(repeating: "x", count: 1 << 19) + "\"}", .signalingError
      ),
    ]
    for (text, code) in cases {
      let hostile = try await SignalingPeer(server.url, largest: 4 << 20)
      hostile.socket.send(text: text)
      let close = try await hostile.close()
      #expect(close?.code == code, "\(text.utf8.count) bytes: \(close?.reason ?? "")")
    }
    #expect(await server.connections.map(\.channelID) == ["quiet"])
    let newcomer = try await SignalingPeer(server.url)
    newcomer.connect(channel: "quiet")
    _ = try await newcomer.offer()
    #expect(good.socket.isOpen)
    await server.shutdown()
  }
}
