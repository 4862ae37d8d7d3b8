import Foundation
import SoraSDK
import SoraSignaling
import SoraVersion
import Testing

/// What `connect` carries for which configuration.
@Suite(.timeLimit(.minutes(5))) struct ConnectMessageTests {
  /// The JSON object that a server gets.
  private func connect(
    _ role: Role = .recvonly, _ change: (inout Configuration) -> Void
  ) async throws -> [String: JSONValue] {
    let server = try await ScriptedSora { connection, _ in
      connection.close(code: .signalingError, reason: "SEEN")
    }
    var configuration = server.configuration(role)
    change(&configuration)
    _ = try await Attempt(configuration, face: .tasks).result()
    let message = try #require(server.received.elements.first)
    return try #require(message.json.objectValue)
  }

  @Test func defaults() async throws {
    let keys = try await connect { _ in }.keys.sorted()
    #expect(
      keys == [
        "channel_id", "environment", "libwebrtc", "multistream", "role", "sora_client", "type",
      ])
    #expect(try await connect(.sendonly) { _ in }["sdp"]?.stringValue?.contains("opus") == true)
  }

  /// Versions are the project's own, and nothing else is claimed.
  @Test func whoConnects() async throws {
    let json = try await connect { _ in }
    #expect(json["sora_client"] == .string("Sora Swift SDK \(SoraVersion.current)"))
    #expect(json["libwebrtc"] == .string("Sora Swift WebRTC \(SoraVersion.current)"))
    #expect(json["environment"] == .string(DeviceInfo.current.description))
  }

  @Test func wishesForOpus() async throws {
    struct Wishes: Encodable { let stereo = true, ptime = 40, usedtx = false }
    let json = try await connect(.sendonly) { $0.audioOpusParams = Wishes() }
    #expect(
      json["audio"] == ["opus_params": ["ptime": 40, "stereo": true, "usedtx": false]])
  }

  @Test func wishesThatThisVersionDoesNotKnow() async throws {
    let json = try await connect(.sendonly) {
      $0.dataChannels = [["label": "#chat", "direction": "sendrecv", "future": [1, true]]]
      $0.videoH264Params = ["profile_level_id": "42e01f", "future": "x"]
    }
    #expect(
      json["data_channels"] == [
        ["label": "#chat", "direction": "sendrecv", "future": [1, true]]
      ])
    #expect(
      json["video"] == ["h264_params": ["profile_level_id": "42e01f", "future": "x"]])
  }

  @Test func wishesForH265() async throws {
    let json = try await connect(.sendonly) {
      $0.videoCodec = .h265
      $0.videoH265Params = ["level_id": 120]
    }
    #expect(json["video"] == ["codec_type": "H265", "h265_params": ["level_id": 120]])
  }

  @Test func everything() async throws {
    struct Metadata: Encodable { let access_token: String }
    let json = try await connect(.sendrecv) {
      $0.clientId = "client"
      $0.bundleId = "bundle"
      $0.multistreamEnabled = false
      $0.videoCodec = .vp8
      $0.videoBitRate = 800
      $0.videoVp9Params = ["profile_id": 2]
      $0.audioCodec = .opus
      $0.audioBitRate = 64
      $0.simulcastEnabled = true
      $0.simulcastMulticodec = true
      $0.simulcastRid = .r1
      $0.simulcastRequestRid = .none
      $0.spotlightEnabled = .enabled
      $0.spotlightNumber = 3
      $0.spotlightFocusRid = .r2
      $0.spotlightUnfocusRid = .unspecified
      $0.signalingConnectMetadata = Metadata(access_token: "secret")
      $0.signalingConnectNotifyMetadata = ["name": "Ada"]
      $0.dataChannelSignaling = true
      $0.ignoreDisconnectWebSocket = false
      $0.dataChannels = [["label": "#chat", "direction": "sendrecv", "compress": true]]
      $0.audioStreamingLanguageCode = "ja-JP"
      $0.forwardingFilters = [
        SoraSDK.ForwardingFilter(
          name: "f", priority: 1, action: .block,
          rules: [[ForwardingFilterRule(field: .kind, operator: .isIn, values: ["audio"])]],
          version: "1", metadata: ["m": 1])
      ]
    }
    #expect(json["client_id"] == "client" && json["bundle_id"] == "bundle")
    #expect(json["multistream"] == true)
    #expect(
      json["video"] == ["codec_type": "VP8", "bit_rate": 800, "vp9_params": ["profile_id": 2]])
    #expect(json["audio"] == ["codec_type": "OPUS", "bit_rate": 64])
    #expect(json["simulcast"] == true && json["simulcast_rid"] == "r1")
    #expect(json["simulcast_multicodec"] == true)
    #expect(json["simulcast_request_rid"] == "none")
    #expect(json["spotlight"] == true && json["spotlight_number"] == 3)
    #expect(json["spotlight_focus_rid"] == "r2" && json["spotlight_unfocus_rid"] == nil)
    #expect(json["metadata"] == ["access_token": "secret"])
    #expect(json["signaling_notify_metadata"] == ["name": "Ada"])
    #expect(json["data_channel_signaling"] == true && json["ignore_disconnect_websocket"] == false)
    #expect(
      json["data_channels"] == [["label": "#chat", "direction": "sendrecv", "compress": true]])
    #expect(json["audio_streaming_language_code"] == "ja-JP")
    #expect(
      json["forwarding_filters"] == [
        [
          "name": "f", "priority": 1, "action": "block", "version": "1", "metadata": ["m": 1],
          "rules": [[["field": "kind", "operator": "is_in", "values": ["audio"]]]],
        ]
      ])
  }

  @Test func switchedOff() async throws {
    let json = try await connect(.sendonly) {
      $0.videoEnabled = false
      $0.audioEnabled = false
      $0.multistreamEnabled = false
      $0.simulcastMulticodec = true
      $0.simulcastRid = .r1
      $0.spotlightNumber = 3
    }
    #expect(json["video"] == false && json["audio"] == false && json["multistream"] == false)
    #expect(json["simulcast"] == nil && json["simulcast_rid"] == nil)
    #expect(json["simulcast_multicodec"] == nil)
    #expect(json["spotlight"] == nil && json["spotlight_number"] == nil)
  }

  /// The argument of `connect` counts, unless it is as it was made.
  @Test func argumentForWebRTC() async throws {
    let server = try await ScriptedSora()
    var configuration = server.configuration(.recvonly)
    configuration.webRTCConfiguration.degradationPreference = .balanced
    var other = WebRTCConfiguration()
    other.degradationPreference = .maintainResolution
    let sora = Sora()
    let kept = sora.connect(configuration: configuration) { _, _ in }
    let replaced = sora.connect(configuration: configuration, webRTCConfiguration: other) { _, _ in
    }
    let preferences = sora.mediaChannels.map(
      \.configuration.webRTCConfiguration.degradationPreference)
    #expect(preferences == [.balanced, .maintainResolution])
    kept.cancel()
    replaced.cancel()
  }
}
