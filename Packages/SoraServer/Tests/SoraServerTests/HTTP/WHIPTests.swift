import Foundation
import SoraICE
import SoraSDP
import SoraServer
import SoraSignaling
import Testing

/// WHIP and WHEP as they are on the wire: requests from literal text, each with its typed answer.
@Suite(.timeLimit(.minutes(5)))
struct WHIPTests {
  static let offer =
    OfferTexts.both("sendonly").replacing("UFRAG", with: "abcd")
    .replacing("PASSWORD", with: "0123456789012345678901")
    .replacing(
      "FINGERPRINT", with: "sha-256 " + [String](repeating: "AB", count: 32).joined(separator: ":"))

  private func serving(
    _ configure: (inout SoraServer.Configuration) -> Void = { _ in },
    _ body: (SoraServer, APIClient) async throws -> Void
  ) async throws {
    var configuration = SoraServer.Configuration()
    configuration.mediaAddresses = [.loopbackV4]
    configure(&configuration)
    let server = try await SoraServer.start(configuration)
    do {
      try await body(server, APIClient(server.httpURL))
    } catch {
      await server.shutdown()
      throw error
    }
    await server.shutdown()
  }

  private func request(
    _ client: APIClient, _ method: String, _ path: String, _ headers: [String] = [],
    _ body: String = ""
  ) async throws -> APIClient.Answer {
    let lines =
      ["\(method) \(path) HTTP/1.1", "Host: localhost", "Connection: close"] + headers
      + ["Content-Length: \(body.utf8.count)", "", body]
    return try await client.send(lines.joined(separator: "\r\n"))
  }

  private func post(
    _ client: APIClient, _ path: String = "/whip/room", _ headers: [String] = [],
    _ body: String = offer
  ) async throws -> APIClient.Answer {
    try await request(client, "POST", path, ["Content-Type: application/sdp"] + headers, body)
  }

  /// The value of a header, whose name and value come in lower case.
  private func header(_ name: String, _ answer: APIClient.Answer) -> String? {
    answer.head.components(separatedBy: "\r\n").first { $0.hasPrefix(name + ": ") }
      .map { String($0.dropFirst(name.count + 2)) }
  }

  /// Paths and tags have both cases; `APIClient` has read the head in lower case.
  private func made(_ server: SoraServer, _ answer: APIClient.Answer) async throws -> (
    path: String, tag: String
  ) {
    let sdp = try SessionDescription(parsing: answer.body)
    let location = try #require(header("location", answer))
    let parts = location.split(separator: "/")
    let tag = try #require(sdp.media.first { $0.port != 0 }?.iceUfrag)
    #expect(header("etag", answer) == "\"\(tag.lowercased())\"")
    return ("/\(parts[0])/\(parts[1])/\(parts[2].uppercased())", "If-Match: \"\(tag)\"")
  }

  private static func fragment(_ ufrag: String, _ password: String) -> String {
    "a=ice-ufrag:\(ufrag)\r\na=ice-pwd:\(password)\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n"
      + "a=candidate:1 1 udp 2130706431 127.0.0.1 9 typ host\r\na=end-of-candidates\r\n"
  }

  private static let same = fragment("abcd", "0123456789012345678901")
  private static let other = fragment("efgh", "abcdefghijabcdefghijab")
  private static let trickle = "Content-Type: application/trickle-ice-sdpfrag"

