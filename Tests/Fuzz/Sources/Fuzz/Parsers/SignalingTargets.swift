import SoraICE
import SoraSDP
import SoraSignaling

extension FuzzTarget {
  /// One message a paragraph.
  private static let messages = ##"""
    {"type":"connect","role":"sendrecv","channel_id":"c","client_id":"i","bundle_id":"b",
    "sdp":"v=0\r\n","sora_client":"s","libwebrtc":"w","environment":"e",
    "audio":{"codec_type":"OPUS","bit_rate":64,"opus_params":{"channels":2,"clock_rate":48000,
    "maxplaybackrate":48000,"minptime":10,"ptime":20,"stereo":true,"sprop_stereo":true,
    "useinbandfec":true,"usedtx":false}},"video":{"codec_type":"VP8","bit_rate":2500,
    "vp9_params":{"profile_id":0},"av1_params":{"profile":0},"h264_params":{
    "profile_level_id":"42e01f","b_frame":false},"h265_params":{"level_id":93}},
    "multistream":true,"simulcast":true,"simulcast_rid":"r0","simulcast_request_rid":"none",
    "spotlight":false,"spotlight_number":3,"spotlight_focus_rid":"r1","spotlight_unfocus_rid":"r0",
    "audio_streaming_language_code":"ja-JP","data_channel_signaling":true,
    "ignore_disconnect_websocket":false,"data_channels":[{"label":"#x","direction":"sendrecv",
    "ordered":true,"max_packet_life_time":100,"max_retransmits":3,"protocol":"p","compress":true,
    "header":[{"type":"sender_connection_id"}]}],"forwarding_filter":{"action":"block",
    "rules":[[{"field":"kind","operator":"is_in","values":["audio"]}]]},"forwarding_filters":[{
    "name":"n","priority":1,"rules":[],"version":"1","metadata":{}}],"redirect":true,
    "signaling_notify_metadata":null,"metadata":{"a":[1,2.5,-3e7,null,"\u00e9\ud83d\ude00"]}}

    {"type":"offer","sdp":"v=0\r\n","client_id":"i","connection_id":"C","bundle_id":"b",
    "channel_id":"c","session_id":"S","version":"2025","config":{"iceServers":[{
    "urls":["turn:127.0.0.1:3478?transport=udp"],"username":"u","credential":"p"}],
    "iceTransportPolicy":"relay"},"mid":{"audio":"0","video":"1"},"encodings":[{"rid":"r0",
    "active":true,"scaleResolutionDownBy":4,"maxBitrate":100000,"minBitrate":1,"maxFramerate":15,
    "scaleResolutionDownTo":{"maxWidth":320,"maxHeight":180},"scalabilityMode":"L1T1",
    "adaptivePtime":true,"networkPriority":"low","codec":{}}],"simulcast":true,
    "simulcast_multicodec":false,"spotlight":false,"multistream":true,"metadata":1,
    "data_channel_signaling":true,"ignore_disconnect_websocket":false,
    "data_channels":[{"label":"signaling","direction":"sendrecv","compress":true}],
    "rpc_methods":["m"],"audio":true,"audio_codec_type":"OPUS","audio_bit_rate":64,"video":true,
    "video_codec_type":"VP8","video_bit_rate":2500}

    {"type":"notify","event_type":"connection.created","timestamp":"T","role":"sendonly",
    "session_id":"S","client_id":"i","bundle_id":"b","connection_id":"C","audio":true,
    "video":false,"minutes":3,"channel_connections":2,"channel_sendrecv_connections":1,
    "channel_sendonly_connections":1,"channel_recvonly_connections":0,"turn_transport_type":"udp",
    "metadata":{"k":"v"},"authn_metadata":1,"authz_metadata":2,"data":[{"client_id":"j",
    "connection_id":"D","metadata":null}]}

    {"type":"notify","event_type":"simulcast.switched","sender_connection_id":"J",
    "priority":"higher","trigger":"sender","rpc_rids":["r0"],"auto_rids":[],"request_rid":"r2",
    "current_rid":"r0","previous_rid":"none","unstable_level":2,"spotlight_id":"x","fixed":true}

    {"type":"answer","sdp":"v=0"}

    {"type":"re-answer","sdp":"v=0"}

    {"type":"ping","stats":true}

    {"type":"pong","stats":[{"id":"1","type":"codec"}]}

    {"type":"update","sdp":"v=0"}

    {"type":"re-offer","sdp":"v=0"}

    {"type":"candidate","candidate":"candidate:1 1 udp 1 192.0.2.1 9 typ host","sdpMid":"0",
    "sdpMLineIndex":0,"usernameFragment":"u"}

    {"type":"disconnect","reason":"NO-ERROR"}

    {"type":"switched","ignore_disconnect_websocket":true}

    {"type":"redirect","location":"ws://127.0.0.1:5000/signaling"}

    {"type":"push","data":{"a":1}}

    {"type":"close","code":4490,"reason":"x"}

    {"type":"req-stats"}

