import SoraICE
import SoraSDP
import SoraServer
import SoraSignaling
import Synchronization
import Testing

/// What claims of a token and the reply of an authentication webhook settle, as the client's offer shows it.
@Suite(.timeLimit(.minutes(2))) struct GrantOfferTests {
  enum Way: CaseIterable { case token, webhook }

  /// Decides about each client in one of the ways.
  private struct Decider: Sendable {
    let server: SoraServer
    let way: Way
    let reply: Mutexed

    /// The offer for what a client asks for where something else was decided, both as members of JSON objects.
    func offer(_ asked: String, decided: String) async throws -> JSONValue {
      let peer = try await SignalingPeer(server.url)
      let settings = try JSONValue(parsing: "{\(decided)}").objectValue ?? [:]
      switch way {
      case .token:
        let token = TokenTests.token(.object(settings))
        peer.connect(TokenTests.metadata(token) + "," + asked)
      case .webhook:
        reply.set(.object(settings.merging(["allowed": true]) { $1 }))
        peer.connect(asked)
      }
      return try await peer.offer()
    }

    /// The section of such an offer that the client sends on.
    func section(_ kind: String, _ offer: JSONValue) throws -> MediaDescription {
      let sdp = try SessionDescription(parsing: try #require(offer["sdp"]?.stringValue))
      return try #require(sdp.media.first { $0.mid == offer["mid"]?[kind]?.stringValue })
    }
  }

  private final class Mutexed: Sendable {
    private let value = Mutex(JSONValue.null)
    func set(_ new: JSONValue) { value.withLock { $0 = new } }
    var json: JSONValue { value.withLock { $0 } }
  }

  private func deciding(_ way: Way, _ body: (Decider) async throws -> Void) async throws {
    let reply = Mutexed()
    try await WebhookReceiver.serving({ _ in .json(reply.json) }) { receiver in
      try await SoraServer.serving {
        switch way {
        case .token: $0.access.secretKey = SecretKey(TokenTests.key)
        case .webhook: $0.access.authWebhook = .init(url: receiver.url)
        }
      } _: {
        try await body(Decider(server: $0, way: way, reply: reply))
      }
    }
  }

  @Test(arguments: Way.allCases) func audioIsAsItWasDecided(_ way: Way) async throws {
    try await deciding(way) { decider in
      let asked = #""audio":{"codec_type":"OPUS","bit_rate":96,"opus_params":{"stereo":true}}"#
      var offer = try await decider.offer(asked, decided: #""audio_codec_type":"PCMU""#)
      #expect(offer["audio_codec_type"] == "PCMU")
      #expect(try decider.section("audio", offer).codecs.first?.name == "PCMU")

      offer = try await decider.offer(asked, decided: #""audio_bit_rate":32"#)
      #expect(offer["audio_bit_rate"] == 32 && offer["audio_codec_type"] == "OPUS")
      var section = try decider.section("audio", offer)
      #expect(section.maximumBitrate == 32_000)
      #expect(section.codecs.first?.parameters["maxaveragebitrate"] == "32000")
      #expect(section.codecs.first?.parameters["stereo"] == "1")

      offer = try await decider.offer(
        asked, decided: #""audio_opus_params":{"stereo":false,"usedtx":true,"ptime":40}"#)
      section = try decider.section("audio", offer)
      #expect(section.codecs.first?.parameters["stereo"] == "0")
      #expect(section.codecs.first?.parameters["usedtx"] == "1" && section.packetTime == 40)
      #expect(offer["audio_bit_rate"] == 96)

      // As it is without a decision.
      offer = try await decider.offer(asked, decided: "")
      section = try decider.section("audio", offer)
      #expect(section.codecs.first?.name == "opus" && section.maximumBitrate == 96_000)
      #expect(section.codecs.first?.parameters["usedtx"] == nil && section.packetTime == nil)
    }
  }

  @Test(arguments: Way.allCases) func videoIsAsItWasDecided(_ way: Way) async throws {
    let cases = [
      ("VP9", "vp9_params", #"{"profile_id":0}"#, #"{"profile_id":2}"#, "profile-id", "2"),
      ("AV1", "av1_params", #"{"profile":0}"#, #"{"profile":1}"#, "profile", "1"),
      (
        "H264", "h264_params", #"{"profile_level_id":"42e01f"}"#,
        #"{"profile_level_id":"640c1f"}"#, "profile-level-id", "640c1f"
      ),
      ("H265", "h265_params", #"{"level_id":93}"#, #"{"level_id":120}"#, "level-id", "120"),
    ]
    try await deciding(way) { decider in
      for (codec, key, wish, decision, parameter, value) in cases {
        // Whether it asks for that codec, or that is decided, too.
        for (asked, decided) in [
          (#""codec_type":"\#(codec)","\#(key)":\#(wish)"#, ""),
          (#""codec_type":"VP8""#, #""video_codec_type":"\#(codec)","#),
        ] {
          let offer = try await decider.offer(
            #""video":{\#(asked),"bit_rate":900}"#,
            decided: #"\#(decided)"video_\#(key)":\#(decision)"#)
          #expect(offer["video_codec_type"]?.stringValue == codec)
          #expect(offer["video_bit_rate"] == 900)
          let first = try decider.section("video", offer).codecs.first
          #expect(first?.name == codec && first?.parameters[parameter] == value)
        }
      }
    }
  }

  @Test(arguments: Way.allCases) func channelsAndWordsAreAsTheyWereDecided(
    _ way: Way
  ) async throws {
    try await deciding(way) { decider in
      let asked =
        ##""data_channels":[{"label":"#mine","direction":"sendrecv"}],"data_channel_signaling":true"##
      var offer = try await decider.offer(
        asked,
        decided: ##""data_channels":[{"label":"#given","direction":"recvonly","ordered":false}]"##)
      let own = (offer["data_channels"]?.arrayValue ?? []).filter {
        $0["label"]?.stringValue?.hasPrefix("#") == true
      }
      #expect(own.map { $0["label"] } == ["#given"])
      #expect(own.first?["direction"] == "recvonly" && own.first?["ordered"] == false)
      #expect(offer["ignore_disconnect_websocket"] == false)

      offer = try await decider.offer(
        #"\#(asked),"ignore_disconnect_websocket":false"#,
        decided: #""ignore_disconnect_websocket":true"#)
      #expect(offer["ignore_disconnect_websocket"] == true)

      offer = try await decider.offer(asked, decided: #""authz_metadata":{"seat":[4,null]}"#)
      #expect(offer["metadata"] == ["seat": [4, nil]])
      // The newer name of the two counts.
      offer = try await decider.offer(
        asked, decided: #""authz_metadata":"old","metadata":"new""#)
      #expect(offer["metadata"] == "new")
    }
  }

  /// What a token settles is what the webhook is asked about.
  @Test func theWebhookIsAskedAboutWhatTheTokenSays() async throws {
    let receiver = try await WebhookReceiver { _ in .json(["allowed": true]) }
    var configuration = SoraServer.Configuration()
    configuration.mediaAddresses = [.loopbackV4]
    configuration.access.secretKey = SecretKey(TokenTests.key)
    configuration.access.authWebhook = .init(url: receiver.url)
    let server = try await SoraServer.start(configuration)
    let filter = #"{"rules":[[{"field":"kind","operator":"is_in","values":["audio"]}]]}"#
    let claims = """
      {"audio_streaming_language_code":"ja-JP","spotlight":true,"simulcast":true,\
      "spotlight_number":2,"spotlight_focus_rid":"r2","spotlight_unfocus_rid":"none",\
      "simulcast_rid":"r1","forwarding_filter":\(filter),"forwarding_filters":[],\
      "signaling_notify_metadata":{"name":"n"},"ignore_disconnect_websocket":true}
      """
    let settled = try JSONValue(parsing: claims)
    let peer = try await SignalingPeer(server.url)
    let token = TokenTests.token(settled)
    peer.connect(
      TokenTests.metadata(token)
        + #","audio_streaming_language_code":"en-US","spotlight":true,"spotlight_focus_rid":"r0""#)
    _ = try await peer.offer()
    let body = try #require(receiver.bodies.first)
    for (key, value) in settled.objectValue ?? [:] { #expect(body[key] == value, "\(key)") }
    await server.shutdown()
    await receiver.stop()
  }
}
