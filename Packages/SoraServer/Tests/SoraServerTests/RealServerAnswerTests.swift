import SoraICE
import SoraServer
import SoraSignaling
import SoraTransport
import Testing

/// What clients are told by the real server where they say what it doesn't know, and what those of one kind need.
@Suite(.timeLimit(.minutes(5))) struct RealServerAnswerTests {
  /// Types and keys that the server doesn't know change nothing, and are logged with the connection that has said them.
  @Test func unknownTypesAndKeysAreIgnoredAndLogged() async throws {
    let log = LogRecorder()
    try await SoraServer.serving {
      $0.logger = log.logger
    } _: { server in
      let peer = try await SignalingPeer(server.url)
      peer.connect(#""simulcst":true,"video":{"codec_typ":"VP8"},"metadata":{"any":"thing"}"#)
      let id = try #require(try await peer.offer()["connection_id"]?.stringValue)
      peer.socket.send(text: #"{"type":"dance","with":"me"}"#)
      peer.socket.send(text: #"{"type":"pong","colour":"secret value"}"#)
      // Many more of them: the log takes ten.
      for number in 0..<40 { peer.socket.send(text: #"{"type":"again-\#(number)"}"#) }
      peer.socket.send(text: #"{"type":"disconnect"}"#)
      let close = try await peer.close()
      #expect(close?.reason == "TYPE-DISCONNECT")
      let lines = log.text.split(separator: "\n").filter { $0.hasPrefix("info ignored") }
      #expect(lines.count == 10, "\(lines)")
      #expect(lines.allSatisfy { $0.contains(id) && $0.contains("room") })
      for what in [
        "the key connect.simulcst", "the key connect.video.codec_typ", "the message dance",
        "the key pong.colour",
      ] {
        #expect(lines.contains { $0.contains(what) }, "\(what)")
      }
      #expect(!lines.contains { $0.contains("secret value") || $0.contains("metadata") })
      // Whoever reads the log finds the connection in what it has said, too.
      let connect = log.text.split(separator: "\n").first { $0.hasPrefix("debug connect") }
      #expect(connect?.contains(id) == true)
    }
  }

  /// The iOS SDK takes a configuration with the policy `relay` alone, and does without one.
  @Test func theIOSSDKGetsAnOfferThatItCanRead() async throws {
    let client = #""sora_client":"Sora iOS SDK 2025.1.1""#
    try await SoraServer.serving { server in
      let peer = try await SignalingPeer(server.url)
      peer.connect(client)
      #expect(try await peer.offer()["config"] == nil)
    }
    try await SoraServer.serving {
      $0.turn = .init(port: 0)
    } _: { server in
      let peer = try await SignalingPeer(server.url)
      peer.connect(client)
      let config = try #require(try await peer.offer()["config"])
      #expect(config["iceTransportPolicy"] == "relay")
      #expect(config["iceServers"]?.arrayValue?.count == 1)
      let other = try await SignalingPeer(server.url)
      other.connect()
      #expect(try await other.offer()["config"]?["iceTransportPolicy"] == "all")
    }
  }

  /// A token may leave its client the relay alone, over TCP.
  @Test func aTokenLeavesTheRelayOverTCPAlone() async throws {
    try await SoraServer.serving {
      $0.turn = .init(port: 0)
      $0.access.secretKey = SecretKey(TokenTests.key)
    } _: { server in
      for (claims, urls) in [
        ([:], ["udp", "tcp"]), (["turn_tcp_only": true], ["tcp"]), (["turn_tls_only": true], []),
      ] as [([String: JSONValue], [String])] {
        let token = TokenTests.token(
          .object(claims.merging(["channel_id": "room"]) { $1 }))
        let peer = try await SignalingPeer(server.url)
        peer.connect(TokenTests.metadata(token))
        let config = try #require(try await peer.offer()["config"])
        let given = config["iceServers"]?[0]?["urls"]?.arrayValue?.compactMap(\.stringValue) ?? []
        #expect(given.map { String($0.suffix(3)) } == urls, "\(given)")
        #expect(config["iceTransportPolicy"] == (claims.isEmpty ? "all" : "relay"))
      }
    }
  }

  /// Whoever disconnects by the API says why, where it likes.
  @Test func aDisconnectHasTheReasonThatItIsGiven() async throws {
    try await SoraServer.serving {
      $0.apiPort = 0
    } _: { server in
      let api = APIClient(server.apiURL)
      for (body, reason) in [
        ("", "DISCONNECTED-API"), (#","reason":"the show is over""#, "the show is over"),
      ] {
        let peer = try await SignalingPeer(server.url)
        peer.connect(#""audio_streaming_language_code":"ja-JP""#)
        let id = try #require(try await peer.offer()["connection_id"]?.stringValue)
        let list = try await api.post("Sora_20201013.ListConnections", "{}")
        #expect(list.json?[0]?["audio_streaming_language_code"] == "ja-JP")
        let answer = try await api.post(
          "Sora_20151104.DisconnectConnection",
          #"{"channel_id":"room","connection_id":"\#(id)"\#(body)}"#)
        #expect(answer.status == 200)
        let close = try await peer.close()
        #expect(close?.code == .normal && close?.reason == reason)
      }
      let long = String(repeating: "x", count: 124)
      let answer = try await api.post(
        "Sora_20151104.DisconnectChannel", #"{"channel_id":"room","reason":"\#(long)"}"#)
      #expect(answer.status == 400 && answer.errorReason.contains("reason"))
    }
  }
}
