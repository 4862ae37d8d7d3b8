import SoraSignalingMessages
import Testing

/// Shapes that official clients send and expect.
@Suite struct MessageVectorTests {
  private func keys(_ message: SignalingMessage) -> Set<String> {
    Set(message.json.objectValue?.keys.map { $0 } ?? [])
  }

  @Test func readsConnectOfTheOfficialPythonClient() throws {
    let message = try SignalingMessage(
      parsing: #"""
        {"type":"connect","role":"sendonly","channel_id":"sora","sora_client":"Sora Python SDK 2025.4.0",
        "libwebrtc":"Shiguredo-Build M139.7258@{#3} (139.7258.3.0 23d8e44f)",
        "environment":"[x86_64] Debian GNU/Linux 12 (bookworm)","video":true,"audio":true}
        """#)
    guard case .connect(let connect) = message else {
      Issue.record("not a connect: \(message)")
      return
    }
    #expect(connect.role == .sendonly)
    #expect(connect.video == .enabled)
    #expect(connect.audio == .enabled)
    #expect(connect.sdp == nil && connect.multistream == nil && connect.additional.isEmpty)
    #expect(
      keys(message) == [
        "type", "role", "channel_id", "sora_client", "libwebrtc", "environment", "video", "audio",
      ])
  }

  @Test func writesNothingThatIsUnset() {
    #expect(
      keys(.connect(ConnectMessage(role: .recvonly, channelID: "c"))) == [
        "type", "role", "channel_id",
      ])
  }

  @Test func writesConnectOfTheMobileClientWithDefaults() {
    let connect = ConnectMessage(role: .sendonly, channelID: "c") {
      $0.sdp = "v=0"
      $0.soraClient = "s"
      $0.webRTCVersion = "w"
      $0.environment = "e"
      $0.multistream = true
    }
    #expect(
      keys(.connect(connect)) == [
        "type", "role", "channel_id", "sdp", "multistream", "sora_client", "libwebrtc",
        "environment",
      ])
  }

  @Test func mediaIsBooleanOrObjectWithOnlyTheGivenKeys() throws {
    var connect = ConnectMessage(role: .sendonly, channelID: "c")
    connect.video = .options(VideoOptions { $0.codecType = "VP8" })
    connect.audio = .options(AudioOptions { $0.bitRate = 64 })
    let json = SignalingMessage.connect(connect).json
    #expect(json["video"] == ["codec_type": "VP8"])
    #expect(json["audio"] == ["bit_rate": 64])
    connect.video = .disabled
    #expect(SignalingMessage.connect(connect).json["video"] == false)
  }

  @Test func readsTypedCodecParameters() throws {
    let message = try SignalingMessage(
      parsing: #"""
        {"type":"connect","role":"sendonly","channel_id":"c",
        "audio":{"opus_params":{"stereo":true,"minptime":10}},
        "video":{"vp9_params":{"profile_id":2},"h264_params":{"profile_level_id":"42e01f"}}}
        """#)
    guard case .connect(let connect) = message else {
      Issue.record("not a connect: \(message)")
      return
    }
    #expect(connect.audio?.options?.opusParams?.minPTime == 10)
    #expect(connect.video?.options?.vp9Params?.profileID == 2)
    #expect(connect.video?.options?.h264Params?.profileLevelID == "42e01f")
    #expect(connect.video?.options?.h265Params == nil)
    #expect { try H265Params.read(["level_id": "x"], path: "video.h265_params") } throws: {
      ($0 as? SignalingError)?.field == "video.h265_params.level_id"
    }
  }

  @Test func readsAnOfferOfARelayOnlyServer() throws {
    let message = try SignalingMessage(
      parsing: #"""
        {"type":"offer","sdp":"v=0","connection_id":"ABC","client_id":"ABC","mid":{"audio":"a1","video":null},
        "config":{"iceServers":[{"urls":["turn:h:1"],"username":"u","credential":"p","extra":1}],
        "iceTransportPolicy":"relay"},"encodings":[{"rid":"r0","scaleResolutionDownBy":4.0}],
        "data_channels":[],"something_new":{"x":[1]}}
        """#)
    guard case .offer(let offer) = message else {
      Issue.record("not an offer")
      return
    }
    #expect(offer.mid == ["audio": "a1"])
    #expect(offer.configuration?.iceServers.first?.credential == "p")
    #expect(offer.configuration?.iceTransportPolicy == "relay")
    #expect(offer.encodings?.first?.isActive == true)
    #expect(offer.dataChannels == [])
    #expect(offer.additional == ["something_new": ["x": [1]]])
  }

  @Test func switchedToleratesAbsenceButAlwaysSaysIt() throws {
    let message = try SignalingMessage(parsing: #"{"type":"switched"}"#)
    #expect(message == .switched(SwitchedMessage(ignoreDisconnectWebSocket: false)))
    #expect(message.json["ignore_disconnect_websocket"] == false)
  }

  @Test func explicitNullMetadataIsKept() throws {
    let message = try SignalingMessage(
      parsing: #"{"type":"connect","role":"recvonly","channel_id":"c","metadata":null,"sdp":null}"#)
    guard case .connect(let connect) = message else { return }
    #expect(connect.metadata == .some(.null))
    #expect(connect.sdp == nil)
    #expect(connect.notifyMetadata == nil)
  }

  @Test(arguments: [
    (#"[]"#, "message", SignalingError.Code.invalidField),
    (#"{"a":1}"#, "type", .missingField),
    (#"{"type":1}"#, "type", .invalidField),
    (#"{"type":"offer","sdp":"v=0"}"#, "offer.connection_id", .missingField),
    (#"{"type":"offer","sdp":7,"connection_id":"x"}"#, "offer.sdp", .invalidField),
    (#"{"type":"connect","role":"boss","channel_id":"c"}"#, "connect.role", .invalidField),
    (#"{"type":"connect","role":"recvonly"}"#, "connect.channel_id", .missingField),
    (
      #"{"type":"connect","role":"recvonly","channel_id":"c","video":"yes"}"#, "connect.video",
      .invalidField
    ),
    (
      #"{"type":"connect","role":"recvonly","channel_id":"c","video":{"bit_rate":1.5}}"#,
      "connect.video.bit_rate", .invalidField
    ),
    (
      #"{"type":"connect","role":"recvonly","channel_id":"c","data_channels":[{"label":"a"},{}]}"#,
      "connect.data_channels[1].label", .missingField
    ),
    (
      #"{"type":"connect","role":"recvonly","channel_id":"c","forwarding_filters":[{"rules":[[{"field":"k"}]]}]}"#,
      "connect.forwarding_filters[0].rules[0][0].field", .invalidField
    ),
    (#"{"type":"notify"}"#, "notify.event_type", .missingField),
    (#"{"type":"close","code":1000}"#, "close.reason", .missingField),
  ])
  func errorsNameTheField(text: String, field: String, code: SignalingError.Code) {
    #expect { try SignalingMessage(parsing: text) } throws: {
      guard let error = $0 as? SignalingError else { return false }
      return error.field == field && error.code == code && error.description.contains(field)
        && !error.wayOut.isEmpty
    }
  }
}
