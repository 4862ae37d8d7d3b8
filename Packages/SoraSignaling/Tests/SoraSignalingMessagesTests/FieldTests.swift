import SoraSignalingMessages
import Testing

/// What follows from the declaration of a field: reading, refusing, writing and checking.
@Suite struct FieldTests {
  /// One of each type with all of its keys.
  private static let full = [
    #"""
    {"type":"connect","role":"sendrecv","channel_id":"c","client_id":"i","bundle_id":"b",
    "metadata":{"a":1},"signaling_notify_metadata":null,"sdp":"v=0","sora_client":"s",
    "libwebrtc":"w","environment":"e","audio":{"codec_type":"OPUS","bit_rate":64,
    "opus_params":{"channels":2,"clock_rate":48000,"maxplaybackrate":48000,"minptime":10,
    "ptime":20,"stereo":true,"sprop_stereo":true,"useinbandfec":true,"usedtx":false}},
    "video":{"codec_type":"VP9","bit_rate":500,"vp9_params":{"profile_id":0},
    "av1_params":{"profile":0},"h264_params":{"profile_level_id":"42e01f","b_frame":false},
    "h265_params":{"level_id":93,"b_frame":false}},"multistream":true,"simulcast":true,
    "simulcast_rid":"r0","simulcast_request_rid":"none","simulcast_multicodec":false,
    "spotlight":true,"spotlight_number":3,"spotlight_focus_rid":"r1","spotlight_unfocus_rid":"r0",
    "audio_streaming_language_code":"ja-JP","data_channel_signaling":true,
    "ignore_disconnect_websocket":false,"data_channels":[{"label":"#x","direction":"sendrecv",
    "ordered":true,"max_packet_life_time":1,"max_retransmits":1,"protocol":"p","compress":false,
    "header":[{"type":"sender_connection_id","length":26}]}],"forwarding_filter":{"rules":[]},
    "forwarding_filters":[{"name":"n","priority":1,"action":"allow","rules":[[{"field":"kind",
    "operator":"is_in","values":["audio"]}]],"version":"1","metadata":{}}],"redirect":true}
    """#,
    #"{"type":"redirect","location":"wss://b.example/signaling"}"#,
    #"""
    {"type":"offer","sdp":"v=0","connection_id":"C","client_id":"i","bundle_id":"b",
    "channel_id":"c","session_id":"S","version":"2025.1.0","config":{"iceServers":[{"urls":["turn:x"],
    "username":"u","credential":"p"}],"iceTransportPolicy":"relay"},"mid":{"audio":"a","video":"v"},
    "encodings":[{"rid":"r0","active":true,"maxBitrate":1,"minBitrate":1,"maxFramerate":29.97,
    "scaleResolutionDownBy":4.0,"scaleResolutionDownTo":{"maxWidth":320,"maxHeight":180},
    "scalabilityMode":"L1T1","adaptivePtime":false,"networkPriority":"low","codec":{}}],
    "simulcast":true,"simulcast_multicodec":false,"spotlight":false,"multistream":true,
    "metadata":[],"data_channel_signaling":true,"ignore_disconnect_websocket":false,
    "data_channels":[{"label":"signaling","compress":true}],"rpc_methods":["m"],"audio":true,
    "audio_codec_type":"OPUS","audio_bit_rate":64,"video":true,"video_codec_type":"VP8",
    "video_bit_rate":500}
    """#,
    #"{"type":"answer","sdp":"v=0"}"#,
    #"{"type":"candidate","candidate":"candidate:1","sdpMid":"0","sdpMLineIndex":0,"usernameFragment":"u"}"#,
    #"{"type":"re-offer","sdp":"v=0","config":{"iceServers":[]}}"#,
    #"{"type":"re-answer","sdp":"v=0"}"#,
    #"{"type":"update","sdp":"v=0"}"#,
    #"{"type":"ping","stats":true}"#,
    #"{"type":"pong","stats":[{"id":"a","type":"codec","timestamp":1.5}]}"#,
    #"""
    {"type":"notify","event_type":"connection.created","timestamp":"T","role":"sendrecv",
    "session_id":"S","client_id":"i","bundle_id":"b","connection_id":"C","audio":true,"video":false,
    "minutes":7,"channel_connections":4,"channel_sendrecv_connections":2,
    "channel_sendonly_connections":1,"channel_recvonly_connections":1,"turn_transport_type":"udp",
    "metadata":1,"authn_metadata":2,"authz_metadata":3,"data":[{"client_id":"j","bundle_id":"d",
    "connection_id":"D","authn_metadata":1,"authz_metadata":2,"metadata":null}],
    "spotlight_number":1,"spotlight_id":"x","fixed":true,"unstable_level":2,"kind":"audio",
    "destination_connection_id":"D","source_connection_id":"E","recv_connection_id":"F",
    "send_connection_id":"G","stream_id":"H","failed_connection_id":"I","current_state":"new",
    "previous_state":"old","sender_connection_id":"J","priority":"higher","trigger":"sender",
    "rpc_rids":["r0"],"auto_rids":["r1"],"request_rid":"r2","current_rid":"r0",
    "previous_rid":"none"}
    """#,
    #"{"type":"push","data":{"a":[1]}}"#,
    #"{"type":"switched","ignore_disconnect_websocket":true}"#,
    #"{"type":"disconnect","reason":"NO-ERROR"}"#,
    #"{"type":"close","code":1000,"reason":"LIFETIME-EXPIRED"}"#,
    #"{"type":"req-stats"}"#,
    #"{"type":"stats","reports":[{"id":"a"}]}"#,
  ]

  /// Where anything may stand.
  private static let free: Set<String> = [
    "metadata", "signaling_notify_metadata", "authn_metadata", "authz_metadata", "codec",
  ]

  private static let required: Set<String> = [
    "connect.role", "connect.channel_id", "connect.data_channels[0].label",
    "connect.data_channels[0].header[0].type", "connect.forwarding_filter.rules",
    "connect.forwarding_filters[0].rules", "connect.forwarding_filters[0].rules[0][0].field",
    "connect.forwarding_filters[0].rules[0][0].operator",
    "connect.forwarding_filters[0].rules[0][0].values", "redirect.location", "offer.sdp",
    "offer.connection_id", "offer.config.iceServers[0].urls",
    "offer.encodings[0].scaleResolutionDownTo.maxWidth",
    "offer.encodings[0].scaleResolutionDownTo.maxHeight", "offer.data_channels[0].label",
    "answer.sdp", "candidate.candidate", "re-offer.sdp", "re-answer.sdp", "update.sdp",
    "notify.event_type", "close.code", "close.reason",
  ]

  /// The paths of all keys of an object, and of objects and arrays inside that aren't free.
  private func paths(_ json: JSONValue, _ path: String) -> [String] {
    switch json {
    case .object(let members):
      return members.flatMap { key, value -> [String] in
        let own = "\(path).\(key)"
        return [own] + (Self.free.contains(key) ? [] : paths(value, own))
      }
    case .array(let elements):
      return elements.enumerated().flatMap { paths($1, "\(path)[\($0)]") }
    default: return []
    }
  }

  /// A copy in which the value at a path is another one, or absent.
  private func replace(
    _ json: JSONValue, _ path: String, at target: String, with value: JSONValue?
  ) -> JSONValue? {
    if path == target { return value }
    switch json {
    case .object(let members):
      var copy: [String: JSONValue] = [:]
      for (key, member) in members {
        copy[key] = replace(member, "\(path).\(key)", at: target, with: value)
      }
      return .object(copy)
    case .array(let elements):
      return .array(
        elements.enumerated().compactMap {
          replace($1, "\(path)[\($0)]", at: target, with: value)
        })
    default: return json
    }
  }

  /// The paths of what the message's type declares; `type` isn't among them.
  private func declared(_ text: String) throws -> (name: String, json: JSONValue, [String]) {
    let message = try SignalingMessage(parsing: text)
    let name = message.typeName
    var all = paths(message.json, name).filter { $0 != "\(name).type" }
    if name == "push" { all = [] }
    if name == "pong" || name == "stats" { all.removeAll { $0.contains("[") } }
    return (name, message.json, all)
  }

  @Test(arguments: full) func everyKeyIsKnownAndComesBack(_ text: String) throws {
    let json = try JSONValue(parsing: text)
    let message = try SignalingMessage(parsing: text)
    #expect(message.json == json)
    #expect(try SignalingMessage(parsing: message.text) == message)
    #expect(throws: Never.self) { try message.check() }
    switch message {
    case .connect(let message): #expect(message.additional.isEmpty)
    case .offer(let message): #expect(message.additional.isEmpty)
    case .notify(let message): #expect(message.additional.isEmpty)
    case .unknown: Issue.record("\(message.typeName) is unknown")
    default: break
    }
  }

  @Test(arguments: full) func everyKeyOfTheWrongKindIsRefusedByItsPath(_ text: String) throws {
    let (name, json, all) = try declared(text)
    for path in all where !Self.free.contains(String(path.split(separator: ".").last ?? "")) {
      // Statistics are any array; all other arrays are of strings, objects or arrays of objects.
      let wrong: JSONValue = path == "pong.stats" || path == "stats.reports" ? 1 : [[[nil]]]
      let changed = try #require(replace(json, name, at: path, with: wrong))
      #expect("\(path) took \(wrong)") {
        try SignalingMessage(json: changed)
      } throws: {
        guard let error = $0 as? SignalingError else { return false }
        return error.code == .invalidField && error.field?.hasPrefix(path) == true
          && error.value != nil && error.wayOut.contains(path)
      }
    }
  }

  @Test(arguments: full) func onlyRequiredKeysAreMissed(_ text: String) throws {
    let (name, json, all) = try declared(text)
    for path in all {
      let absent = try #require(replace(json, name, at: path, with: nil))
      if Self.required.contains(path) {
        #expect("\(path) isn't missed") {
          try SignalingMessage(json: absent)
        } throws: {
          ($0 as? SignalingError)?.code == .missingField && ($0 as? SignalingError)?.field == path
        }
      } else {
        #expect(throws: Never.self, "\(path)") { try SignalingMessage(json: absent) }
        guard !Self.free.contains(String(path.split(separator: ".").last ?? "")) else { continue }
        // null means the same, and isn't written.
        let null = try #require(replace(json, name, at: path, with: .null))
        #expect(try SignalingMessage(json: null) == SignalingMessage(json: absent), "\(path)")
      }
    }
  }

  @Test(arguments: full) func unknownKeysAreKeptWhereverTheyStand(_ text: String) throws {
    var json = try JSONValue(parsing: text)
    var added: Set<String> = []
    for (number, path) in try declared(text).2.enumerated() {
      guard let end = path.lastIndex(of: ".") else { continue }
      let object = String(path[..<end])
      let before = json
      json = add("unknown_\(number)", to: object, of: json, try declared(text).name)
      if json != before { added.insert("\(object).unknown_\(number)") }
    }
    let message = try SignalingMessage(json: json)
    #expect(message.json == json)
    // Each is named, wherever it stands.
    #expect(Set(message.unknownKeys) == added && message.unknownKeys.count == added.count)
    #expect(try SignalingMessage(parsing: Array(text.utf8)).unknownKeys == [])
  }

  private func add(
    _ key: String, to target: String, of json: JSONValue, _ path: String
  ) -> JSONValue {
    switch json {
    case .object(var members):
      for (name, member) in members {
        members[name] = add(key, to: target, of: member, "\(path).\(name)")
      }
      // Kinds of media have no keys but their own.
      if path == target, !path.hasSuffix(".mid") { members[key] = [nil] }
      return .object(members)
    case .array(let elements):
      return .array(
        elements.enumerated().map { add(key, to: target, of: $1, "\(path)[\($0)]") })
    default: return json
    }
  }

  @Test(arguments: [
    ("channel_id", #""""#), ("client_id", "\"\(String(repeating: "é", count: 128))\""),
    ("bundle_id", #""""#), ("spotlight_number", "9"), ("spotlight_number", "0"),
    ("audio.bit_rate", "5"), ("audio.opus_params.channels", "3"),
    ("audio.opus_params.clock_rate", "16000"), ("audio.opus_params.ptime", "121"),
    ("audio.opus_params.minptime", "2"), ("audio.opus_params.maxplaybackrate", "7999"),
    ("video.bit_rate", "0"), ("video.vp9_params.profile_id", "4"),
    ("video.av1_params.profile", "-1"), ("video.h265_params.level_id", "256"),
    ("video.h264_params.profile_level_id", #""42e01""#),
    ("video.h264_params.profile_level_id", #""42e01g""#),
    ("video.h264_params.profile_level_id", #""1\r\na=x""#),
    ("data_channels[0].max_retransmits", "65536"),
    ("data_channels[0].max_packet_life_time", "-1"),
  ]) func aRuleIsCheckedAndNotRead(_ key: String, _ value: String) throws {
    let json = try JSONValue(parsing: Self.full[0])
    let path = "connect.\(key)"
    let changed = replace(json, "connect", at: path, with: try JSONValue(parsing: value))
    let message = try SignalingMessage(json: try #require(changed))
    #expect { try message.check() } throws: {
      guard let error = $0 as? SignalingError else { return false }
      return error.code == .invalidField && error.field == path
        && error.description.contains(error.wayOut)
    }
  }

  @Test func objectsOfOptionalKeysNeedNone() throws {
    #expect(try AudioOptions.read([:], path: "") == AudioOptions())
    #expect(try VideoOptions.read([:], path: "") == VideoOptions())
    #expect(try OpusParams.read([:], path: "") == OpusParams())
    #expect(try VP9Params.read([:], path: "") == VP9Params())
    #expect(try AV1Params.read([:], path: "") == AV1Params())
    #expect(try H264Params.read([:], path: "") == H264Params())
    #expect(try H265Params.read([:], path: "") == H265Params())
    #expect(try SignalingEncoding.read([:], path: "") == SignalingEncoding())
    #expect(try NotifyPeer.read([:], path: "") == NotifyPeer())
    #expect(try PingMessage.read([:], path: "") == PingMessage())
    #expect(try PongMessage.read([:], path: "") == PongMessage())
    #expect(try DisconnectMessage.read([:], path: "") == DisconnectMessage())
    #expect(try ReqStatsMessage.read([:], path: "") == ReqStatsMessage())
  }

  @Test func whatIsSetIsWhatIsReadAndWritten() throws {
    var connect = ConnectMessage(role: .recvonly, channelID: "c")
    connect.spotlightNumber = 3
    connect.additional = ["spotlight_number": 4, "role": "boss", "x": 1]
    #expect(connect.spotlightNumber == 3 && connect.role == .recvonly)
    #expect(connect.additional == ["x": 1])
    connect.audio = .options(AudioOptions { $0.bitRate = 64 })
    connect.spotlightNumber = nil
    connect.additional = [:]
    #expect(connect.json == ["role": "recvonly", "channel_id": "c", "audio": ["bit_rate": 64]])
    // A number is one value however it is written.
    let other = try ConnectMessage.read(
      ["role": "recvonly", "channel_id": "c", "audio": ["bit_rate": 64.0]], path: "connect")
    #expect(other == connect && other.hashValue == connect.hashValue)
  }
}
