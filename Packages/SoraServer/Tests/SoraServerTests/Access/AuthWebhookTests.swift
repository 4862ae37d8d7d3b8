import SoraICE
import SoraServer
import SoraSignaling
import Synchronization
import Testing

/// Who may connect where a webhook decides.
@Suite(.timeLimit(.minutes(5))) struct AuthWebhookTests {
  private func serving(
    _ reply: @escaping WebhookReceiver.Reply, timeout: Duration = .seconds(5),
    key: String? = nil, _ log: LogRecorder = LogRecorder(),
    _ body: (SoraServer, WebhookReceiver) async throws -> Void
  ) async throws {
    try await WebhookReceiver.serving(reply) { receiver in
      try await SoraServer.serving {
        $0.logger = log.logger
        $0.access.authWebhook = .init(url: receiver.url, timeout: timeout)
        $0.access.secretKey = key.flatMap { SecretKey($0) }
      } _: {
        try await body($0, receiver)
      }
    }
  }

  @Test func theWebhookIsToldWhoComes() async throws {
    try await serving({ _ in .json(["allowed": true]) }) { server, receiver in
      let first = try await SignalingPeer(server.url)
      first.connect(
        channel: "room é",
        #"""
        "client_id":"me","metadata":{"access_token":"T","n":[1]},"simulcast":true,
        "sora_client":"Sora iOS SDK 2025.1.1","environment":"iPhone","libwebrtc":"M132",
        "audio":{"bit_rate":64},"video":{"codec_type":"H264","h264_params":{"b_frame":true}},
        "data_channels":[{"label":"#a","direction":"sendrecv"}],"ignore_disconnect_websocket":true
        """#)
      let offer = try await first.offer()
      let second = try await SignalingPeer(server.url)
      second.connect(#""audio":false"#)
      let secondID = try await second.offer()["connection_id"]
      let request = try #require(receiver.requests.first)
      #expect(request.method == "POST" && request.path == "/hook")
      #expect(request.headers["content-type"] == "application/json")
      #expect(request.headers["sora-connection-id"] == offer["connection_id"]?.stringValue)
      let body = receiver.bodies[0]
      let expected: [String: JSONValue] = [
        "role": "sendrecv", "channel_id": "room é", "client_id": "me", "multistream": true,
        "metadata": ["access_token": "T", "n": [1]], "simulcast": true, "spotlight": false,
        "audio": true, "audio_bit_rate": 64, "video": true, "video_codec_type": "H264",
        "video_h264_params": ["b_frame": true], "data_channel_signaling": true,
        "ignore_disconnect_websocket": true, "channel_connections": 0,
        "channel_sendrecv_connections": 0, "channel_sendonly_connections": 0,
        "channel_recvonly_connections": 0,
        "data_channels": [["label": "#a", "direction": "sendrecv"]],
        "sora_client": [
          "raw": "Sora iOS SDK 2025.1.1", "type": "Sora iOS SDK", "version": "2025.1.1",
          "environment": "iPhone", "libwebrtc": "M132",
        ],
      ]
      for (key, value) in expected { #expect(body[key] == value, "\(key)") }
      #expect(body["connection_id"] == offer["connection_id"])
      // Who names none has its connection's id.
      #expect(body["bundle_id"] == offer["connection_id"])
      #expect(body["remote_address"] == "127.0.0.1" && body["x_forwarded_for"] == nil)
      #expect(body["timestamp"]?.stringValue?.hasSuffix("Z") == true)
      #expect(receiver.bodies[1]["connection_id"] == secondID)
      #expect(receiver.bodies[1]["audio"] == false && receiver.bodies[1]["video"] == true)
      #expect(receiver.bodies[1]["metadata"] == nil)
    }
  }

  @Test func theReplyWins() async throws {
    let reply: JSONValue = [
      "allowed": true, "client_id": "chosen", "bundle_id": "b", "audio": false,
      "video_codec_type": "VP8", "video_bit_rate": 900, "data_channel_signaling": false,
      "metadata": ["seat": 3], "signaling_notify_metadata": ["name": "n"], "unknown_key": [1],
      "rpc_methods": [], "simulcast_encodings": [["rid": "r0", "active": false]],
    ]
    try await serving({ _ in .json(reply) }) { server, _ in
      let peer = try await SignalingPeer(server.url)
      peer.connect(
        #""client_id":"mine","video":{"codec_type":"AV1"},"data_channel_signaling":true"#)
      let offer = try await peer.offer()
      #expect(offer["client_id"] == "chosen" && offer["bundle_id"] == "b")
      #expect(offer["audio"] == false && offer["video_codec_type"] == "VP8")
      #expect(offer["video_bit_rate"] == 900 && offer["metadata"] == ["seat": 3])
      #expect(offer["data_channel_signaling"] == false && offer["data_channels"] == nil)
    }
  }

  @Test func aRefusalIsPassedOn() async throws {
    let log = LogRecorder()
    let reply: WebhookReceiver.Reply = { body in
      body?["client_id"] == body?["connection_id"]
        ? .json(["allowed": false]) : .json(["allowed": false, "reason": "NO-SUCH-USER"])
    }
    try await serving(reply, log) { server, _ in
      let named = try await SignalingPeer(server.url)
      named.connect(#""client_id":"x""#)
      let close = try await named.close()
      #expect(close?.code == .signalingError && close?.reason == "NO-SUCH-USER")
      let other = try await SignalingPeer(server.url)
      other.connect()
      #expect(try await other.close()?.reason == "AUTH-WEBHOOK-REFUSED")
      #expect(await server.connections.isEmpty)
    }
    #expect(log.text.contains("NO-SUCH-USER"))
  }

  @Test func whatIsNoReplyRefuses() async throws {
    let log = LogRecorder()
    let replies: [(HTTPResponse, String)] = [
      (HTTPResponse(status: 500, text: "{}"), "status 500"),
      (HTTPResponse(status: 404, text: "{\"allowed\":true}"), "status 404"),
      (
        HTTPResponse(status: 302, headers: ["Location": "http://127.0.0.1:1/"]), "status 302"
      ),
      (HTTPResponse(text: ""), "can't be used"), (HTTPResponse(text: "{"), "can't be used"),
      (HTTPResponse(text: "<html>"), "can't be used"),
      (.json([]), "allowed"), (.json([:]), "allowed"), (.json(["allowed": "true"]), "allowed"),
      (.json(["allowed": 1]), "allowed"),
      (.json(["allowed": true, "video_bit_rate": "x"]), "reply.video_bit_rate"),
      (.json(["allowed": true, "audio_bit_rate": 5000]), "reply.audio_bit_rate"),
      (.json(["allowed": true, "client_id": ""]), "reply.client_id"),
      (
        HTTPResponse(text: String(repeating: "[", count: 100_000)), "can't be used"
      ),
      (
        HTTPResponse(
          text: "{\"allowed\":true,\"a\":\"\(String(repeating: "a", count: 300_000))\"}"),
        "too large"
      ),
    ]
    let next = Mutex(0)
    try await serving(
      { _ in replies[next.withLock { $0 }].0 }, log
    ) { server, _ in
      for (index, (_, detail)) in replies.enumerated() {
        next.withLock { $0 = index }
        let peer = try await SignalingPeer(server.url)
        peer.connect()
        let close = try await peer.close()
        #expect(close?.code == .signalingError)
        #expect(close?.reason == "AUTH-WEBHOOK-ERROR: try again later")
        #expect(
          log.text.split(separator: "\n").last { $0.contains("not let in") }?
            .contains(detail) == true, "\(detail)")
      }
    }
  }

  @Test func aLateReplyRefusesAndAWebhookThatIsNotThereToo() async throws {
    let log = LogRecorder()
    let late: WebhookReceiver.Reply = { _ in
      try? await Task.sleep(for: .seconds(2))
      return .json(["allowed": true])
    }
    try await serving(late, timeout: .milliseconds(150), log) { server, receiver in
      let peer = try await SignalingPeer(server.url)
      peer.connect()
      #expect(try await peer.close()?.reason == "AUTH-WEBHOOK-ERROR: try again later")
      #expect(log.text.contains("did not reply within"))
      await receiver.stop()
      let other = try await SignalingPeer(server.url)
      other.connect()
      #expect(try await other.close()?.code == .signalingError)
    }
  }

  @Test func whatAClientSendsMeanwhileWaitsInOrder() async throws {
    let gate = Gate()
    let reply: WebhookReceiver.Reply = { _ in
      await gate.wait()
      return .json(["allowed": true])
    }
    try await serving(reply) { server, receiver in
      let peer = try await SignalingPeer(server.url)
      peer.connect()
      // An answer that can't be read ends the connection: behind the offer, not before.
      peer.socket.send(text: #"{"type":"candidate","candidate":""}"#)
      peer.socket.send(text: #"{"type":"answer","sdp":"v=0"}"#)
      #expect(await waits { !receiver.requests.isEmpty })
      // Somebody else isn't held up.
      #expect(await server.connections.isEmpty)
      await gate.open()
      _ = try await peer.offer()
      #expect(try await peer.close()?.reason.hasPrefix("INVALID-ANSWER") == true)
      #expect(receiver.requests.count == 1)
    }
  }

  @Test func whoHasGoneMeanwhileGetsNoConnection() async throws {
    let gate = Gate()
    let reply: WebhookReceiver.Reply = { _ in
      await gate.wait()
      return .json(["allowed": true])
    }
    try await serving(reply) { server, receiver in
      let peer = try await SignalingPeer(server.url)
      peer.connect()
      #expect(await waits { !receiver.requests.isEmpty })
      peer.socket.close()
      _ = try await peer.close()
      await gate.open()
      let next = try await SignalingPeer(server.url)
      next.connect()
      let id = try await next.offer()["connection_id"]?.stringValue
      #expect(await waits { await server.connections.map(\.connectionID) == [id] })
    }
  }

  @Test func theTokenIsCheckedFirstAndTheWebhookHasTheLastWord() async throws {
    let reply: WebhookReceiver.Reply = { _ in .json(["allowed": true, "video_bit_rate": 400]) }
    try await serving(reply, key: TokenTests.key) { server, receiver in
      let stranger = try await SignalingPeer(server.url)
      stranger.connect()
      #expect(try await stranger.close()?.reason.hasPrefix("ACCESS-TOKEN-MISSING") == true)
      #expect(receiver.requests.isEmpty)
      let peer = try await SignalingPeer(server.url)
      let token = TokenTests.token([
        "video_codec_type": "H265", "video_bit_rate": 800, "exp": 4_000_000_000,
      ])
      peer.connect(TokenTests.metadata(token))
      let offer = try await peer.offer()
      #expect(offer["video_codec_type"] == "H265" && offer["video_bit_rate"] == 400)
      #expect(receiver.bodies.first?["video_bit_rate"] == 800)
      #expect(receiver.bodies.first?["video_codec_type"] == "H265")
    }
  }

  @Test(arguments: [
    "", "hook", "ftp://127.0.0.1/", "http://", "http:///x", "http://user:password@127.0.0.1/",
  ])
  func aURLThatIsNoneIsATypedError(_ url: String) async {
    var configuration = SoraServer.Configuration()
    configuration.access.authWebhook = .init(url: url)
    await #expect(throws: SignalingError.self) { _ = try await SoraServer.start(configuration) }
    configuration.access.authWebhook = nil
    configuration.access.eventWebhook = .init(url: url)
    await #expect(throws: SignalingError.self) { _ = try await SoraServer.start(configuration) }
  }
}

/// Holds tasks until it is opened.
actor Gate {
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func wait() async {
    if isOpen { return }
    await withCheckedContinuation { waiting.append($0) }
  }

  func open() {
    isOpen = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }
}
