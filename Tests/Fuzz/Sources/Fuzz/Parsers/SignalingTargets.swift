import SoraSignaling

extension FuzzTarget {
  /// One message a paragraph.
  private static let messages = ##"""
    {"type":"connect","role":"sendrecv","channel_id":"c","sdp":"v=0\r\n",
    "audio":{"codec_type":"OPUS","bit_rate":64},"video":{"codec_type":"VP8","bit_rate":2500,
    "vp9_params":{"profile_id":0}},"simulcast":true,"simulcast_rid":"r0","spotlight":false,
    "spotlight_number":3,"data_channel_signaling":true,"data_channels":[{"label":"#x",
    "direction":"sendrecv","ordered":true,"max_retransmits":3,
    "header":[{"type":"sender_connection_id"}]}],"forwarding_filter":{"action":"block",
    "rules":[[{"field":"kind","operator":"is_in","values":["audio"]}]]},"metadata":{"a":[1,
    2.5,-3e7,null,"\u00e9\ud83d\ude00"]}}

    {"type":"offer","sdp":"v=0\r\n","client_id":"i","connection_id":"C","bundle_id":"b",
    "version":"2025","config":{"iceServers":[{"urls":["turn:127.0.0.1:3478?transport=udp"],
    "username":"u","credential":"p"}],"iceTransportPolicy":"relay"},"mid":{"audio":"0",
    "video":"1"},"encodings":[{"rid":"r0","active":true,"scaleResolutionDownBy":4,
    "maxBitrate":100000,"maxFramerate":15}],"simulcast":true,
    "data_channels":[{"label":"signaling","direction":"sendrecv","compress":true}],
    "audio":true,"video_codec_type":"VP8","video_bit_rate":2500}

    {"type":"notify","event_type":"connection.created","role":"sendonly","client_id":"i",
    "connection_id":"C","audio":true,"video":false,"minutes":3,"channel_connections":2,
    "channel_sendrecv_connections":1,"metadata":{"k":"v"},"data":[{"client_id":"j",
    "connection_id":"D","metadata":null}]}

    {"type":"ping","stats":true}

    {"type":"pong","stats":[{"id":"1","type":"codec"}]}

    {"type":"update","sdp":"v=0"}

    {"type":"re-offer","sdp":"v=0"}

    {"type":"candidate","candidate":"candidate:1 1 udp 1 192.0.2.1 9 typ host"}

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
}