  @Test func aSessionIsMadeTrickledRestartedAndEnded() async throws {
    try await serving { server, client in
      let answer = try await post(client)
      #expect(answer.status == 201)
      #expect(header("content-type", answer) == "application/sdp")
      #expect(header("accept-patch", answer) == "application/trickle-ice-sdpfrag")
      #expect(header("access-control-allow-origin", answer) == "*")
      #expect(header("access-control-expose-headers", answer)?.contains("location") == true)
      #expect(header("link", answer) == nil)
      let (path, tag) = try await made(server, answer)
      let connection = try #require(await server.connections.first)
      #expect(connection.channelID == "room" && connection.role == .sendonly)
      // Others are told connections' ids, and must not end them.
      #expect(!path.contains(connection.connectionID))

      let taken = try await request(client, "PATCH", path, [Self.trickle, tag], Self.same)
      #expect(taken.status == 204 && taken.body.isEmpty)
      let restarted = try await request(
        client, "PATCH", path, [Self.trickle, "If-Match: *"], Self.other)
      #expect(restarted.status == 200)
      #expect(header("content-type", restarted) == "application/trickle-ice-sdpfrag")
      let fragment = try SDPFragment(parsing: restarted.body)
      let ufrag = try #require(fragment.ufrag)
      #expect(header("etag", restarted) == "\"\(ufrag.lowercased())\"")
      #expect(fragment.password != nil && !fragment.allCandidates.isEmpty)
      #expect(!answer.body.contains(ufrag))
      // What was meant for before is late.
      let late = try await request(client, "PATCH", path, [Self.trickle, tag], Self.same)
      #expect(late.status == 412)
      let present = try await request(
        client, "PATCH", path, [Self.trickle, "If-Match: W/\"x\", \"\(ufrag)\""], Self.other)
      #expect(present.status == 204)

      let ended = try await request(client, "DELETE", path)
      #expect(ended.status == 200)
      #expect(await server.connections.isEmpty)
      for method in ["DELETE", "PATCH"] {
        let gone = try await request(
          client, method, path, [Self.trickle, "If-Match: *"], Self.same)
        #expect(gone.status == 404)
      }
      var reasons: [String] = []
      await server.shutdown()
      for await case .left(_, _, _, let reason) in server.events { reasons.append(reason) }
      #expect(reasons == ["HTTP-DELETE"])
    }
  }

  @Test func whatCannotBeServedHasItsStatus() async throws {
    try await serving { server, client in
      let cases: [(String, String, [String], String, Int, String)] = [
        ("POST", "/whip/room", [], Self.offer, 415, "accept-post: application/sdp"),
        ("POST", "/whip/room", ["Content-Type: text/plain"], Self.offer, 415, "accept-post"),
        ("POST", "/whip/room", ["Content-Type: application/sdp"], "", 400, ""),
        ("POST", "/whip/room", ["Content-Type: application/sdp"], "nonsense", 400, ""),
        ("POST", "/whip/room", ["Content-Type: application/sdp"], "\u{0}\u{1}", 400, ""),
        (
          "POST", "/whip/room", ["Content-Type: application/sdp"],
          Self.offer.replacing("VP8", with: "X8").replacing("VP9", with: "X9")
            .replacing("H264", with: "X264"), 422, ""
        ),
        ("POST", "/whep/room", ["Content-Type: application/sdp"], Self.offer, 422, ""),
        (
          "POST", "/whip/room", ["Content-Type: application/sdp"],
          Self.offer + String(repeating: "a=x\r\n", count: 60_000), 413, ""
        ),
        (
          "POST", "/whip/" + String(repeating: "x", count: 300), ["Content-Type: application/sdp"],
          Self.offer, 400, ""
        ),
        (
          "POST", "/whip/room", ["Content-Type: application/sdp", "Authorization: Basic eDp5"],
          Self.offer, 401, "www-authenticate: bearer"
        ),
        ("GET", "/whip/room", [], "", 405, "allow: options, post"),
        ("HEAD", "/whip/room", [], "", 405, "allow: options, post"),
        ("PUT", "/whep/room", ["Content-Type: application/sdp"], Self.offer, 405, "allow"),
        ("DELETE", "/whip/room", [], "", 405, "allow"),
        ("GET", "/whip/room/x", [], "", 405, "allow: options, patch, delete"),
        ("POST", "/whip/room/x", ["Content-Type: application/sdp"], Self.offer, 405, "allow"),
        ("DELETE", "/whip/room/x", [], "", 404, ""),
        ("PATCH", "/whip/room/x", [Self.trickle, "If-Match: *"], Self.same, 404, ""),
        ("PATCH", "/whip/room/x", ["If-Match: *"], Self.same, 415, "accept-patch"),
        ("PATCH", "/whip/room/x", [Self.trickle], Self.same, 428, ""),
        ("PATCH", "/whip/room/x", [Self.trickle, "If-Match: *"], "", 400, ""),
        ("POST", "/whip", ["Content-Type: application/sdp"], Self.offer, 404, ""),
        ("POST", "/whip/", ["Content-Type: application/sdp"], Self.offer, 404, ""),
        ("POST", "/whip//x", ["Content-Type: application/sdp"], Self.offer, 404, ""),
        ("POST", "/whip/a/b/c", ["Content-Type: application/sdp"], Self.offer, 404, ""),
        ("POST", "/whip/%zz", ["Content-Type: application/sdp"], Self.offer, 404, ""),
        ("POST", "/whipped/room", ["Content-Type: application/sdp"], Self.offer, 404, ""),
      ]
      for (method, path, headers, body, status, head) in cases {
        let answer = try await request(client, method, path, headers, body)
        let name = "\(method) \(path.prefix(30)) \(headers)"
        #expect(answer.status == status, "\(name)")
        #expect(head.isEmpty || answer.head.contains(head), "\(name): \(answer.head)")
        guard method != "HEAD", path != "/whipped/room" else { continue }
        #expect(header("content-type", answer) == "application/problem+json", "\(name)")
        #expect(answer.json?["status"]?.intValue == status, "\(name)")
        #expect(answer.json?["detail"]?.stringValue?.isEmpty == false)
        #expect(header("access-control-allow-origin", answer) == "*")
      }
      #expect(await server.connections.isEmpty)
    }
  }

