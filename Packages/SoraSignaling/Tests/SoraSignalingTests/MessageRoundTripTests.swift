import SoraSignaling
import Testing

@Suite struct MessageRoundTripTests {
  static let everyMessage: [SignalingMessage] = {
    var notify = NotifyMessage(eventType: "connection.created", additional: ["new_key": [1]])
    notify.timestamp = "2025-01-01T00:00:00.000000Z"
    notify.role = .sendrecv
    notify.connectionID = "C"
    notify.audio = true
    notify.connectionTime = 0
    notify.channelConnections = 2
    notify.channelSendrecvConnections = 2
    notify.channelSendonlyConnections = 0
    notify.channelRecvonlyConnections = 0
    notify.turnTransportType = "udp"
    notify.metadata = ["name": "a"]
    notify.data = [.init(clientID: "c", connectionID: "D", metadata: .null)]
    notify.rpcRids = ["none", "r0"]
    notify.unstableLevel = 3
    let filter = ForwardingFilter(
      name: "f", priority: 1, action: .block,
      rules: [[.init(field: .kind, operator: .isNotIn, values: ["audio"])], []], version: "v",
      metadata: ["k": 1])
    let channel = DataChannelOptions(
      label: "#chat", direction: .sendrecv, ordered: true, maxPacketLifeTime: 100,
      protocol: "p", compress: false, header: [.init(length: 26)], additional: ["x": true])
    let full = ConnectMessage(
      role: .sendrecv, channelID: "room é", clientID: "c", bundleID: "b",
      metadata: ["access_token": "t"], notifyMetadata: .null, sdp: "v=0\r\n",
      soraClient: "Sora Swift SDK", webRTCVersion: "w", environment: "Linux",
      audio: .options(
        .init(
          codecType: "OPUS", bitRate: 64,
          opusParams: OpusParams(
            channels: 2, clockRate: 48000, maxPlaybackRate: 48000, minPTime: 10, pTime: 20,
            stereo: true, spropStereo: true, useInbandFEC: true, useDTX: false
          ).json)),
      video: .options(
        .init(
          codecType: "VP9", bitRate: 2500, vp9Params: VP9Params(profileID: 0).json,
          av1Params: AV1Params(profile: 0).json,
          h264Params: H264Params(profileLevelID: "42e01f", bFrame: false).json,
          h265Params: H265Params(levelID: 93, bFrame: true).json)),
      multistream: true, simulcast: true, simulcastRid: .r1, simulcastRequestRid: SignalingRid.none,
      simulcastMulticodec: false, spotlight: true, spotlightNumber: 3, spotlightFocusRid: .r2,
      spotlightUnfocusRid: SignalingRid.none, audioStreamingLanguageCode: "ja-JP",
      dataChannelSignaling: true, ignoreDisconnectWebSocket: true, dataChannels: [channel],
      forwardingFilter: filter, forwardingFilters: [filter, filter], redirect: true,
      additional: ["future": ["a": 1]])
    let configuration = OfferMessage.Configuration(
      iceServers: [
        .init(urls: ["turn:192.0.2.1:3478?transport=udp"], username: "u", credential: "c")
      ],
      iceTransportPolicy: "relay")
    let offer = OfferMessage(
      sdp: "v=0", connectionID: "ID", clientID: "c", bundleID: "b", channelID: "ch",
      sessionID: "s", version: "2025.1.0", configuration: configuration,
      mid: ["audio": "audio_x", "video": "video_x"],
      encodings: [
        .init(
          rid: "r0", active: false, maxBitrate: 1000, minBitrate: 10, maxFramerate: 29.97,
          scaleResolutionDownBy: 4, scaleResolutionDownTo: .init(maxWidth: 320, maxHeight: 180),
          scalabilityMode: "L1T1", adaptivePtime: true, networkPriority: "high",
          codec: ["mimeType": "video/VP8"])
      ],
      simulcast: true, simulcastMulticodec: false, spotlight: false, multistream: true,
      metadata: ["authz": true], dataChannelSignaling: true, ignoreDisconnectWebSocket: false,
      dataChannels: [channel], rpcMethods: ["m"], audio: true, audioCodecType: "OPUS",
      audioBitRate: 64, video: true, videoCodecType: "VP8", videoBitRate: 500)
    return [
      .connect(ConnectMessage(role: .recvonly, channelID: "sora")), .connect(full),
      .connect(
        ConnectMessage(role: .sendonly, channelID: "s", audio: .disabled, video: .enabled)),
      .redirect(RedirectMessage(location: "wss://node/signaling")), .offer(offer),
      .offer(OfferMessage(sdp: "v=0", connectionID: "ID")), .answer(AnswerMessage(sdp: "v=0")),
      .candidate(CandidateMessage(candidate: "candidate:1 1 udp 1 192.0.2.1 9 typ host")),
      .candidate(
        CandidateMessage(candidate: "", sdpMid: "0", sdpMLineIndex: 0, usernameFragment: "u")),
      .reOffer(ReOfferMessage(sdp: "v=0")),
      .reOffer(ReOfferMessage(sdp: "v=0", configuration: configuration)),
      .reAnswer(ReAnswerMessage(sdp: "v=0")), .update(UpdateMessage(sdp: "v=0")),
      .ping(PingMessage()), .ping(PingMessage(statisticsEnabled: true)), .pong(PongMessage()),
      .pong(PongMessage(statistics: [["id": "a", "type": "codec", "timestamp": 1.5]])),
      .notify(notify), .push(PushMessage(data: ["k": "v"])),
      .switched(SwitchedMessage(ignoreDisconnectWebSocket: true)),
      .disconnect(DisconnectMessage()), .disconnect(DisconnectMessage(reason: "NO-ERROR")),
      .close(CloseMessage(code: 1000, reason: "LIFETIME-EXPIRED")), .reqStats(ReqStatsMessage()),
      .stats(StatsMessage(reports: [["id": "a"]])),
      .unknown(UnknownMessage(type: "future", json: ["type": "future", "a": 1])),
    ]
  }()

  @Test(arguments: everyMessage.indices)
  func survivesTheWire(index: Int) throws {
    let message = Self.everyMessage[index]
    #expect(try SignalingMessage(parsing: message.text) == message)
    #expect(try SignalingMessage(parsing: message.bytes) == message)
    #expect(message.text.hasPrefix(#"{"type":"\#(message.typeName)""#))
  }

  @Test func tenThousandMutationsNeverTrap() {
    var random = SplitMix(state: 2)
    let seeds = Self.everyMessage.map(\.bytes)
    var accepted = 0
    for index in 0..<12_000 {
      var bytes = seeds[index % seeds.count]
      for _ in 0...random.below(4) {
        let at = random.below(bytes.count)
        switch random.below(5) {
        case 0: bytes[at] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.remove(at: at)
        case 2: bytes.insert(Array(#"{}[]",:-0e\u"#.utf8)[random.below(12)], at: at)
        case 3: bytes.removeLast(random.below(bytes.count))
        default: bytes.insert(contentsOf: bytes[at..<min(bytes.count, at + 9)], at: at)
        }
        if bytes.isEmpty { bytes = [0x7B] }
      }
      if let message = try? SignalingMessage(parsing: bytes) {
        accepted += 1
        // What was read must survive being written.
        #expect((try? SignalingMessage(parsing: message.text)) == message)
      }
    }
    #expect(accepted > 100)
  }
}

/// A fixed sequence, so that a failure repeats.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(bound, 1))) }
}
