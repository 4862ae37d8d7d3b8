import Foundation
import SoraDigest
import SoraICE
import SoraServer
import SoraSignaling
import SoraWire
import Testing

/// Who may connect where the server has a key.
@Suite(.timeLimit(.minutes(5))) struct TokenTests {
  static let key = "0123456789abcdef0123456789abcdef"

  /// A token with any claims, signed with HS256, whatever its header says.
  static func token(
    _ claims: JSONValue, key: String = key, header: JSONValue = ["alg": "HS256", "typ": "JWT"]
  ) -> String {
    let input = part(header.text) + "." + part(claims.text)
    var code = [UInt8](repeating: 0, count: 32)
    code.withMutableRawSpan {
      HMAC.sha256(Array(input.utf8).rawSpan, key: Array(key.utf8).rawSpan, into: &$0)
    }
    return input + "." + part(Data(code))
  }

  private static func part(_ text: String) -> String { part(Data(text.utf8)) }

  private static func part(_ data: Data) -> String {
    data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
  }

  static func metadata(_ token: String) -> String { #""metadata":{"access_token":"\#(token)"}"# }

  private func serving(
    key: String = key, _ log: LogRecorder = LogRecorder(),
    _ body: (SoraServer) async throws -> Void
  ) async throws {
    try await SoraServer.serving(
      {
        $0.logger = log.logger
        $0.access.secretKey = SecretKey(key)
      }, body)
  }

  private func offer(_ server: SoraServer, _ token: String, _ more: String = "") async throws
    -> JSONValue
  {
    let peer = try await SignalingPeer(server.url)
    peer.connect(Self.metadata(token) + more)
    return try await peer.offer()
  }

  @Test func theBareKeyAndATokenLetIn() async throws {
    try await serving { server in
      let soon = Date().timeIntervalSince1970 + 60
      let claims: JSONValue = ["channel_id": "room", "exp": .integer(Int64(soon)), "sub": "x"]
      for token in [
        Self.key, Self.token(claims),
        // Without an end, for any channel; and a date needn't be whole.
        Self.token([:]), Self.token(["exp": .double(soon + 0.5)]),
      ] {
        let offer = try await offer(server, token)
        #expect(offer["channel_id"] == "room")
      }
    }
  }

  /// Tokens that others have made: the example of jwt.io, whose key is shorter than the digest, and one of Python's hashlib.
  @Test(arguments: [
    (
      "your-256-bit-secret",
      "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
    ),
    (
      key,
      "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJjaGFubmVsX2lkIjoicm9vbSJ9.xwNUkDhGepqK7Xn5PV_TpVK6r5H9Al3euSgkVywrp6w"
    ),
  ])
  func aTokenOfOthersIsTaken(_ key: String, _ token: String) async throws {
    try await serving(key: key) { server in
      let offer = try await offer(server, token)
      #expect(offer["type"] == "offer")
    }
  }

  @Test(arguments: [31, 32]) func aKeyThatIsShortIsToldOf(_ length: Int) async throws {
    let log = LogRecorder()
    try await serving(key: String(repeating: "k", count: length), log) { _ in }
    #expect(log.text.contains("the secret key is short") == (length < 32))
  }

  @Test func whatIsNoAccessTokenIsRefused() async throws {
    let log = LogRecorder()
    try await serving(log) { server in
      for (members, reason) in [
        ("", "ACCESS-TOKEN-MISSING"), (#""metadata":null"#, "ACCESS-TOKEN-MISSING"),
        (#""metadata":"\#(Self.key)""#, "ACCESS-TOKEN-MISSING"),
        (#""metadata":{"access_token":null}"#, "ACCESS-TOKEN-MISSING"),
        (#""metadata":{"access_token":7}"#, "ACCESS-TOKEN-INVALID"),
        (#""metadata":{"access_token":["a"]}"#, "ACCESS-TOKEN-INVALID"),
        (Self.metadata(""), "ACCESS-TOKEN-INVALID"),
        (Self.metadata(String(repeating: "a", count: 20_000)), "ACCESS-TOKEN-INVALID"),
        (Self.metadata("a"), "ACCESS-TOKEN-INVALID"),
        (Self.metadata(Self.key + "0"), "ACCESS-TOKEN-INVALID"),
        (Self.metadata(String(Self.key.dropLast())), "ACCESS-TOKEN-INVALID"),
        (Self.metadata(".."), "ACCESS-TOKEN-INVALID"),
        (Self.metadata("a.b.c"), "ACCESS-TOKEN-INVALID"),
        (Self.metadata("a.b.c.d"), "ACCESS-TOKEN-INVALID"),
        (Self.metadata("\(Self.part(#"{"alg":"HS256"}"#)).e30=.AA"), "ACCESS-TOKEN-INVALID"),
        (Self.metadata("\(Self.part(#"{"alg":"HS256"}"#)).e3 0.AA"), "ACCESS-TOKEN-INVALID"),
        (Self.metadata("\(Self.part(#"{"alg":"HS256"}"#)).e30.é"), "ACCESS-TOKEN-INVALID"),
        // Numbers that no integer holds.
        (
          Self.metadata("\(Self.part(#"{"alg":"HS256","x":1e300}"#)).e30.AAAA"),
          "ACCESS-TOKEN-INVALID"
        ),
        (
          Self.metadata("\(Self.part(#"{"alg":"HS256"}"#)).\(Self.part(#"{"exp":1e300}"#)).AAAA"),
          "ACCESS-TOKEN-INVALID"
        ),
        (Self.metadata("\(Self.part(#"{"alg":7,"kid":{}}"#)).e30.AAAA"), "ACCESS-TOKEN-INVALID"),
        (
          Self.metadata("\(Self.part(#"{"alg":"HS256","kid":{}}"#)).e30.AAAA"),
          "ACCESS-TOKEN-INVALID"
        ),
        (
          Self.metadata("\(Self.part("[]")).\(Self.part("[]")).AAAA"), "ACCESS-TOKEN-INVALID"
        ),
        (
          Self.metadata(
            "\(Self.part(#"{"alg":"HS256"}"#))."
              + "\(Self.part(String(repeating: "[", count: 4_000))).AAAA"), "ACCESS-TOKEN-INVALID"
        ),
      ] {
        let peer = try await SignalingPeer(server.url)
        peer.connect(members)
        let close = try await peer.close()
        #expect(close?.code == .signalingError, "\(members.prefix(60))")
        #expect(
          close?.reason.hasPrefix(reason) == true,
          "\(members.prefix(60)): \(close?.reason ?? "-")")
      }
      #expect(await server.connections.isEmpty)
    }
    #expect(log.text.contains("not let in"))
  }

  @Test func forgedTokensAreRefused() async throws {
    try await serving { server in
      let claims: JSONValue = ["channel_id": "room"]
      let good = Self.token(claims).split(separator: ".").map(String.init)
      let other = Self.token(["channel_id": "room", "audio": true])
        .split(separator: ".").map(String.init)
      let payload = Self.part(#"{"channel_id":"room"}"#)
      // HS256 by its signature, and something else by its word.
      let lying = Self.token(claims, header: ["alg": "HS512"])
      // The same claims by HS384 and HS512, with the server's key (made with Python's hashlib).
      let longer = [
        "eyJhbGciOiJIUzM4NCIsInR5cCI6IkpXVCJ9.eyJjaGFubmVsX2lkIjoicm9vbSJ9.3SlZsYwhXZV4QMeaYj6roNlOrV1mNASVi_Ir73FbuFXUAwNAwwOqh4FT-kahUGVP",
        "eyJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.eyJjaGFubmVsX2lkIjoicm9vbSJ9.TWn8YIttU3OXZWfQfG9auTN4ipV1uwHRLWaBce374zTS5G_MZFSxQCkQciCrtbYUpKUtuHCmEEFN2w8GIfs96Q",
      ]
      let forged = [
        Self.token(claims, key: "another key that is long enough."),
        lying, Self.token(claims, header: ["alg": "HS256", "crit": ["exp"]]),
        "\(Self.part(#"{"alg":"none"}"#)).\(payload).",
        "\(Self.part(#"{"alg":"None","typ":"JWT"}"#)).\(payload).",
        "\(Self.part(#"{"alg":"none"}"#)).\(payload).\(good[2])",
        "\(Self.part(#"{"alg":"HS256"}"#)).\(payload).", "\(good[0]).\(good[1]).",
        // Another's claims, a changed byte, a cut signature.
        "\(good[0]).\(other[1]).\(good[2])", "\(good[0]).\(good[1]).\(good[2].dropLast(4))",
        "\(good[0]).\(good[1]).\(String(good[2].reversed()))",
        // More behind it, and the padding that RFC 7515 §2 leaves out.
        "\(good[0]).\(good[1]).\(good[2])A", "\(good[0]).\(good[1]).\(good[2])=",
      ]
      for token in forged + longer {
        let peer = try await SignalingPeer(server.url)
        peer.connect(Self.metadata(token))
        let close = try await peer.close()
        #expect(close?.code == .signalingError, "\(token)")
        #expect(close?.reason.hasPrefix("ACCESS-TOKEN-INVALID") == true, "\(close?.reason ?? "-")")
        #expect(close?.reason.contains(token) == false)
      }
    }
  }

  @Test func tokensThatDoNotFitAreRefused() async throws {
    try await serving { server in
      let now = Date().timeIntervalSince1970
      let cases: [(JSONValue, String)] = [
        (["exp": .double(now - 1)], "ACCESS-TOKEN-EXPIRED"), (["exp": 0], "ACCESS-TOKEN-EXPIRED"),
        (["exp": "soon"], "ACCESS-TOKEN-INVALID: its exp"),
        (["nbf": .double(now + 60)], "ACCESS-TOKEN-INVALID: it isn't valid yet"),
        (["channel_id": "other"], "ACCESS-TOKEN-CHANNEL"),
        (["channel_id": "Room"], "ACCESS-TOKEN-CHANNEL"),
        (["channel_id": 7], "ACCESS-TOKEN-INVALID"),
        (["video_bit_rate": "fast"], "ACCESS-TOKEN-INVALID: send claim.video_bit_rate as"),
        (["video_bit_rate": 0], "ACCESS-TOKEN-INVALID: send claim.video_bit_rate as"),
        (["audio": 1], "ACCESS-TOKEN-INVALID: send claim.audio as"),
        (["connection_lifetime": 0], "ACCESS-TOKEN-INVALID: send claim.connection_lifetime"),
        (["connection_lifetime": 1e300], "ACCESS-TOKEN-INVALID: send claim.connection_lifetime"),
        (["rpc_methods": "all"], "ACCESS-TOKEN-INVALID: send claim.rpc_methods as"),
        (["simulcast_encodings": [7]], "ACCESS-TOKEN-INVALID: send claim.simulcast_encodings"),
        (["video_codec_type": "MPEG"], "INVALID-VIDEO"),
        ([1, 2], "ACCESS-TOKEN-INVALID"), ("text", "ACCESS-TOKEN-INVALID"),
      ]
      for (claims, reason) in cases {
        let peer = try await SignalingPeer(server.url)
        peer.connect(Self.metadata(Self.token(claims)))
        let close = try await peer.close()
        #expect(close?.code == .signalingError, "\(claims)")
        #expect(
          close?.reason.hasPrefix(reason) == true, "\(claims): \(close?.reason ?? "-")")
      }
    }
  }

  @Test func claimsWinOverWhatConnectAsksFor() async throws {
    try await serving { server in
      let wishes =
        #","audio":true,"video":{"codec_type":"VP8","bit_rate":3000},"data_channel_signaling":true"#
      var offer = try await offer(
        server,
        Self.token([
          "video_codec_type": "AV1", "video_bit_rate": 700, "audio": false,
          "rpc_methods": ["2025.2.0/PutSignalingNotifyMetadataItem", "2099.1.0/Unknown"],
          "metadata": ["plan": "small"],
        ]), wishes)
      #expect(offer["video_codec_type"] == "AV1" && offer["video_bit_rate"] == 700)
      #expect(offer["audio"] == false && offer["mid"]?["audio"] == nil)
      #expect(offer["sdp"]?.stringValue?.contains("m=audio") == false)
      #expect(offer["rpc_methods"] == ["2025.2.0/PutSignalingNotifyMetadataItem"])
      #expect(offer["metadata"] == ["plan": "small"])

      // On again, with what was asked for kept.
      offer = try await self.offer(server, Self.token(["video": true]), wishes)
      #expect(offer["video_codec_type"] == "VP8" && offer["video_bit_rate"] == 3000)
      offer = try await self.offer(
        server, Self.token(["video": true]), #","video":false,"audio":false"#)
      #expect(offer["video"] == true && offer["audio"] == false)
      #expect(offer["metadata"] == nil)

      // Nothing may be called: no channel for it.
      offer = try await self.offer(server, Self.token(["rpc_methods": []]), wishes)
      #expect(offer["rpc_methods"] == [])
      let labels = offer["data_channels"]?.arrayValue?.compactMap { $0["label"]?.stringValue }
      #expect(labels == ["signaling", "notify", "push", "stats"])
    }
  }

  @Test func nothingSecretIsLogged() async throws {
    let log = LogRecorder()
    let token = Self.token(["channel_id": "room"])
    let wrong = Self.token(["channel_id": "other"])
    try await serving(log) { server in
      _ = try await offer(server, token, #","client_id":"seen""#)
      _ = try await offer(server, Self.key)
      let odd = [
        Self.metadata(wrong), Self.metadata("wrong-\(Self.key)"),
        #""metadata":"\#(token)""#, #""metadata":{"a":[{"Access_Token":"\#(token)"}]}"#,
        #""signaling_notify_metadata":{"password":"hunter2hunter2"}"#,
        #""sdp":"a=ice-pwd:icepwdicepwdicepwdicepwd""#,
      ]
      for members in odd {
        let peer = try await SignalingPeer(server.url)
        peer.connect(members)
        _ = try await peer.close()
      }
      let broken = try await SignalingPeer(server.url)
      broken.socket.send(text: #"{"type":"connect","role":"admin",\#(Self.metadata(token))}"#)
      _ = try await broken.close()
      #expect(!"\(server.configuration)".contains(Self.key))
      var dump = ""
      Swift.dump(server.configuration, to: &dump)
      #expect(!dump.contains(Self.key))
    }
    let text = log.text
    // It was logged, that is.
    #expect(text.contains("seen") && text.contains("ACCESS-TOKEN-CHANNEL"))
    for secret in [token, wrong, Self.key, "hunter2", "icepwd"] {
      #expect(!text.contains(secret), "\(secret)")
      #expect(!text.contains(secret.suffix(20)), "\(secret)")
    }
  }
}
