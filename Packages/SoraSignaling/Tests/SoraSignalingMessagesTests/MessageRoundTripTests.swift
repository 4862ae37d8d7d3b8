import SoraSignalingMessages
import Testing

@Suite struct MessageRoundTripTests {
  static let everyMessage: [SignalingMessage] = {
    let notify = NotifyMessage(eventType: "connection.created") {
      $0.additional = ["new_key": [1]]
      $0.timestamp = "2025-01-01T00:00:00.000000Z"
      $0.role = .sendrecv
      $0.connectionID = "C"
      $0.audio = true
      $0.connectionTime = 0
      $0.channelConnections = 2
      $0.channelSendrecvConnections = 2
      $0.channelSendonlyConnections = 0
      $0.channelRecvonlyConnections = 0
      $0.turnTransportType = "udp"
      $0.metadata = ["name": "a"]
      $0.data = [
        NotifyPeer {
          $0.clientID = "c"
          $0.connectionID = "D"
          $0.metadata = .null
        }
      ]
      $0.rpcRids = ["none", "r0"]
      $0.unstableLevel = 3
    }
    let filter = ForwardingFilter(
      rules: [[.init(field: .kind, operator: .isNotIn, values: ["audio"])], []]
    ) {
      $0.name = "f"
      $0.priority = 1
      $0.action = .block
      $0.version = "v"
      $0.metadata = ["k": 1]
    }
    let channel = DataChannelOptions(label: "#chat") {
      $0.direction = .sendrecv
      $0.ordered = true
      $0.maxPacketLifeTime = 100
      $0.protocol = "p"
      $0.compress = false
      $0.header = [.init(length: 26)]
      $0.additional = ["x": true]
    }
    let audio = AudioOptions {
      $0.codecType = "OPUS"
      $0.bitRate = 64
      $0.opusParams = OpusParams {
        $0.channels = 2
        $0.clockRate = 48000
        $0.maxPlaybackRate = 48000
        $0.minPTime = 10
        $0.pTime = 20
        $0.stereo = true
        $0.spropStereo = true
        $0.useInbandFEC = true
        $0.useDTX = false
      }
    }
    let video = VideoOptions {
      $0.codecType = "VP9"
      $0.bitRate = 2500
      $0.vp9Params = VP9Params { $0.profileID = 0 }
      $0.av1Params = AV1Params { $0.profile = 0 }
      $0.h264Params = H264Params {
        $0.profileLevelID = "42e01f"
        $0.bFrame = false
      }
      $0.h265Params = H265Params {
        $0.levelID = 93
        $0.bFrame = true
      }
    }
    let full = ConnectMessage(role: .sendrecv, channelID: "room é") {
      $0.clientID = "c"
      $0.bundleID = "b"
      $0.metadata = ["access_token": "t"]
      $0.notifyMetadata = .null
      $0.sdp = "v=0\r\n"
      $0.soraClient = "Sora Swift SDK"
      $0.webRTCVersion = "w"
      $0.environment = "Linux"
      $0.audio = .options(audio)
      $0.video = .options(video)
      $0.multistream = true
      $0.simulcast = true
      $0.simulcastRid = .r1
      $0.simulcastRequestRid = SignalingRid.none
      $0.simulcastMulticodec = false
      $0.spotlight = true
      $0.spotlightNumber = 3
      $0.spotlightFocusRid = .r2
      $0.spotlightUnfocusRid = SignalingRid.none
      $0.audioStreamingLanguageCode = "ja-JP"
      $0.dataChannelSignaling = true
      $0.ignoreDisconnectWebSocket = true
      $0.dataChannels = [channel]
      $0.forwardingFilter = filter
      $0.forwardingFilters = [filter, filter]
      $0.redirect = true
      $0.additional = ["future": ["a": 1]]
    }
    let configuration = ICEConfiguration(
      iceServers: [
        .init(urls: ["turn:192.0.2.1:3478?transport=udp"], username: "u", credential: "c")
      ],
      iceTransportPolicy: "relay")
    let encoding = SignalingEncoding {
      $0.rid = "r0"
      $0.active = false
      $0.maxBitrate = 1000
      $0.minBitrate = 10
      $0.maxFramerate = 29.97
      $0.scaleResolutionDownBy = 4
      $0.scaleResolutionDownTo = .init(maxWidth: 320, maxHeight: 180)
      $0.scalabilityMode = "L1T1"
      $0.adaptivePtime = true
      $0.networkPriority = "high"
      $0.codec = ["mimeType": "video/VP8"]
    }
    let offer = OfferMessage(sdp: "v=0", connectionID: "ID") {
      $0.clientID = "c"
      $0.bundleID = "b"
      $0.channelID = "ch"
      $0.sessionID = "s"
      $0.version = "2025.1.0"
      $0.configuration = configuration
      $0.mid = ["audio": "audio_x", "video": "video_x"]
      $0.encodings = [encoding]
      $0.simulcast = true
      $0.simulcastMulticodec = false
      $0.spotlight = false
      $0.multistream = true
      $0.metadata = ["authz": true]
      $0.dataChannelSignaling = true
      $0.ignoreDisconnectWebSocket = false
      $0.dataChannels = [channel]
      $0.rpcMethods = ["m"]
      $0.audio = true
      $0.audioCodecType = "OPUS"
      $0.audioBitRate = 64
      $0.video = true
      $0.videoCodecType = "VP8"
      $0.videoBitRate = 500
    }
    return [
      .connect(ConnectMessage(role: .recvonly, channelID: "sora")), .connect(full),
      .connect(
        ConnectMessage(role: .sendonly, channelID: "s") {
          $0.audio = .disabled
          $0.video = .enabled
        }),
      .redirect(RedirectMessage(location: "wss://node/signaling")), .offer(offer),
      .offer(OfferMessage(sdp: "v=0", connectionID: "ID")), .answer(AnswerMessage(sdp: "v=0")),
      .candidate(CandidateMessage(candidate: "candidate:1 1 udp 1 192.0.2.1 9 typ host")),
      .candidate(
        CandidateMessage(candidate: "") {
          $0.sdpMid = "0"
          $0.sdpMLineIndex = 0
          $0.usernameFragment = "u"
        }),
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