  @Test func browsersMayAskFirst() async throws {
    try await serving { _, client in
      for (path, methods, field) in [
        ("/whip/room", "options, post", "accept-post: application/sdp"),
        ("/whep/room/x", "options, patch, delete", "accept-patch: application/trickle-ice-sdpfrag"),
      ] {
        let answer = try await request(
          client, "OPTIONS", path,
          ["Origin: https://example.com", "Access-Control-Request-Method: POST"])
        #expect(answer.status == 204)
        #expect(header("access-control-allow-methods", answer) == methods)
        #expect(
          header("access-control-allow-headers", answer) == "authorization, content-type, if-match")
        #expect(answer.head.contains(field))
      }
    }
  }

  /// A name with other letters than those of paths, and a player before anybody publishes.
  @Test func channelsHaveAnyName() async throws {
    try await serving { server, client in
      let answer = try await post(
        client, "/whep/caf%C3%A9%20%231/?x=y", [],
        Self.offer.replacing("a=sendonly", with: "a=recvonly"))
      #expect(answer.status == 201)
      #expect(await server.channels == ["café #1"])
      #expect(header("location", answer)?.hasPrefix("/whep/caf%c3%a9%20%231/") == true)
    }
  }

  @Test func tokensAreThoseOfConnect() async throws {
    try await serving {
      $0.access.secretKey = SecretKey(TokenTests.key)
    } _: { server, client in
      let soon = Int64(Date().timeIntervalSince1970) + 60
      let good = TokenTests.token(["channel_id": "room", "exp": .integer(soon)])
      let elsewhere = TokenTests.token(["channel_id": "other", "exp": .integer(soon)])
      let expired = TokenTests.token(["channel_id": "room", "exp": 1])
      for (token, title) in [
        (nil, "ACCESS-TOKEN-MISSING"), ("nonsense", "ACCESS-TOKEN-INVALID"),
        (elsewhere, "ACCESS-TOKEN-CHANNEL"), (expired, "ACCESS-TOKEN-EXPIRED"),
      ] {
        let answer = try await post(
          client, "/whip/room", token.map { ["Authorization: Bearer \($0)"] } ?? [])
        #expect(answer.status == 401, "\(title)")
        #expect(answer.json?["title"]?.stringValue == title)
        #expect(header("www-authenticate", answer) == "bearer")
      }
      #expect(await server.connections.isEmpty)
      let header = "Authorization: bearer \(good)"
      let answer = try await post(client, "/whip/room", [header])
      #expect(answer.status == 201)
      let (path, tag) = try await made(server, answer)
      // Who changes a session shows what has made it.
      for wrong in [[], ["Authorization: Bearer \(TokenTests.key)"]] {
        let patch = try await request(
          client, "PATCH", path, [Self.trickle, tag] + wrong, Self.same)
        #expect(patch.status == 401)
        #expect(try await request(client, "DELETE", path, wrong).status == 401)
      }
      #expect(await server.connections.count == 1)
      #expect(
        try await request(client, "PATCH", path, [Self.trickle, tag, header], Self.same).status
          == 204)
      #expect(try await request(client, "DELETE", path, [header]).status == 200)
    }
  }

  @Test func theWebhookDecidesAndIsToldWhatItIs() async throws {
    let webhook = try await WebhookReceiver { asked in
      guard asked?["role"] == "sendonly" else {
        return HTTPResponse(text: #"{"allowed":false,"reason":"NO-PLAYERS"}"#)
      }
      return HTTPResponse(text: #"{"allowed":true,"video_codec_type":"H264","client_id":"obs"}"#)
    }
    try await serving {
      $0.access.authWebhook = .init(url: webhook.url)
    } _: { server, client in
      let answer = try await post(
        client, "/whip/room", ["User-Agent: OBS", "Authorization: Bearer secret"])
      #expect(answer.status == 201)
      #expect(answer.body.contains("H264") && !answer.body.contains("VP8"))
      #expect(await server.connections.first?.clientID == "obs")
      let asked = try #require(webhook.bodies.first)
      #expect(asked["channel_id"] == "room" && asked["video_codec_type"] == "VP8")
      #expect(asked["sora_client"]?["raw"] == "WHIP")
      #expect(asked["sora_client"]?["environment"] == "OBS")
      #expect(asked["metadata"] == ["access_token": "secret"])
      #expect(asked["remote_address"] == "127.0.0.1")
      let refused = try await post(
        client, "/whep/room", [], Self.offer.replacing("a=sendonly", with: "a=recvonly"))
      #expect(refused.status == 403)
      #expect(refused.json?["title"] == "NO-PLAYERS")
    }
    await webhook.stop()
  }

  @Test func theRelayIsNamedInLinks() async throws {
    try await serving {
      $0.turn = .init()
    } _: { server, client in
      let answer = try await post(client)
      let link = try #require(header("link", answer))
      #expect(link.hasPrefix("<turn:127.0.0.1:"))
      for part in [
        "?transport=udp>; rel=\"ice-server\"; username=\"", "; credential=\"",
        "; credential-type=\"password\"",
      ] {
        #expect(link.contains(part))
      }
    }
  }

  @Test func aFullChannelSaysWhenToComeAgain() async throws {
    try await serving {
      $0.access.maximumChannelConnections = 1
    } _: { server, client in
      #expect(try await post(client).status == 201)
      let second = try await post(client)
      #expect(second.status == 503)
      #expect(header("retry-after", second) == "5")
      #expect(second.json?["title"] == "CONNECTION-LIMIT")
      #expect(try await post(client, "/whip/other").status == 201)
    }
  }

  /// Of both kinds of clients, as the server sees them.
  @Test func anAddressHasAsManyConnectionsAsItMay() async throws {
    try await serving {
      $0.access.maximumAddressConnections = 2
    } _: { server, client in
      let peer = try await SignalingPeer(server.url)
      peer.connect(channel: "a")
      _ = try await peer.offer()
      #expect(try await post(client, "/whip/b").status == 201)
      #expect(try await post(client, "/whip/c").json?["title"] == "CONNECTION-LIMIT")
      let second = try await SignalingPeer(server.url)
      second.connect(channel: "d")
      #expect(try await second.close()?.reason.hasPrefix("CONNECTION-LIMIT: the address") == true)
    }
  }
}