    {"type":"stats","reports":[{}]}
    """##

  private static func paragraphs(_ text: String) -> [[UInt8]] {
    var result: [[UInt8]] = [[]]
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.isEmpty { result.append([]) } else { result[result.count - 1] += Array(line.utf8) }
    }
    return result
  }

  static var signaling: FuzzTarget {
    FuzzTarget("signaling", maximumLength: 4096, seeds: paragraphs(messages)) { input in
      guard let message = try? SignalingMessage(parsing: Array(input)) else { return }
      _ = message.typeName
      guard let again = try? SignalingMessage(parsing: message.bytes) else {
        return check(false, "our own \(message.typeName) message doesn't parse")
      }
      check(again == message, "a \(message.typeName) message reads back differently")
      let read = (try? JSONValue(parsing: Array(input)))?.objectValue ?? [:]
      let written = message.json.objectValue ?? [:]
      for (key, value) in read where !value.isNull {
        check(written[key] != nil, "a \(message.typeName) message loses \(key)")
      }
      do throws(SignalingError) {
        try message.check()
      } catch {
        check(error.field?.hasPrefix("\(message.typeName).") == true, "an error names no field")
      }
    }
  }

  static var json: FuzzTarget {
    let values = [
      #"{"a":[1,-2,3.25e-7,true,false,null],"b":{"c":"\"\\\/\b\f\n\r\t\u0041\ud83d\ude00"}}"#,
      "[[[[[[]]]]]]", " 9223372036854775807 ", "-9223372036854775808", "1e308", "\"\u{7F}\"",
    ]
    return FuzzTarget("json", maximumLength: 1024, seeds: values.map(Seeds.text)) { input in
      guard let value = try? JSONValue(parsing: Array(input)) else { return }
      guard let again = try? JSONValue(parsing: Array(value.text.utf8)) else {
        return check(false, "our own JSON doesn't parse")
      }
      check(again == value, "JSON reads back differently")
    }
  }

  static var httpHead: FuzzTarget {
    let heads = [
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
      "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\nbody",
    ]
    return FuzzTarget("http-head", maximumLength: 1024, seeds: heads.map(Seeds.text)) { input in
      _ = try? HTTPResponseHead.parse(Array(input))
    }
  }

  /// A byte that says whether there is a user name, and then what a proxy says, byte by byte.
  static var socks5: FuzzTarget {
    let answers: [[UInt8]] = [
      [0, 5, 0, 5, 0, 0, 1, 127, 0, 0, 1, 0, 80, 7, 8],
      [1, 5, 2, 1, 0, 5, 0, 0, 3, 2, 0x61, 0x62, 0, 80],
      [1, 5, 0, 5, 0, 0, 4] + Array(repeating: 0, count: 18), [0, 5, 0xFF], [1, 5, 2, 1, 1],
      [0, 5, 0, 5, 5],
    ]
    return FuzzTarget("socks5", maximumLength: 512, seeds: answers) { input in
      guard let first = input.first else { return }
      let bytes = Array(input.dropFirst())
      let name = first & 1 == 0 ? nil : "user"
      guard
        let start = try? SOCKS5Handshake(
          to: .init(host: .name("host"), port: 1), username: name, password: "word")
      else { return check(false, "a handshake can't begin") }
      var handshake = start
      var sent = 0
      do throws(SignalingError) {
        for (index, byte) in bytes.enumerated() {
          switch try handshake.receive([byte]) {
          case .wait: break
          case .send: sent += 1
          case .open(let rest):
            check(rest.isEmpty, "a byte is the reply's and the tunnel's")
            check(sent >= 1, "it is open before anything was asked")
            // Two bytes of the method, and a reply whose address is a name of no bytes.
            check(index + 1 >= 9, "a reply is too short")
            return
          }
        }
      } catch {
        check(error.stage == .proxy, "an error of another stage")
      }
    }
  }

  /// The path, and then the values of the fields that are read, a line each.
  static var httpRequest: FuzzTarget {
    let requests = [
      "/whip/caf%C3%A9/x/\nBearer abc.def\n\"a\", W/\"b\", \"c,d\"\napplication/sdp; charset=utf-8",
      "/whep/%zz\nBasic eDp5\n*\nTEXT/plain", "//\nbearer \n\"\n;",
    ]
    return FuzzTarget("http-request", maximumLength: 512, seeds: requests.map(Seeds.text)) {
      input in
      let lines = String(decoding: input, as: UTF8.self)
        .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      var request = HTTPRequest(method: "PATCH", path: lines[0])
      for (name, value) in zip(["Authorization", "If-Match", "Content-Type"], lines.dropFirst()) {
        request.headers[name] = value
      }
      if let segments = request.pathSegments {
        check(segments.count <= lines[0].utf8.count, "a path has more parts than bytes")
        check(
          lines[0].utf8.contains(UInt8(ascii: "%"))
            || segments.allSatisfy { lines[0].contains($0) }, "a part isn't of the path")
      }
      if case .bearer(let token) = request.authorization {
        check(!token.isEmpty, "a token is empty")
      }
      if case .tags(let tags)? = request.ifMatch {
        check(tags.allSatisfy { request.ifMatch?.matches($0) == true }, "a tag isn't its own")
      }
      check(request.mediaType?.contains(";") != true, "a media type has parameters")
    }
  }

  static var sdpFragment: FuzzTarget {
    let fragments = [
      "a=ice-ufrag:EsAw\r\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r\nm=audio 9 RTP/AVP 0\r\na=mid:0\r\n"
        + "a=candidate:1 1 UDP 2130706431 192.0.2.1 5000 typ host\r\na=end-of-candidates\r\n",
      "m=video 0 UDP/TLS/RTP/SAVPF 96\na=ice-ufrag:u\na=mid:1", "v=0\n", "a=candidate:\n",
    ]
    return FuzzTarget("sdp-fragment", maximumLength: 1024, seeds: fragments.map(Seeds.text)) {
      input in
      guard let text = String(validating: Array(input), as: UTF8.self),
        let fragment = try? SDPFragment(parsing: text)
      else { return }
      _ = (fragment.ufrag, fragment.password, fragment.endsCandidates)
      for line in fragment.allCandidates { _ = try? ICECandidate(parsing: line) }
      guard let again = try? SDPFragment(parsing: fragment.text) else {
        return check(false, "our own fragment doesn't parse")
      }
      check(again == fragment, "a fragment reads back differently")
    }
  }
}
