import SoraICE
import SoraSDP
import SoraServer
import SoraSignaling
import SoraTransport
import SoraVersion
import Testing

/// A server on real sockets.
@Suite(.timeLimit(.minutes(5)))
struct RealServerTests {
  /// `connect` exactly as the official Python SDK 2025.4.0 sends it.
  static let officialConnect = """
    {"type":"connect","role":"sendonly","channel_id":"sora-test",\
    "sora_client":"Sora Python SDK 2025.4.0",\
    "libwebrtc":"Shiguredo-Build M139.7258@{#3} (139.7258.3.0 23d8e44f)",\
    "environment":"[x86_64] Debian GNU/Linux 12 (bookworm)","video":true,"audio":true}
    """

  private func firstText(_ socket: WebSocketConnection) async -> String? {
    for await event in socket.messages {
      if case .text(let text) = event { return text }
      return nil
    }
    return nil
  }

  private func close(of socket: WebSocketConnection) async -> WebSocketClose? {
    for await event in socket.messages { if case .closed(let close) = event { return close } }
    return nil
  }

  @Test func anOfferHasEverythingThatClientsAskFor() async throws {
    let server = try await SoraServer.start()
    #expect(server.url == "ws://127.0.0.1:\(server.port)/signaling")
    let socket = try await WebSocketClient.connect(url: server.url)
    socket.send(text: Self.officialConnect)
    let json = try JSONValue(parsing: #require(await firstText(socket)))
    let object = try #require(json.objectValue)
    #expect(object["type"] == "offer")
    let id = try #require(object["connection_id"]?.stringValue)
    #expect(id.utf8.count == 26)
    #expect(object["client_id"]?.stringValue == id && object["bundle_id"]?.stringValue == id)
    #expect(object["channel_id"] == "sora-test")
    #expect(object["session_id"]?.stringValue?.utf8.count == 26)
    #expect(object["version"] == .string(SoraVersion.current))
    #expect(object["config"] == ["iceServers": [], "iceTransportPolicy": "all"])
    for key in [
      "simulcast", "simulcast_multicodec", "spotlight", "ignore_disconnect_websocket",
    ] {
      #expect(object[key] == false, "\(key)")
    }
    // Who says nothing of data-channel signaling gets it.
    for key in ["multistream", "audio", "video", "data_channel_signaling"] {
      #expect(object[key] == true, "\(key)")
    }
    #expect(object["audio_codec_type"] == "OPUS" && object["video_codec_type"] == "VP9")
    let channels = try #require(object["data_channels"]?.arrayValue)
    #expect(
      channels.map { $0["label"]?.stringValue }
        == ["signaling", "notify", "push", "stats", "rpc"])
    #expect(channels.allSatisfy { $0["direction"] == "sendrecv" })
    #expect(
      channels.filter { $0["compress"] == true }.map { $0["label"]?.stringValue }
        == ["signaling", "stats"])
    #expect(object["encodings"] == nil)
    let sdp = try SessionDescription(parsing: #require(object["sdp"]?.stringValue))
    try sdp.validate()
    #expect(object["mid"]?["audio"]?.stringValue == sdp.media[0].mid)
    #expect(object["mid"]?["video"]?.stringValue == sdp.media[1].mid)
    // Every address of the host, loopback included.
    #expect(sdp.media[0].candidates.count == server.mediaAddresses.count)
    #expect(sdp.media[0].candidates.contains { $0.contains(" 127.0.0.1 ") })
    #expect(await server.connections.count == 1)
    #expect(await server.channels == ["sora-test"])
    socket.send(text: #"{"type":"disconnect","reason":"NO-ERROR"}"#)
    let close = await close(of: socket)
    #expect(close?.code == .normal && close?.reason == "TYPE-DISCONNECT")
    await server.shutdown()
  }

  @Test func refusalsHaveACodeAndAReason() async throws {
    let server = try await SoraServer.start()
    let texts = [
      ("no JSON", "INVALID-MESSAGE"), (#"{"x":1}"#, "INVALID-MESSAGE"),
      (#"{"type":"connect","role":"admin","channel_id":"a"}"#, "INVALID-MESSAGE"),
      (#"{"type":"connect","role":"sendonly","channel_id":""}"#, "INVALID-CHANNEL_ID"),
      (
        #"{"type":"connect","role":"sendonly","channel_id":"a","multistream":false}"#,
        "LEGACY-STREAM"
      ),
      (
        #"{"type":"connect","role":"sendonly","channel_id":"a","spotlight":true,"spotlight_number":0}"#,
        "INVALID-SPOTLIGHT_NUMBER"
      ),
      (
        #"{"type":"connect","role":"sendonly","channel_id":"a","spotlight":true,"spotlight_focus_rid":"r3"}"#,
        "INVALID-"
      ),
      (
        #"{"type":"connect","role":"sendonly","channel_id":"a","spotlight":"yes"}"#, "INVALID-"
      ),
      (
        #"{"type":"connect","role":"sendonly","channel_id":"a","spotlight_focus_rid":"r1"}"#,
        "INVALID-SPOTLIGHT"
      ),
      (#"{"type":"pong"}"#, "FIRST-MESSAGE"),
    ]
    for (text, reason) in texts {
      let socket = try await WebSocketClient.connect(url: server.url)
      socket.send(text: text)
      let close = await close(of: socket)
      #expect(close?.code == .signalingError, "\(text)")
      #expect(close?.reason.hasPrefix(reason) == true, "\(text): \(close?.reason ?? "-")")
    }
    await server.shutdown()
  }

  @Test func shutdownTellsEveryClient() async throws {
    let server = try await SoraServer.start()
    let socket = try await WebSocketClient.connect(url: server.url)
    socket.send(text: Self.officialConnect)
    _ = await firstText(socket)
    await server.shutdown()
    #expect(await close(of: socket)?.code == .goingAway)
    await #expect(throws: SignalingError.self) {
      _ = try await WebSocketClient.connect(url: server.url)
    }
    // The events end, so that whoever follows them does too.
    var last: SFUEvent?
    for await event in server.events { last = event }
    guard case .left? = last else {
      Issue.record("no end was reported")
      return
    }
  }

  @Test func aPortOfTheRelayThatIsTakenIsATypedErrorAndLeavesNothingOpen() async throws {
    // An address of this host that no other test uses, so that nobody takes the port meanwhile.
    let ip = try #require(IPAddress("127.0.0.77"))
    let other = try await SignalingServer.start(host: "\(ip)") { _ in }
    let address = TransportAddress(ip: ip, port: UInt16(other.boundPort))
    var configuration = SoraServer.Configuration()
    configuration.mediaAddresses = [.loopbackV4]
    configuration.turn = .init(port: address.port, addresses: [ip])
    await #expect(throws: NetworkError.addressInUse(address)) {
      _ = try await SoraServer.start(configuration)
    }
    await other.stop()
    let server = try await SoraServer.start(configuration)
    #expect(server.turnURLs.first?.hasPrefix("turn:\(address)?") == true)
    await server.shutdown()
  }
}
